//! Questions of the agent that a host answers: `callback.request` and `callback.response`; and those to the person that it
//! answers with the `tool_result` of their call.

use towline_protocol::{
    AskUserQuestionInput, Behavior, Content, ControlCancelRequest, ControlRequest, ControlResponse,
    Json, PermissionAnswer, Request, ToHost, ToolResultBlock, Wire,
    control::request::CanUseTool,
    dialect::{pocket::BridgeId, session::ErrorCode},
};

use crate::{
    Ask, Denial, Question,
    hub::{Decision, Refusal, Remember},
};

use super::{Gone, Talk};

impl Talk {
    /// Has the host asked.
    pub(super) async fn ask(&mut self, question: &Question) -> Result<(), Gone> {
        let request = match question.ask {
            Ask::Dialog => Request::from_json(question.request.get().to_owned()),
            _ => CanUseTool::from_json(question.request.get().to_owned())
                .map(|request| Request::CanUseTool(Box::new(request))),
        };
        let request = match request {
            Ok(request) => request,
            Err(error) => {
                let words = format!("a question of the agent cannot be read: {error}");
                return self.complain(&ErrorCode::AgentLine, words).await;
            }
        };
        if !self.asked.insert(question.id.clone()) {
            return Ok(());
        }
        let request = ControlRequest::new(question.id.as_str(), request);
        self.tell(ToHost::ControlRequest(Box::new(request)), None)
            .await
    }

    /// The question needs no answer any more, unless it was the host who gave it.
    pub(super) async fn withdraw(&mut self, id: &str) -> Result<(), Gone> {
        if !self.asked.remove(id) {
            return Ok(());
        }
        let cancel = ControlCancelRequest {
            request_id: id.into(),
            extra: Default::default(),
        };
        self.tell(ToHost::ControlCancelRequest(Box::new(cancel)), None)
            .await
    }

    /// The host answers.
    pub(super) async fn answered(&mut self, response: &ControlResponse) -> Result<(), Gone> {
        let (Some(session), Some(id)) = (self.session.clone(), response.request_id()) else {
            let words = "an answer to nothing that was asked";
            return self.complain(&ErrorCode::RequestFailed, words).await;
        };
        let id = id.to_string();
        let answered = async {
            let question = self.site.desk.question(&session, &id).await?;
            let decision = decision(&question, response)?;
            self.decide(&session, &question, decision).await
        };
        match answered.await {
            Ok(()) => Ok(()),
            Err(denial) => {
                let words = denial.to_string();
                self.complain(&ErrorCode::RequestFailed, words).await
            }
        }
    }

    /// The host answers the person's question with the result of the call that asks it. An agent may not take that as an
    /// answer, and nobody else would know that it was given: so it becomes one here.
    pub(super) async fn resulted(
        &mut self,
        session: &BridgeId,
        result: &ToolResultBlock,
    ) -> Result<(), Denial> {
        let open = self.site.desk.describe(session).await?.questions;
        let call = &result.tool_use_id;
        let Some(question) = open
            .iter()
            .find(|question| question.tool_use_id.as_ref() == Some(call))
        else {
            let why = format!(
                "the call {call} asks nothing, or does not any more: a `tool_result` is the answer to an open question"
            );
            return Err(unfit(why));
        };
        if question.ask != Ask::Choices {
            let why = format!(
                "{} asks for permission: answer its `callback.request` with a `callback.response`",
                question.tool_name
            );
            return Err(unfit(why));
        }
        let decision = chosen_in(question, result).map_err(unfit)?;
        self.decide(session, question, decision).await
    }

    async fn decide(
        &mut self,
        session: &BridgeId,
        question: &Question,
        decision: Decision,
    ) -> Result<(), Denial> {
        let desk = &self.site.desk;
        // Its own answer is no news to the host, unless it is refused: then the question is still there.
        let is_asked = self.asked.remove(&question.id);
        let answered = desk.answer(&self.who, session, &question.id, decision);
        let answered = answered.await;
        if is_asked && matches!(answered, Err(ref denial) if !is_over(denial)) {
            self.asked.insert(question.id.clone());
        }
        answered.map(|_| ())
    }
}

fn unfit(why: String) -> Denial {
    Denial::Refused(Refusal::Unfit(why))
}

/// Whether there is nothing to answer any more.
fn is_over(denial: &Denial) -> bool {
    matches!(
        denial,
        Denial::Refused(Refusal::Over(_) | Refusal::NoQuestion(_) | Refusal::NoSession(_))
    )
}

fn decision(question: &Question, response: &ControlResponse) -> Result<Decision, Denial> {
    let answer = match response.outcome() {
        Ok(answer) => answer.cloned().unwrap_or_else(Json::empty_object),
        Err(failure) => {
            return Ok(Decision::Deny {
                message: Some(failure.error.to_string()),
                interrupt: false,
            });
        }
    };
    let answer = PermissionAnswer::from_json(answer.text().clone())
        .map_err(|error| unfit(format!("the answer cannot be read: {error}")))?;
    match answer.behavior {
        Behavior::Allow => {}
        Behavior::Deny => {
            return Ok(Decision::Deny {
                message: answer.message.map(|message| message.to_string()),
                interrupt: answer.interrupt == Some(true),
            });
        }
        other => return Err(unfit(format!("nothing is called `{other}`"))),
    }
    if question.ask == Ask::Choices {
        return chosen(question, &answer).map_err(unfit);
    }
    Ok(Decision::Allow {
        input: answer
            .updated_input
            .as_ref()
            .and_then(|input| changed(question, input)),
        remember: Remember::Once,
        mode: None,
        // The host's own, and nothing that it did not say.
        updates: Some(answer.updated_permissions.unwrap_or_default()),
    })
}

/// The other input, if it is one: the document shows an empty object for none.
fn changed(question: &Question, input: &Json) -> Option<serde_json::Value> {
    let input: serde_json::Value = input.parse().ok()?;
    let asked: serde_json::Value = serde_json::from_str(question.input.get()).ok()?;
    let is_empty = input.as_object().is_none_or(serde_json::Map::is_empty);
    (!is_empty && input != asked).then_some(input)
}

/// What the result of the call says: JSON with `answers`, or the person's own words.
fn chosen_in(question: &Question, result: &ToolResultBlock) -> Result<Decision, String> {
    let text = result.content.as_option().map(Content::text);
    let text = text.unwrap_or_default();
    if result.is_error.as_option() == Some(&true) {
        return Ok(Decision::Deny {
            message: Some(text.to_string()),
            interrupt: false,
        });
    }
    match AskUserQuestionInput::from_json(text.clone()) {
        Ok(given) if given.answers.is_some() => choices(question, &given),
        _ if text.trim().is_empty() => Err("the `tool_result` has no answer in it".to_owned()),
        _ => Ok(Decision::Say {
            words: text.to_string(),
        }),
    }
}

fn chosen(question: &Question, answer: &PermissionAnswer) -> Result<Decision, String> {
    let Some(given) = &answer.updated_input else {
        return Err("choices are answered in `updated_input.answers`".to_owned());
    };
    choices(question, &read_choices(given.as_str())?)
}

fn read_choices(json: &str) -> Result<AskUserQuestionInput, String> {
    AskUserQuestionInput::from_json(json.to_owned())
        .map_err(|error| format!("the choices cannot be read: {error}"))
}

fn choices(question: &Question, given: &AskUserQuestionInput) -> Result<Decision, String> {
    let asked = read_choices(question.input.get())?;
    let asked = asked.questions.unwrap_or_default();
    let answers = given.answers_by_question(&asked);
    let answers: std::collections::BTreeMap<_, _> = answers
        .iter()
        .map(|(question, answer)| (question.to_owned(), vec![answer.to_string()]))
        .collect();
    match &given.response {
        Some(words) if answers.is_empty() => Ok(Decision::Say {
            words: words.to_string(),
        }),
        _ if answers.is_empty() => Err("`answers` has no answer".to_owned()),
        _ => Ok(Decision::Choose { answers }),
    }
}
