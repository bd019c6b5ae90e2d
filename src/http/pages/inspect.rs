//! One call's answer in every format, next to the provider's own JSON, with the tokens of each.

use axum::response::Response;
use daysheet_core::error::Result;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::layout::{PageProblem, bar, page, sentence};
use super::session::{BrowserSession, FormPost, PageVisitor};
use crate::app::App;
use crate::pipeline::InspectedAnswer;
use crate::tools::{self, TOOLS, Tool, ToolEffect};

/// The call that the form suggests.
const SUGGESTED: (&str, &str) = ("mail_search", "{\"q\": \"is:unread\", \"limit\": 10}");

/// Returns the read-only tools that are offered to the person.
fn offered(app: &App) -> impl Iterator<Item = &'static Tool> {
    let config = app.config.clone();
    TOOLS.iter().filter(move |tool| {
        tool.effect == ToolEffect::Read && tool.is_offered(config.access, &config.tools)
    })
}

/// `GET /inspect`.
pub(super) async fn form(PageVisitor { session, app, .. }: PageVisitor) -> Response {
    let (tool, arguments) = SUGGESTED;
    inspection_page(&session, &app, &InspectedCall { tool, arguments }, html! {})
}

/// `POST /inspect`.
pub(super) async fn answer(post: FormPost) -> std::result::Result<Response, PageProblem> {
    let PageVisitor { session, app, .. } = &post.visitor;
    let name = post.field("tool").unwrap_or_default();
    let arguments = post.field("arguments").unwrap_or("{}");
    let tool = offered(app).find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| PageProblem::bad("choose one of the read-only tools"))?;
    let result = match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(arguments) => match inspect(app, tool, arguments).await {
            Ok(inspected) => forms(&inspected),
            Err(error) => html! { p #problem role="alert" { (sentence(&error.to_string())) } },
        },
        Err(error) => html! {
            p #problem role="alert" { "The arguments are not a JSON object: " (error) "." }
        },
    };
    Ok(inspection_page(session, app, &InspectedCall { tool: tool.name, arguments }, result))
}

async fn inspect(
    app: &App,
    tool: &'static Tool,
    arguments: Map<String, Value>,
) -> Result<InspectedAnswer> {
    let request = tools::read(tool, Some(arguments), app.config.format)?;
    app.pipeline.inspect(request).await
}

/// The call in the form.
struct InspectedCall<'a> {
    /// The tool's name.
    tool: &'a str,
    /// The arguments as entered, in JSON.
    arguments: &'a str,
}

/// Returns the page with the form for a call, and the result of the last one.
fn inspection_page(
    session: &BrowserSession,
    app: &App,
    call: &InspectedCall,
    result: Markup,
) -> Response {
    let body = html! {
        p { "Makes one call with your own accounts and shows its answer in each format, next to \
             the provider's JSON that its rows were made from." }
        form method="post" action="/inspect" {
            (session.field("/inspect"))
            label for="tool" { "Tool" }
            select #tool name="tool" {
                @for tool in offered(app) {
                    option value=(tool.name) selected[tool.name == call.tool] { (tool.name) }
                }
            }
            label for="arguments" { "Arguments" }
            textarea #arguments name="arguments" spellcheck="false"
                aria-describedby="arguments-hint" { (call.arguments) }
            p.hint #arguments-hint { "A JSON object, as an MCP client would send it." }
            div.row { button.main #call { "Call" } }
        }
        (result)
    };
    page("Inspect", Some(session), body)
}

fn forms(inspected: &InspectedAnswer) -> Markup {
    let InspectedAnswer { forms, tokenizer } = inspected;
    let most = forms.iter().map(|form| form.tokens).max().unwrap_or_default();
    html! {
        h2 #result { "The answer" }
        div.wide role="region" aria-labelledby="costs-caption" tabindex="0" {
            table #costs {
                caption #costs-caption { "Tokens in each format (" (tokenizer) ")" }
                thead { tr { @for head in ["Format", "Tokens", "Bytes", "Share of the longest"] {
                    th scope="col" { (head) }
                } } }
                tbody {
                    @for form in forms {
                        @let percent = (form.tokens * 100).checked_div(most).unwrap_or(100);
                        tr {
                            th scope="row" { (form.name) }
                            td { (form.tokens) }
                            td { (form.text.len()) }
                            td { (percent) " %" (bar(percent)) }
                        }
                    }
                }
            }
        }
        div.forms {
            @for form in forms {
                section aria-labelledby={ "form-" (form.id) } {
                    h3 id={ "form-" (form.id) } { (form.name) }
                    pre tabindex="0" aria-labelledby={ "form-" (form.id) } { (form.text) }
                }
            }
        }
    }
}
