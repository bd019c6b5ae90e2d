//! Office Open XML: documents and presentations.

pub mod docx;
mod numbers;
pub mod pptx;
mod scene;
mod styles;
mod theme;
