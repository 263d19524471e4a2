//! What a person answers in the app: approvals, rejections, choices.

use towline_protocol::{
    AskUserQuestionInput, Json, PermissionMode, Question as Asked, ToolUseId, Wire,
    dialect::pocket::{Answer, Approve, ApproveAlways, BridgeId, Reject, ToClient},
};

use crate::{
    Ask, Denial,
    hub::{Decision, Refusal, Remember},
};

use super::{
    Connection, Gone,
    frames::{json_of, told},
};

impl Connection {
    pub(super) async fn approve(&mut self, approve: Approve) -> Result<(), Gone> {
        if approve.clear_context == Some(true) {
            let why = "a plan cannot be approved in a conversation that starts over: approve it without \
                       clearContext, or reject it and start a session";
            let denial = Denial::Refused(Refusal::Unfit(why.to_owned()));
            return self.refuse(&denial, approve.session_id.as_ref()).await;
        }
        // An addition of ours: the mode in which to go on after a plan.
        let mode = approve.extra.get("permissionMode");
        let mode = mode.and_then(|mode| PermissionMode::from_json(mode.text().clone()).ok());
        self.decide(
            approve.session_id,
            &approve.id,
            Decision::Allow {
                input: None,
                remember: Remember::Once,
                mode,
                updates: None,
            },
        )
        .await
    }

    /// Allows its like for the session, as the document has it; with `"scope":"saved"`, an addition of ours, from now on.
    pub(super) async fn approve_always(&mut self, approve: ApproveAlways) -> Result<(), Gone> {
        let scope = approve.extra.get("scope").map(Json::as_str);
        let remember = match scope {
            Some(r#""saved""#) => Remember::Saved,
            _ => Remember::Session,
        };
        self.decide(
            approve.session_id,
            &approve.id,
            Decision::Allow {
                input: None,
                remember,
                mode: None,
                updates: None,
            },
        )
        .await
    }

    pub(super) async fn reject(&mut self, reject: Reject) -> Result<(), Gone> {
        let decision = Decision::Deny {
            message: reject.message.map(|message| message.to_string()),
            interrupt: false,
        };
        self.decide(reject.session_id, &reject.id, decision).await
    }

    pub(super) async fn answer(&mut self, answer: Answer) -> Result<(), Gone> {
        let session = self
            .asking(answer.session_id.clone(), &answer.tool_use_id)
            .await;
        let session = match session {
            Ok(session) => session,
            Err(denial) => return self.refuse(&denial, answer.session_id.as_ref()).await,
        };
        match self.choices(&session, &answer).await {
            Ok(decision) => {
                self.decide(Some(session), &answer.tool_use_id, decision)
                    .await
            }
            Err(denial) => self.refuse(&denial, Some(&session)).await,
        }
    }

    async fn choices(&mut self, session: &BridgeId, answer: &Answer) -> Result<Decision, Denial> {
        let id = answer.tool_use_id.as_str();
        let question = self.desk().question(session, id).await?;
        let unfit = |why: String| Denial::Refused(Refusal::Unfit(why));
        if question.ask != Ask::Choices {
            let tool = &question.tool_name;
            return Err(unfit(format!(
                "{tool} asks for permission: send approve or reject"
            )));
        }
        let input = AskUserQuestionInput::from_json(question.input.get().to_owned());
        let asked: Vec<Asked> = match input {
            Ok(input) => input.questions.unwrap_or_default(),
            Err(error) => return Err(unfit(format!("the questions cannot be read: {error}"))),
        };
        let answers = answer
            .answers(&asked)
            .map_err(|error| unfit(error.to_string()))?;
        let answers = answers.iter().map(|(question, chosen)| {
            let chosen = chosen.as_slice().iter().map(ToString::to_string);
            (question.to_owned(), chosen.collect())
        });
        Ok(Decision::Choose {
            answers: answers.collect(),
        })
    }

    async fn decide(
        &mut self,
        named: Option<BridgeId>,
        id: &ToolUseId,
        decision: Decision,
    ) -> Result<(), Gone> {
        let session = match self.asking(named.clone(), id).await {
            Ok(session) => session,
            Err(denial) => return self.refuse(&denial, named.as_ref()).await,
        };
        let answered = self
            .desk()
            .answer(&self.who, &session, id.as_str(), decision)
            .await;
        match answered {
            // Everyone is told by the frame, this client too.
            Ok(verdict) => match verdict.shortfall {
                Some(why) => self.send(&allowed_once(why, id, &session)).await,
                None => Ok(()),
            },
            Err(denial) => self.refuse(&denial, Some(&session)).await,
        }
    }

    /// The session that is named; else the one that asks, or the latest.
    async fn asking(
        &mut self,
        named: Option<BridgeId>,
        id: &ToolUseId,
    ) -> Result<BridgeId, Denial> {
        if let Some(session) = named.or_else(|| self.only.clone()) {
            return Ok(session);
        }
        let sessions = self.desk().sessions().await?;
        let asks = sessions.iter().find(|session| {
            let mut open = session.questions.iter();
            open.any(|question| question.id == id.as_str())
        });
        let session = asks.or_else(|| super::inputs::latest(&sessions));
        session
            .map(|session| session.record.id.clone())
            .ok_or_else(|| Denial::Refused(Refusal::NoQuestion(id.to_string())))
    }
}

/// An addition of ours: what was to be remembered was not.
fn allowed_once(why: &str, id: &ToolUseId, session: &BridgeId) -> ToClient {
    let mut system = told("allowed_once".into());
    system.session_id = Some(session.clone());
    system.extra.insert("toolUseId", json_of(&id.as_str()));
    system.extra.insert("message", json_of(&why));
    ToClient::System(Box::new(system))
}
