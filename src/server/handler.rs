//! One client's session: its requests, as rmcp delivers them, become calls of the pipeline, and the
//! answers become the protocol's results.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::call::client::{ClientPrompts, NonInteractive};
use daysheet_core::call::progress::SessionCalls;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Format;
use daysheet_core::error::{self, Error, ErrorKind, Result};
use daysheet_core::text::{TextKind, shown};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::Instrument;
use tracing::field::Empty;

use super::approval::{ApprovalPage, PublicApprovalPage, StoredApproval};
#[cfg(feature = "http")]
use super::client_session::SharedState;
use super::clients::FORMAT;
use super::guard::RequestGuard;
use super::instructions::instructions;
use super::listing::tool;
use super::prompts::{completion_values, prompt, prompt_result, refusal};
use super::resources::{SCHEMA_TYPE, needed_tool, resources, schema, templates};
use super::watch::{RequestWatch, WatchedCall};
use super::{apps, elicitation, framing, result};
use crate::config::ApprovalWay;
use crate::outputs;
use crate::pipeline::{ATTACHMENT_URI, Pipeline, ToolAnswer, unoffered};
use crate::prompts;
#[cfg(feature = "http")]
use crate::store::Store;
use crate::tools::{self, FormatWord};

/// The time to wait for unfinished writes after the client has disconnected: longer than one write
/// may take.
pub const WRITES_END: Duration = Duration::from_mins(1);

/// One client's session.
#[derive(Clone)]
pub struct Server {
    pipeline: Arc<Pipeline>,
    format: Format,
    questions: elicitation::OpenQuestions,
    /// The page on which the user approves writes outside the chat.
    page: Option<Arc<dyn ApprovalPage>>,
    guard: RequestGuard,
    /// The state shared by all instances over HTTP.
    #[cfg(feature = "http")]
    pub(super) shared: Option<SharedState>,
}

impl Server {
    /// Creates a server over `pipeline`; `format` applies to calls that name none.
    pub fn new(pipeline: Arc<Pipeline>, format: Format) -> Self {
        let pages = pipeline.config().pages.clone();
        Self {
            pipeline,
            format,
            questions: elicitation::OpenQuestions::default(),
            page: pages.map(|url| Arc::new(PublicApprovalPage(url)) as Arc<dyn ApprovalPage>),
            guard: RequestGuard::default(),
            #[cfg(feature = "http")]
            shared: None,
        }
    }

    /// Lets `watch` limit and count the calls, which replaces the limit per session.
    #[must_use]
    pub fn watched_by(self, watch: Arc<dyn RequestWatch>) -> Self {
        Self { guard: self.guard.watched_by(watch), ..self }
    }

    /// Lets the user approve writes on this page if the client cannot show a question.
    #[must_use]
    pub fn approved_on(self, page: Arc<dyn ApprovalPage>) -> Self {
        Self { page: Some(page), ..self }
    }

    /// Lets other processes over the same database pass on answers to this one's questions, for
    /// HTTP. `store` has the caller's rows.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn shared(mut self, store: Store) -> Self {
        self.questions = elicitation::OpenQuestions::Stored(store.clone());
        self.shared = Some(SharedState::new(store));
        self
    }

    /// Returns the running calls, so that they can be awaited when the server ends.
    pub fn calls(&self) -> SessionCalls {
        self.guard.calls.clone()
    }

    /// Returns the tools offered at this access level.
    fn offered(&self) -> impl Iterator<Item = &'static tools::Tool> {
        let config = self.pipeline.config();
        tools::TOOLS.iter().filter(|tool| tool.is_offered(config.access, &config.tools))
    }

    /// Speaks MCP over `input` and `output` until the input ends.
    pub async fn serve<R, W>(self, input: R, output: W) -> Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let guarded = framing::guard(input, output);
        let calls = self.calls();
        let running = match ServiceExt::serve(self, (guarded.input, guarded.output)).await {
            Ok(running) => running,
            // The client disconnected before its first request.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(Error::new(
                    ErrorKind::Network,
                    format!("the MCP session could not start: {error}"),
                ));
            }
        };
        let ended = running.waiting().await;
        // Writes that have begun are completed.
        if !calls.finish(WRITES_END).await {
            tracing::warn!("the server stops while a write is still running");
        }
        // The last answers may not have been written yet.
        let _ = guarded.written.await;
        ended.map(drop).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("the MCP session broke: {error}"))
        })
    }

    /// Speaks MCP over stdin and stdout until stdin ends.
    pub async fn serve_stdio(self) -> Result<()> {
        let (input, output) = rmcp::transport::stdio_pipes();
        self.serve(input, output).await
    }

    async fn call(
        &self,
        params: CallToolRequestParams,
        format: Format,
        caller: &dyn ClientPrompts,
    ) -> Result<ToolAnswer> {
        let Some(tool) = self.offered().find(|tool| tool.name == params.name) else {
            return Err(self.unknown(&params.name));
        };
        let running = WatchedCall::new(self.guard.watch.clone(), tool.name);
        let span = tracing::info_span!(
            target: "telemetry", "tool",
            otel.name = tool.name, otel.status_code = Empty, outcome = Empty
        );
        let answer = match tools::read(tool, params.arguments, format) {
            Ok(request) => self.pipeline.run_for(request, caller).instrument(span.clone()).await,
            Err(error) => Err(error),
        };
        span.record("outcome", error::outcome(&answer));
        if answer.is_err() {
            span.record("otel.status_code", "ERROR");
        }
        running.ended(&answer).await;
        answer
    }

    /// Returns the format declared by the client of a request, or the server's.
    fn format_of(&self, context: &RequestContext<RoleServer>) -> Format {
        let declared = context.client_capabilities().and_then(|capabilities| {
            let of = |all: Option<BTreeMap<String, JsonObject>>| all?.remove(FORMAT);
            of(capabilities.extensions).or_else(|| of(capabilities.experimental))
        });
        let word = declared.as_ref().and_then(|declared| declared.get("format")?.as_str());
        word.and_then(FormatWord::from_word).map_or(self.format, |word| word.or(self.format))
    }

    /// Returns the error for an unknown tool.
    fn unknown(&self, name: &str) -> Error {
        if let Some(tool) = tools::find(name) {
            return unoffered(tool, self.pipeline.config());
        }
        let known: Vec<_> = self.offered().map(|tool| tool.name).collect();
        let (name, _) = daysheet_core::text::clip(daysheet_core::text::cell(name), 60);
        Error::argument(format!("there is no tool `{name}`"))
            .next(format!("use one of: {}", known.join(", ")))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_completions()
                .enable_resources()
                .build(),
        )
        .with_server_info(
            Implementation::new("daysheet", env!("CARGO_PKG_VERSION")).with_title("Daysheet"),
        )
        .with_instructions(instructions(self.pipeline.config().access))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let client = context.client_info().map(|client| client.name);
        let tools = self.offered().map(|one| tool(one, client.as_deref()));
        let tools = if apps::draws_views(&context) {
            apps::with_views(tools, self.has_cards(&context))
        } else {
            tools.collect()
        };
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offered().find(|tool| tool.name == name).map(|one| tool(one, None))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let has_cards = self.has_cards(&context);
        if let Some(tool) = apps::ViewTool::from_word(&params.name).filter(|_| has_cards) {
            return self.call_by_view(tool, params, &context).await;
        }
        let server = self.clone();
        let (config, store) = (self.pipeline.config(), self.pipeline.store());
        let stored = StoredApproval::new(config, store, self.page.clone(), has_cards);
        let client = elicitation::ElicitingClient::new(&params, &context, &self.questions, stored)?;
        let client = Arc::new(client);
        let (caller, format) = (client.clone(), self.format_of(&context));
        let asked = context.meta.get(result::STATS).is_some_and(|wanted| wanted == true);
        let with_stats = asked || self.pipeline.config().stats;
        let call = async move {
            // Only after the call is admitted, so that a refused call can be repeated with the same
            // answer.
            caller.take_answer().await;
            server.call(params, format, &*caller).await
        };
        let called = match (self.guard.run(&context, call).await?, client.question().await) {
            // Nothing was done: the client repeats the call with the answer.
            (Err(_), Ok(Some(question))) => return Ok(question.into()),
            (Err(_), Err(error)) => Err(error),
            (called, _) => called,
        };
        let result = match called {
            Ok(answer) => result::result(answer, with_stats),
            Err(error) => refused(&error),
        };
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListPromptsResult, ErrorData> {
        let prompts = prompts::PROMPTS.iter().map(prompt).collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<GetPromptResponse, ErrorData> {
        let found = prompts::find(&params.name).map_err(refusal)?;
        let call = found.call(&params.arguments.unwrap_or_default()).map_err(refusal)?;
        let call = CallToolRequestParams::new(found.tool).with_arguments(call);
        let (server, format) = (self.clone(), self.format_of(&context));
        let call = async move { server.call(call, format, &NonInteractive).await };
        let answer = self.guard.run(&context, call).await?;
        let blocks = answer.map_err(refusal)?.blocks;
        Ok(prompt_result(found, blocks).into())
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CompleteResult, ErrorData> {
        let argument = params.argument;
        let values = completion_values(&params.r#ref, &argument.name)?;
        let typed = argument.value;
        let account = params.context.and_then(|all| all.get_argument("account").cloned());
        let pipeline = self.pipeline.clone();
        let found = async move {
            let account = account.as_deref().filter(|name| !name.is_empty());
            pipeline.complete(values, &typed, account).await
        };
        let (found, count) = self.guard.run(&context, found).await?.map_err(refusal)?;
        let more = found.len() < count;
        // Folder and account names come from services and senders.
        let clean = |value: String| shown(&value, TextKind::Cell).into_owned();
        let found = found.into_iter().map(clean).collect();
        CompletionInfo::with_pagination(found, u32::try_from(count).ok(), more)
            .map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(templates()))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri;
        if let Some(name) = needed_tool(&uri)
            && !self.offered().any(|tool| tool.name == name)
        {
            return Err(ErrorData::resource_not_found(
                format!("{name} is switched off here, and so are its resources"),
                None,
            ));
        }
        if uri == apps::VIEW && apps::draws_views(&context) {
            return Ok(ReadResourceResult::new(vec![apps::view(self.has_cards(&context))]).into());
        }
        if uri.starts_with(ATTACHMENT_URI) {
            return self.attachment(uri, &context).await;
        }
        let (text, kind) = if uri.starts_with(outputs::URI) {
            (self.output(&uri, &context).await?, result::TEXT_TYPE)
        } else {
            (schema(&uri)?, SCHEMA_TYPE)
        };
        let contents = ResourceContents::text(text, uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

impl Server {
    /// Returns true if the client of a request draws cards, and the settings allow them.
    fn has_cards(&self, context: &RequestContext<RoleServer>) -> bool {
        self.pipeline.config().approve == ApprovalWay::Card && apps::draws_views(context)
    }

    /// Carries out a call of the view, whose result hosts keep from the model.
    async fn call_by_view(
        &self,
        tool: apps::ViewTool,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let store = self.pipeline.store().clone();
        let arguments = params.arguments.unwrap_or_default();
        let call = async move { apps::call(&store, tool, &arguments).await };
        let result = match self.guard.run(context, call).await? {
            Ok(answer) => CallToolResult::success(vec![ContentBlock::text(answer.to_string())]),
            Err(error) => refused(&error),
        };
        Ok(result.into())
    }

    /// Returns an attachment of a message.
    async fn attachment(
        &self,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> std::result::Result<ReadResourceResponse, ErrorData> {
        let (pipeline, address) = (self.pipeline.clone(), uri.clone());
        let bytes = async move { pipeline.attachment_bytes(&address).await };
        let found = self.guard.run(context, bytes);
        let (bytes, kind) = found.await?.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::Argument => {
                ErrorData::resource_not_found(result::diagnostics(&error), None)
            }
            _ => ErrorData::internal_error(result::diagnostics(&error), None),
        })?;
        let contents = ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(kind);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    /// Returns the complete text of an output.
    async fn output(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> std::result::Result<String, ErrorData> {
        let (pipeline, id) = (self.pipeline.clone(), uri.to_owned());
        let text = async move { pipeline.output_text(&id).await };
        let text = self.guard.run(context, text).await?;
        let text = text.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::Conflict => {
                ErrorData::resource_not_found(result::diagnostics(&error), None)
            }
            _ => ErrorData::internal_error(result::diagnostics(&error), None),
        })?;
        // It was cleaned when it was stored, but perhaps by an earlier version.
        Ok(shown(&text, TextKind::Lines).into_owned())
    }
}

/// Returns the result of a call that was refused.
fn refused(error: &Error) -> CallToolResult {
    tracing::debug!(kind = ?error.kind(), "a call was refused");
    let text = result::diagnostics(error);
    CallToolResult::error(vec![ContentBlock::text(shown(&text, TextKind::Lines))])
}
