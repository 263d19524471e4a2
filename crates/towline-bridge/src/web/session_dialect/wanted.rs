//! What a host wants of the agent: `initialize`, `interrupt` and the other control requests.

use std::sync::Arc;

use towline_protocol::{
    ControlRequest, ControlResponse, Json, Request, Text, ToAgent, Wire,
    control::request::Initialize,
    dialect::{pocket::Status, session::ErrorCode},
};

use crate::hub::{Control, Description};

use super::{Gone, Initializing, Talk};

impl Talk {
    pub(super) async fn requested(&mut self, request: ControlRequest) -> Result<(), Gone> {
        let id = request.request_id;
        if let Request::Initialize(initialize) = &request.request {
            let not_taken = not_taken(initialize);
            if !not_taken.is_empty() {
                let words = format!(
                    "not offered over the bridge, and left out of this session: {}",
                    not_taken.join(", ")
                );
                self.complain(&ErrorCode::RequestFailed, words).await?;
            }
            return match self.begun().await {
                Ok(_) => {
                    self.initialize = Initializing::Waits(id);
                    self.introduce().await
                }
                Err(denial) => {
                    let refusal = ControlResponse::error(id, denial.to_string());
                    self.respond(refusal).await
                }
            };
        }
        let session = match self.begun().await {
            Ok(session) => session,
            Err(denial) => {
                let refusal = ControlResponse::error(id, denial.to_string());
                return self.respond(refusal).await;
            }
        };
        if self.slow.len() >= MOST_SLOW {
            let words = "too many requests at once: wait for an answer first";
            return self.respond(ControlResponse::error(id, words)).await;
        }
        let (site, who) = (Arc::clone(&self.site), self.who.clone());
        let control = control(request.request);
        self.slow.spawn(async move {
            match site.desk.control(&who, &session, control).await {
                Ok(answer) => ControlResponse::success(id, answer),
                Err(denial) => ControlResponse::error(id, denial.to_string()),
            }
        });
        Ok(())
    }

    /// Answers `initialize` once the agent is there.
    pub(super) async fn introduce(&mut self) -> Result<(), Gone> {
        let (Some(session), Initializing::Waits(id)) =
            (self.session.clone(), self.initialize.clone())
        else {
            return Ok(());
        };
        let response = match self.site.desk.describe(&session).await {
            Ok(description) => match introduction(&description) {
                Some(answer) => answer,
                None => return Ok(()),
            },
            Err(denial) => Err(denial.to_string()),
        };
        self.initialize = Initializing::No;
        self.respond(match response {
            Ok(about) => ControlResponse::success(id, Some(about)),
            Err(why) => ControlResponse::error(id, why),
        })
        .await
    }
}

/// What the agent says of itself, or why it does not; nothing while it is being started.
fn introduction(session: &Description) -> Option<Result<Json, String>> {
    if let Some(about) = &session.about {
        return Some(Json::new(about.get()).map_err(|error| error.to_string()));
    }
    match session.record.status {
        Status::Starting => None,
        Status::Dead => Some(Err("the agent could not be started".to_owned())),
        // Not every agent has something to say.
        _ => Some(Ok(Json::empty_object())),
    }
}

/// What a host can say in `initialize` and the bridge does not pass on: agents are started by the bridge.
fn not_taken(initialize: &Initialize) -> Vec<&'static str> {
    let is_said = |text: Option<&Text>| text.is_some_and(|text| !text.is_empty());
    let hooks = initialize.hooks.as_option();
    let hooks = hooks.is_some_and(|hooks| hooks.to_json().as_str() != "{}");
    let prompt = initialize.system_prompt.as_ref();
    let prompt = prompt.is_some_and(|prompt| prompt.as_slice().iter().any(|text| !text.is_empty()));
    [
        (prompt, "system_prompt"),
        (
            is_said(initialize.append_system_prompt.as_ref()),
            "append_system_prompt",
        ),
        (is_there(initialize.agents.as_ref()), "agents"),
        (hooks, "hooks"),
        (is_there(initialize.json_schema.as_ref()), "json_schema"),
        (is_there(initialize.plugins.as_ref()), "plugins"),
    ]
    .into_iter()
    .filter_map(|(is_there, name)| is_there.then_some(name))
    .collect()
}

/// Takes the MCP servers out of an `initialize`, before they are told to be there; whether there were any.
pub(super) fn leaves_out_servers(line: &mut ToAgent) -> bool {
    let ToAgent::ControlRequest(request) = line else {
        return false;
    };
    let Request::Initialize(initialize) = &mut request.request else {
        return false;
    };
    is_there(initialize.mcp_servers.take().as_ref())
}

/// Whether something is said with this.
fn is_there(json: Option<&Json>) -> bool {
    let text = json.map(Json::as_str);
    text.is_some_and(|text| !matches!(text, "{}" | "[]" | "null"))
}

fn control(request: Request) -> Control {
    match request {
        Request::Interrupt(_) => Control::Interrupt,
        Request::SetPermissionMode(request) => Control::SetMode(request.mode),
        Request::SetModel(request) => {
            Control::SetModel(request.model.as_option().map(ToString::to_string))
        }
        other => Control::Other(Box::new(other)),
    }
}

/// How many requests of a host are looked into at once.
const MOST_SLOW: usize = 32;
