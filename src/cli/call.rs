//! `daysheet call`: one tool call, printed block by block.

pub(super) mod approve;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use daysheet_core::call::client::Confirmation;
use daysheet_core::error::{Error, Result};
use daysheet_core::text::{TextKind, shown};
use serde_json::{Map, Value};

use super::client::{ConfirmFn, InProcessClient};
use super::command::SandboxFlags;
use crate::app::App;
use crate::config::Config;
use crate::tools::{self, ArgKind};

/// The call of a tool, as on the command line.
pub(super) struct PrintedCall {
    /// The tool.
    pub(super) tool: String,
    /// The arguments: one JSON object, or key=value.
    pub(super) arguments: Vec<String>,
    /// The format of the answer, if it is named.
    pub(super) format: Option<String>,
    /// True to print the size of the answer on stderr.
    pub(super) stats: bool,
}

/// Calls the tool and prints its blocks, separated by blank lines.
pub(super) async fn run(
    config: Config,
    call: PrintedCall,
    sandboxed: &SandboxFlags,
) -> Result<ExitCode> {
    let mut arguments = parse(&call.tool, &call.arguments)?;
    if let Some(format) = call.format {
        arguments.insert("format".to_owned(), Value::from(format));
    }
    let (app, _sandbox) = App::open(config, sandboxed).await?;
    let outcome = call_and_print(&app, &call.tool, arguments, call.stats).await;
    app.close().await;
    outcome
}

async fn call_and_print(
    app: &App,
    tool: &str,
    arguments: Map<String, Value>,
    stats: bool,
) -> Result<ExitCode> {
    // The question is printed on stderr, and the answer read from stdin.
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let confirm = terminal.then(|| Arc::new(ask) as ConfirmFn);
    let mut client = InProcessClient::with(app.server(), confirm).await?;
    let (answer, size) = client.call_with_stats(tool, Value::Object(arguments)).await?;
    let text = answer.blocks.join("\n\n");
    if answer.is_error {
        eprintln!("daysheet: {}", shown(&text, TextKind::Lines));
        return Ok(ExitCode::FAILURE);
    }
    say!("{text}");
    // On stderr, because it is not part of the model's answer.
    if stats {
        eprintln!("{size}");
    }
    // A sign-in that the call started continues until it is over.
    if tools::find(tool).is_some_and(|tool| tool.effect != tools::ToolEffect::Read) {
        for note in app.pipeline.signed_in().await? {
            say!("{note}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks on the terminal. Any answer but yes means no.
fn ask(question: &str) -> Confirmation {
    eprint!("{}\n[y/N] ", shown(question, TextKind::Lines));
    let mut answer = String::new();
    if std::io::stdin().read_line(&mut answer).is_err() {
        return Confirmation::No;
    }
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Confirmation::Yes,
        _ => Confirmation::No,
    }
}

/// Parses arguments from one JSON object, or from key=value. The values of a list can be given one
/// by one.
fn parse(tool: &str, arguments: &[String]) -> Result<Map<String, Value>> {
    if let [only] = arguments
        && only.trim_start().starts_with('{')
    {
        return serde_json::from_str(only).map_err(|error| {
            Error::argument(format!("the arguments are not a JSON object: {error}"))
                .next("write key=value instead, or fix the JSON")
        });
    }
    let is_list = |key: &str| {
        let arg = tools::find(tool).and_then(|tool| tool.args.iter().find(|arg| arg.name == key));
        arg.is_some_and(|arg| {
            matches!(arg.kind, ArgKind::List | ArgKind::Columns(_) | ArgKind::Settings)
        })
    };
    let mut found = Map::new();
    for argument in arguments {
        let Some((key, value)) = argument.split_once('=') else {
            return Err(Error::argument(format!("`{argument}` is not key=value"))
                .next("write arguments such as q=invoice limit=5"));
        };
        let key = key.trim();
        match found.get_mut(key) {
            None => {
                found.insert(key.to_owned(), Value::from(value));
            }
            Some(Value::Array(items)) => items.push(value.into()),
            Some(first) if is_list(key) => {
                *first = Value::Array(vec![first.take(), value.into()]);
            }
            Some(_) => {
                return Err(Error::argument(format!("`{key}` is given twice")).next("give it once"));
            }
        }
    }
    Ok(found)
}
