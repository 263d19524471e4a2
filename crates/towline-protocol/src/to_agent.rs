//! [`ToAgent`]: every line a host writes.

use crate::{
    control::{ControlCancelRequest, ControlRequest, ControlResponse},
    json::Text,
    system::System,
    to_host::{Assistant, KeepAlive},
    user::{User, UserMessage},
    wire::{Map, wire_enum, wire_structs},
};

wire_enum! {
    /// A line that a host writes, by its type.
    pub enum ToAgent by "type" {
        /// What the person says.
        "user" => User(Box<User>),
        /// A question to the agent.
        "control_request" => ControlRequest(Box<ControlRequest>),
        /// An answer to the agent.
        "control_response" => ControlResponse(Box<ControlResponse>),
        /// A question that needs no answer any more.
        "control_cancel_request" => ControlCancelRequest(Box<ControlCancelRequest>),
        /// A sign of life.
        "keep_alive" => KeepAlive(KeepAlive),
        /// Variables for what the agent runs from now on.
        "update_environment_variables" => UpdateEnvironment(Box<UpdateEnvironment>),
        /// What a model said elsewhere; the real CLI ignores it.
        "assistant" => Assistant(Box<Assistant>),
        /// What an agent told elsewhere; the real CLI ignores it.
        "system" => System(System),
        /// Begin with this message (document 003).
        "session.create" => SessionCreate(Box<SessionMessage>),
        /// Go on with this message (document 003).
        "session.send" => SessionSend(Box<SessionMessage>),
        /// An answer to the agent (document 003).
        "callback.response" => CallbackResponse(Box<ControlResponse>),
    }
}

impl ToAgent {
    /// What the line is, with its subtype: `user`, `control_request/initialize`, `control_response/success`.
    pub fn full_kind(&self) -> String {
        let kind = self.kind();
        let subtype = match self {
            Self::ControlRequest(line) => line.request.kind(),
            Self::ControlResponse(line) | Self::CallbackResponse(line) => line.subtype(),
            Self::System(system) => system.kind(),
            Self::Assistant(line) if line.delta.is_some() => "delta",
            _ => "",
        };
        if subtype.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}/{subtype}")
        }
    }
}

wire_structs! {
    /// `update_environment_variables`
    pub struct UpdateEnvironment {
        /// The variables.
        variables: Map<Text>,
    }

    /// `session.create` and `session.send`
    pub struct SessionMessage {
        /// The message.
        message: UserMessage,
    }
}
