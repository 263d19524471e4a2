//! Questions of the agent that a host answers: `callback.request` and `callback.response`.

use towline_protocol::{
    AskUserQuestionInput, Behavior, ControlCancelRequest, ControlRequest, ControlResponse, Json,
    PermissionAnswer, Request, ToHost, Wire, control::request::CanUseTool,
    dialect::session::ErrorCode,
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
            let desk = &self.site.desk;
            // Its own answer is no news to the host, unless it is refused: then the question is still there.
            let is_asked = self.asked.remove(&id);
            let answered = desk.answer(&self.who, &session, &id, decision).await;
            if is_asked && matches!(answered, Err(ref denial) if !is_over(denial)) {
                self.asked.insert(id);
            }
            answered
        };
        match answered.await {
            Ok(_) => Ok(()),
            Err(denial) => {
                let words = denial.to_string();
                self.complain(&ErrorCode::RequestFailed, words).await
            }
        }
    }
}

/// Whether there is nothing to answer any more.
fn is_over(denial: &Denial) -> bool {
    matches!(
        denial,
        Denial::Refused(Refusal::Over(_) | Refusal::NoQuestion(_) | Refusal::NoSession(_))
    )
}

fn decision(question: &Question, response: &ControlResponse) -> Result<Decision, Denial> {
    let unfit = |why: String| Denial::Refused(Refusal::Unfit(why));
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

fn chosen(question: &Question, answer: &PermissionAnswer) -> Result<Decision, String> {
    let read = |json: &str| {
        AskUserQuestionInput::from_json(json.to_owned())
            .map_err(|error| format!("the choices cannot be read: {error}"))
    };
    let asked = read(question.input.get())?.questions.unwrap_or_default();
    let Some(given) = &answer.updated_input else {
        return Err("choices are answered in `updated_input.answers`".to_owned());
    };
    let given = read(given.as_str())?;
    let answers = given.answers_by_question(&asked);
    let answers: std::collections::BTreeMap<_, _> = answers
        .iter()
        .map(|(question, answer)| (question.to_owned(), vec![answer.to_string()]))
        .collect();
    match given.response {
        Some(words) if answers.is_empty() => Ok(Decision::Say {
            words: words.to_string(),
        }),
        _ if answers.is_empty() => Err("`updated_input.answers` has no answer".to_owned()),
        _ => Ok(Decision::Choose { answers }),
    }
}
