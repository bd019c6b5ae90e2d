//! Office Open XML: documents and presentations.

mod chart;
pub mod docx;
mod drawing;
mod fields;
mod numbers;
mod parts;
pub mod pptx;
mod scene;
mod slide;
mod styles;
mod tables;
mod theme;
