//! The prompts and completions in MCP's form.

use daysheet_core::error::{Error, ErrorKind};
use rmcp::model::{
    ErrorData, GetPromptResult, Prompt, PromptArgument, PromptMessage, Reference, Role,
};

use super::result;
use crate::outputs;
use crate::pipeline::ATTACHMENT_URI;
use crate::prompts::{self, CompletionValues};

/// Returns the list's entry for a prompt.
pub(super) fn prompt(prompt: &prompts::Prompt) -> Prompt {
    let args = prompt
        .args
        .iter()
        .map(|arg| PromptArgument::new(arg.name).with_description(arg.doc).with_required(false));
    Prompt::new(prompt.name, Some(prompt.doc), Some(args.collect())).with_title(prompt.title)
}

/// Returns a prompt with the blocks of the answer to its call.
pub(super) fn prompt_result(found: &prompts::Prompt, blocks: Vec<String>) -> GetPromptResult {
    let text = std::iter::once(found.instructions.to_owned()).chain(blocks);
    let text: Vec<String> = text.collect();
    let message = PromptMessage::new_text(Role::User, text.join("\n\n"));
    GetPromptResult::new(vec![message]).with_description(found.doc)
}

/// Returns the kind of values that an argument of a prompt, or the variable of a resource template,
/// takes.
///
/// # Errors
/// Invalid parameters if it has no completions.
pub(super) fn completion_values(
    reference: &Reference,
    argument: &str,
) -> Result<CompletionValues, ErrorData> {
    let values = match reference {
        Reference::Prompt(prompt) => {
            let found = prompts::find(&prompt.name).map_err(refusal)?;
            found.args.iter().find(|arg| arg.name == argument).map(|arg| arg.values)
        }
        Reference::Resource(resource) if resource.uri.starts_with(outputs::URI) => {
            Some(CompletionValues::Outputs)
        }
        Reference::Resource(resource) if resource.uri.starts_with(ATTACHMENT_URI) => {
            Some(CompletionValues::Attachments)
        }
        _ => None,
    };
    values.ok_or_else(|| {
        let what = "there are no completions for this argument: see prompts/list and \
                        resources/templates/list";
        ErrorData::invalid_params(what, None)
    })
}

/// Returns the error for an invalid prompt request.
pub(super) fn refusal(error: Error) -> ErrorData {
    tracing::debug!(kind = ?error.kind(), "a prompt was refused");
    match error.kind() {
        ErrorKind::Argument
        | ErrorKind::NotFound
        | ErrorKind::NoAccount
        | ErrorKind::BudgetTooSmall => ErrorData::invalid_params(result::diagnostics(&error), None),
        _ => ErrorData::internal_error(result::diagnostics(&error), None),
    }
}
