//! Tools that notes, errors and outcomes name as the next step, although they are not offered here.

use daysheet_core::budget::WholeAnswer;
use daysheet_core::error::Error;
use daysheet_core::row::RowCell;
use daysheet_core::schemas::OUTCOME;
use daysheet_core::text::Note;

use crate::config::Config;
use crate::pipeline::context::Context;
use crate::pipeline::write::confirm::above;
use crate::tools::{TOOLS, Tool};

/// Returns the error for a tool that is not offered here, with the way to change that.
pub fn unoffered(tool: &Tool, config: &Config) -> Error {
    if tool.access > config.access {
        above(tool.name, tool.access, config)
    } else {
        Error::argument(format!("{} is switched off here", tool.name))
            .next("ask the user to change --tools")
    }
}

/// Adds to an error the changes that make the tools it names available.
pub(crate) fn with_unoffered(ctx: &Context, error: Error) -> Error {
    let config = &ctx.config;
    let Some(next) = error.next_step() else {
        return error;
    };
    let texts = [next];
    let missing = named_unoffered(ctx, &texts);
    let parts = missing.map(|tool| unoffered(tool, config).to_string());
    let next: Vec<String> = std::iter::once(next.to_owned()).chain(parts).collect();
    error.next(next.join("; "))
}

/// Adds to a response a note on each tool that it names and that is not offered.
pub(crate) fn note_unoffered(ctx: &Context, response: &mut WholeAnswer) {
    // Outcomes are our own words. Other tables hold data, which may contain a tool's name by
    // chance.
    let tables = response.document.tables.iter().filter(|rows| *rows.table() == OUTCOME);
    let cells = tables.flat_map(|rows| rows.rows().flatten()).filter_map(|cell| match cell {
        RowCell::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let notes = response.notes.iter().map(|note| &**note);
    let texts: Vec<&str> = notes.chain(cells).collect();
    let missing = named_unoffered(ctx, &texts);
    let missing: Vec<Note> =
        missing.map(|tool| Note::from(&unoffered(tool, &ctx.config))).collect();
    response.notes.extend(missing);
}

/// Returns the tools that `texts` name and that are not offered here.
fn named_unoffered(ctx: &Context, texts: &[&str]) -> impl Iterator<Item = &'static Tool> {
    let config = &ctx.config;
    TOOLS.iter().filter(move |tool| {
        !tool.is_offered(config.access, &config.tools) && texts.iter().any(|text| names(text, tool))
    })
}

/// Returns true if a text names a tool. A name that is also an English word counts only before an
/// argument.
fn names(text: &str, tool: &Tool) -> bool {
    let mut words = text.split([' ', ',', ';', ':', '`', '(', ')']).peekable();
    while let Some(word) = words.next() {
        if word == tool.name
            && (tool.name.contains('_') || words.peek().is_some_and(|next| next.contains('=')))
        {
            return true;
        }
    }
    false
}
