//! The requests of the protocol, each handed to the toolbox or the catalogue.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kitbag_skills::shown;
use kitbag_tool::{
    CallContext, PageRequest, Principal, Progress, ProgressUpdate, PromptRequest, ToolCall, View,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult,
    Implementation, ListPromptsResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ReadResourceDirectoryRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::elicitation::{Client, States};
use crate::relay::{Listener, relay};
use crate::{Served, SkillCatalogue, cursor, failure, params, skills, wire};

/// The most tools on a page.
const TOOLS_PER_PAGE: usize = 250;

/// The most prompts on a page.
const PROMPTS_PER_PAGE: NonZeroUsize = NonZeroUsize::new(1000).expect("it is not zero");

/// The most resources on a page.
const RESOURCES_PER_PAGE: NonZeroUsize = NonZeroUsize::new(1000).expect("it is not zero");

/// The most skills on a page of the Skills extension; each comes with up to 512 digests.
const SKILLS_PER_PAGE: NonZeroUsize = NonZeroUsize::new(100).expect("it is not zero");

/// The list of tools, in its cursors.
const TOOLS: &str = "tools";

/// The list of skills, in its cursors.
const SKILLS: &str = "skills";

/// How long a client may keep what `server/discover` answers: it is the same for as long as the server runs.
const DISCOVER_TTL_MS: u64 = 60 * 60 * 1000;

/// The most characters of a client's name that questions and the audit log show.
const MAX_CLIENT_NAME_CHARS: usize = 64;

/// How many progress reports may wait to be sent.
const PROGRESS_QUEUE: usize = 16;

/// What all connections of one server have in common.
pub(crate) struct Shared {
    view: View,
    skills: Option<Arc<dyn SkillCatalogue>>,
    config: ServerConfig,
    /// Ends every connection.
    pub(crate) stop: CancellationToken,
    /// Ends every subscription: also when the only client has closed its end, and waits for what it asked before.
    pub(crate) listening: CancellationToken,
    /// What runs beside the connections.
    pub(crate) tasks: TaskTracker,
    /// The questions that travel through stateless clients.
    states: Arc<States>,
}

/// One connection, or one request of the stateless protocol over HTTP.
pub(crate) struct Handler {
    shared: Arc<Shared>,
    /// What is granted to this client is granted to no other.
    view: View,
    relaying: AtomicBool,
    /// Cancelled when the connection is gone.
    open: CancellationToken,
    _close: DropGuard,
}

impl Shared {
    pub(crate) fn new(served: Served, stop: CancellationToken) -> Arc<Self> {
        let Served { view, skills, version, instructions } = served;
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed();
        let capabilities = match skills {
            Some(_) => capabilities.enable_skills_with_directory_read().build(),
            None => capabilities.build(),
        };
        let mut config = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("kitbag", version));
        config.instructions = instructions;
        let listening = stop.child_token();
        Arc::new(Self {
            view,
            skills,
            config,
            stop,
            listening,
            tasks: TaskTracker::new(),
            states: Arc::new(States::new()),
        })
    }

    fn catalogue(&self) -> Result<&dyn SkillCatalogue, ErrorData> {
        self.skills.as_deref().ok_or_else(|| failure::invalid("no skills are served"))
    }
}

impl Handler {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let open = shared.stop.child_token();
        let close = open.clone().drop_guard();
        let view = shared.view.fresh();
        Self { shared, view, relaying: AtomicBool::new(false), open, _close: close }
    }
}

fn context(request: &RequestContext<RoleServer>) -> CallContext {
    let principal = Principal::Client { name: client_name(request) };
    CallContext { cancel: request.ct.clone(), principal, ..CallContext::default() }
}

/// The name that the client gave itself, with this request or when it opened the connection; everything in it visible.
fn client_name(request: &RequestContext<RoleServer>) -> Arc<str> {
    let given = request.meta.client_info().map(|client| client.name);
    let name = given.or_else(|| Some(request.peer.peer_info()?.client_info.name.clone()));
    let name: String = name.unwrap_or_default().chars().take(MAX_CLIENT_NAME_CHARS).collect();
    if name.is_empty() { "without a name".into() } else { shown::visible(&name).into() }
}

/// A page of a list that the toolbox cuts, which makes and reads its cursors.
fn page(cursor: Option<&str>, limit: NonZeroUsize) -> Result<PageRequest<'_>, ErrorData> {
    if cursor.is_some_and(|cursor| cursor.len() > cursor::MAX_CURSOR_BYTES) {
        return Err(cursor::invalid());
    }
    Ok(PageRequest { after: cursor, limit })
}

fn cursor(request: Option<&PaginatedRequestParams>) -> Option<&str> {
    request.and_then(|request| request.cursor.as_deref())
}

/// Drives `work` to its end and passes its reports on: all of them before the answer, none after it.
async fn with_progress<T>(
    work: impl Future<Output = T>,
    mut reports: mpsc::Receiver<ProgressUpdate>,
    token: ProgressToken,
    peer: &Peer<RoleServer>,
) -> T {
    let send = async |ProgressUpdate { done, total, message }| {
        let mut params = ProgressNotificationParam::new(token.clone(), done);
        params.total = total;
        params.message = message;
        if let Err(error) = peer.notify_progress(params).await {
            tracing::debug!(%error, "a progress report was not sent");
        }
    };
    let mut work = pin!(work);
    let result = loop {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => send(report).await,
            result = &mut work => break result,
        }
    };
    reports.close();
    while let Ok(report) = reports.try_recv() {
        send(report).await;
    }
    result
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()).with_ttl_ms(DISCOVER_TTL_MS))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A client that says twice that it is ready must not hear everything twice.
        if self.relaying.swap(true, Ordering::Relaxed) {
            return;
        }
        let changes = self.view.changes();
        let open = self.open.clone();
        self.shared.tasks.spawn(async move {
            relay(changes, Listener::Connection(context.peer), &open).await;
        });
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let lists = SubscriptionFilter::builder()
            .tools_list_changed()
            .prompts_list_changed()
            .resources_list_changed();
        Some(lists.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = self.view.changes();
        let listener = Listener::Subscription(context.sink().clone());
        tokio::select! {
            () = relay(changes, listener, &self.shared.listening) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // No tool has an empty name, so that nothing comes before what is after it.
        let after = cursor::decode(TOOLS, cursor(request.as_ref()))?.unwrap_or_default();
        let listing = self.view.listing();
        let mut specs = listing.tools_after(&after).peekable();
        let mut tools: Vec<Tool> = Vec::new();
        while let Some(spec) = specs.next_if(|_| tools.len() < TOOLS_PER_PAGE) {
            tools.push(wire::tool(spec));
        }
        let next_cursor = match specs.peek() {
            Some(_) => tools.last().map(|tool| cursor::encode(TOOLS, &tool.name)),
            None => None,
        };
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.view.listing().tool(name).map(|spec| wire::tool(spec))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        request_context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(name) = request.name.parse() else {
            return Err(failure::unknown_tool(&request.name));
        };
        let Shared { states, tasks, .. } = &*self.shared;
        let mut context = context(&request_context);
        let client = Client::of(&mut request, &request_context, &context.principal, states, tasks);
        let call = ToolCall { name, arguments: request.arguments.unwrap_or_default() };
        if let Some(client) = &client {
            context.approver = client.clone();
        }
        let result = match request_context.meta.get_progress_token() {
            None => self.view.call(call, &context).await,
            Some(token) => {
                let (queue, reports) = mpsc::channel(PROGRESS_QUEUE);
                context.progress = Progress::to(queue);
                let work = self.view.call(call, &context);
                with_progress(work, reports, token, &request_context.peer).await
            }
        };
        if let Some(required) = client.and_then(|client| client.required()) {
            return Ok(required.into());
        }
        let output = result.or_else(|failure| failure::call(&failure))?;
        Ok(wire::output(output).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        request_context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let page = page(cursor(request.as_ref()), PROMPTS_PER_PAGE)?;
        let listed = self.view.prompts(page, &context(&request_context)).await;
        let listed = listed.map_err(|failure| failure::list(&failure))?;
        let prompts = listed.items.into_iter().map(wire::prompt).collect();
        let mut result = ListPromptsResult::with_all_items(prompts);
        result.next_cursor = listed.next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        request_context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut arguments = BTreeMap::new();
        for (name, value) in request.arguments.unwrap_or_default() {
            let Value::String(value) = value else {
                let prompt = &request.name;
                let text =
                    format!("Invalid arguments for prompt {prompt}: {name}: it is not a string");
                return Err(failure::invalid(&text));
            };
            arguments.insert(name, value);
        }
        let request = PromptRequest { name: request.name, arguments };
        let output = self.view.prompt(&request, &context(&request_context)).await;
        let output = output.map_err(|failure| failure::prompt(&failure))?;
        Ok(wire::filled(output).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        request_context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let page = page(cursor(request.as_ref()), RESOURCES_PER_PAGE)?;
        let listed = self.view.resources(page, &context(&request_context)).await;
        let listed = listed.map_err(|failure| failure::list(&failure))?;
        let resources = listed.items.into_iter().map(wire::resource).collect();
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = listed.next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        request_context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.view.read(&request.uri, &context(&request_context)).await;
        let read = read.map_err(|failure| failure::read(&failure, &request.uri))?;
        let contents = read.into_iter().map(wire::contents).collect();
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        request_context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let after = cursor::decode(SKILLS, cursor(request.as_ref()))?;
        let page = PageRequest { after: after.as_deref(), limit: SKILLS_PER_PAGE };
        let context = context(&request_context);
        let mut result = skills::list(self.shared.catalogue()?, page, &context).await?;
        result.next_cursor = result.next_cursor.map(|key| cursor::encode(SKILLS, &key));
        Ok(result)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        request_context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let context = context(&request_context);
        let skill = skills::get(self.shared.catalogue()?, &request.uri, &context).await?;
        Ok(GetSkillResult::new(skill))
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        request_context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let after = cursor::decode(&request.uri, request.cursor.as_deref())?;
        let page = PageRequest { after: after.as_deref(), limit: RESOURCES_PER_PAGE };
        let context = context(&request_context);
        let catalogue = self.shared.catalogue()?;
        let mut result = skills::directory(catalogue, &request.uri, page, &context).await?;
        result.next_cursor = result.next_cursor.map(|key| cursor::encode(&request.uri, &key));
        Ok(result)
    }

    /// Gets the requests that the protocol has, too, where their params are not as it has them.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let of_skills = method.starts_with("skills/") || method == "resources/directory/read";
        if (!of_skills || self.shared.skills.is_some())
            && let Some(fault) = params::fault(&method, params.as_ref())
        {
            return Err(failure::invalid(&fault));
        }
        Err(failure::error(ErrorCode::METHOD_NOT_FOUND, &method, None))
    }
}
