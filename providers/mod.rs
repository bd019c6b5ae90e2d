//! The adapters: what is particular to one provider.

pub mod gmail_query;
pub mod sandbox;
