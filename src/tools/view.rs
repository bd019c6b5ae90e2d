//! How much of an answer is wanted, and what was asked, to ask it again.
//!
//! The same for every tool that takes them. What fits is decided in `budget`.

use serde_json::{Map, Value};

use super::args::Args;
use crate::error::Result;
use crate::tools::Tool;

/// The arguments that are about the answer and not about what is asked.
const ABOUT_THE_ANSWER: &[&str] = &["budget", "chunk", "known", "reserve", "format"];

/// How much of an answer is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The most tokens of the answer; the server's default if none.
    pub budget: Option<u32>,
    /// Tokens of the budget that are left for what the reader writes.
    pub reserve: Option<u32>,
    /// Which chunk of an answer that does not fit; the first is 1.
    pub chunk: Option<u32>,
    /// The hash of the answer that the reader has; `?` to be told it.
    pub known: Option<String>,
}

impl View {
    pub(super) fn read(args: &Args) -> Result<Self> {
        Ok(Self {
            budget: args.number("budget")?,
            reserve: args.number("reserve")?,
            chunk: args.number("chunk")?,
            known: args.text("known")?,
        })
    }
}

/// What was asked, without what is about the answer: the same question has the
/// same call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: &'static str,
    /// Its arguments by their declared names.
    pub arguments: Map<String, Value>,
}

impl Call {
    pub(super) fn of(tool: &'static Tool, args: &Args) -> Self {
        let mut arguments = args.given().clone();
        arguments.retain(|name, _| !ABOUT_THE_ANSWER.contains(&name.as_str()));
        Self { tool: tool.name, arguments }
    }
}
