//! The requested size of an answer, and the call that repeats it.
//!
//! Shared by all tools with these arguments. `budget` decides what fits.

use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::words;
use serde_json::{Map, Value};

use super::args::CallArguments;
use super::declaration::{Tool, ToolEffect};
use super::kinds::{BUDGET, DeclaredArguments, TEXT, arguments, common, common_choice};

arguments! {
    /// How much of an answer to return, and its format. The instructions of the server
    /// explain `budget`, `chunk` and `known` once.
    derive(Default, PartialEq, Eq)
    pub struct AnswerView {
        // The server's default if not given.
        budget: Option<u32> = BUDGET,
        /// Tokens reserved for your answer
        reserve: Option<u32> = common(0, 100_000, 0),
        // The requested chunk of an answer that does not fit.
        chunk: Option<u32> = common(1, 10_000, 1),
        // The hash of the answer that the reader has; `?` requests it.
        known: Option<String> = TEXT,
        format: Option<FormatWord> = common_choice(),
    }
}

words! {
    /// What an answer is written in.
    pub enum FormatWord {
        /// TOON.
        Toon = "toon",
        /// JSON.
        Json = "json",
        /// STC.
        Stc = "stc",
    }
}

impl AnswerView {
    /// Returns the format of the answer; `default` is the server's.
    pub(super) fn format_or(&self, default: Format) -> Format {
        self.format.map_or(default, |word| word.or(default))
    }
}

impl FormatWord {
    /// Returns the format. TOON has the delimiter of `default`, if that is TOON, too.
    pub fn or(self, default: Format) -> Format {
        match (self, default) {
            (Self::Toon, default @ Format::Toon(_)) => default,
            (Self::Toon, _) => Format::Toon(Delimiter::default()),
            (Self::Json, _) => Format::Json,
            (Self::Stc, _) => Format::Stc,
        }
    }
}

/// A call without the arguments about its answer, so that equal requests are equal calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallIdentity {
    /// The tool's name.
    pub tool: &'static str,
    /// Its arguments by their declared names.
    pub arguments: Map<String, Value>,
    /// The effect of this call, which may be smaller than its tool's.
    pub effect: ToolEffect,
}

impl CallIdentity {
    pub(super) fn new(tool: &'static Tool, args: &CallArguments, effect: ToolEffect) -> Self {
        let mut arguments = args.given().clone();
        arguments.retain(|name, _| AnswerView::ARGS.iter().all(|arg| arg.name != name));
        Self { tool: tool.name, arguments, effect }
    }
}
