//! Office Open XML: documents and presentations.

pub mod docx;
pub mod pptx;
