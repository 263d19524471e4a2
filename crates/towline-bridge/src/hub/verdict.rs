//! What an answer to a question comes to (pure): whether it fits, what the agent is told, and how the question has ended.
//!
//! Everything that is said of an answer later — in the log, in the audit, to the client — is taken from here, so that
//! nothing is called allowed that is not, and nothing for longer than it is.

use towline_protocol::{
    AskUserQuestionInput, Behavior, Destination, PermissionMode, PermissionUpdate, UpdateKind,
    Wire as _, control::request::CanUseTool,
};

use crate::{Ask, Outcome, Question};

use super::{Decision, Refusal, Remember};

/// An answer that fits its question.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The answer. If it allows something, its updates are all that changes besides.
    pub decision: Decision,
    /// How the question ends with it.
    pub outcome: Outcome,
    /// What is said with it: a reason, or the answers.
    pub message: Option<String>,
    /// Why it is remembered for less long than was wished for.
    pub shortfall: Option<&'static str>,
}

impl Verdict {
    /// What an answer to this question comes to. An answer that came out of here comes to itself.
    ///
    /// # Errors
    /// When the answer does not fit the question: what would.
    pub fn on(question: &Question, decision: Decision) -> Result<Self, Refusal> {
        match decision {
            Decision::Allow { .. } => allowed(question, decision),
            Decision::Deny { ref message, .. } => Ok(Self {
                message: message.clone(),
                outcome: Outcome::Denied,
                shortfall: None,
                decision,
            }),
            Decision::Choose { ref answers } => {
                check_choices(question, answers.keys().map(String::as_str))?;
                let chosen = answers.values().map(|answers| answers.join(", "));
                Ok(Self {
                    message: Some(chosen.collect::<Vec<_>>().join("; ")),
                    outcome: Outcome::Answered,
                    shortfall: None,
                    decision,
                })
            }
            Decision::Say { ref words } if question.ask == Ask::Choices => Ok(Self {
                message: Some(words.clone()),
                outcome: Outcome::Answered,
                shortfall: None,
                decision,
            }),
            Decision::Say { .. } => Err(misfit(question)),
        }
    }

    /// What changes besides, if something is allowed.
    pub fn updates(&self) -> &[PermissionUpdate] {
        match &self.decision {
            Decision::Allow { updates, .. } => updates.as_deref().unwrap_or_default(),
            _ => &[],
        }
    }

    /// The permission modes that it changes to.
    pub fn modes(&self) -> impl Iterator<Item = &PermissionMode> {
        self.updates()
            .iter()
            .filter_map(|update| update.mode.as_ref())
    }
}

/// What the agent itself suggests to change, in the form that it understands.
pub fn suggestions(question: &Question) -> Vec<PermissionUpdate> {
    let request = CanUseTool::from_json(question.request.get().to_owned()).ok();
    let suggested = request.and_then(|request| request.permission_suggestions.into_option());
    let suggested = suggested.unwrap_or_default();
    suggested
        .iter()
        .filter_map(PermissionUpdate::standard)
        .collect()
}

fn allowed(question: &Question, decision: Decision) -> Result<Verdict, Refusal> {
    let Decision::Allow {
        input,
        remember,
        mode,
        updates,
    } = decision
    else {
        return Err(misfit(question));
    };
    if question.ask == Ask::Choices {
        return Err(misfit(question));
    }
    if input.as_ref().is_some_and(|input| !input.is_object()) {
        return unfit("the other input of a tool is an object");
    }
    if mode.is_some() && question.ask != Ask::Plan {
        return unfit("only a plan is gone on with in another permission mode");
    }
    let given = updates.is_some();
    let mut updates = match (updates, remember) {
        (Some(updates), _) => standard(&updates)?,
        // A form of a server has no rules.
        _ if question.ask == Ask::Dialog => Vec::new(),
        (None, Remember::Once) => Vec::new(),
        (None, Remember::Session) => for_the_session(suggestions(question)),
        (None, Remember::Saved) => suggestions(question),
    };
    if question.ask == Ask::Dialog && !updates.is_empty() {
        return unfit("permissions are not changed with an answer to a server");
    }
    let wished = !given && remember != Remember::Once;
    let shortfall = (wished && updates.is_empty()).then_some(NOTHING_TO_REMEMBER);
    let outcome = extent(question, &updates);
    updates.extend(mode.map(|mode| PermissionUpdate::set_mode(mode, Destination::Session)));
    Ok(Verdict {
        decision: Decision::Allow {
            input,
            remember,
            mode: None,
            updates: Some(updates),
        },
        outcome,
        message: None,
        shortfall,
    })
}

/// For how long it is allowed, by what changes.
fn extent(question: &Question, updates: &[PermissionUpdate]) -> Outcome {
    // In which mode a plan is gone on with says nothing about the next plan.
    let counts = |update: &&PermissionUpdate| {
        question.ask != Ask::Plan || update.kind != Some(UpdateKind::SetMode)
    };
    let is_kept = |update: &PermissionUpdate| {
        let destination = update.destination.as_ref();
        !matches!(
            destination,
            None | Some(Destination::Session | Destination::CliArg | Destination::Command)
        )
    };
    let mut updates = updates.iter().filter(counts).peekable();
    if updates.peek().is_none() {
        Outcome::Allowed
    } else if updates.any(is_kept) {
        Outcome::AllowedAndSaved
    } else {
        Outcome::AllowedForSession
    }
}

fn for_the_session(mut updates: Vec<PermissionUpdate>) -> Vec<PermissionUpdate> {
    for update in &mut updates {
        update.destination = Some(Destination::Session);
    }
    updates
}

/// Each as the agent understands it. One that would be left out, or mean more than it says, is refused.
fn standard(updates: &[PermissionUpdate]) -> Result<Vec<PermissionUpdate>, Refusal> {
    let one = |update: &PermissionUpdate| {
        let Some(update) = update.standard() else {
            return unfit("a permission update needs a `type`");
        };
        let is_empty = update.rules.as_ref().is_none_or(Vec::is_empty);
        let needs_rules = matches!(
            update.kind,
            Some(UpdateKind::AddRules | UpdateKind::RemoveRules)
        );
        if needs_rules && is_empty {
            return unfit("a permission update about rules needs `rules`");
        }
        if matches!(update.behavior, Some(Behavior::Unknown(_))) {
            return unfit("the `behavior` of a permission update is allow, deny or ask");
        }
        Ok(update)
    };
    updates.iter().map(one).collect()
}

fn check_choices<'a>(
    question: &Question,
    mut given: impl Iterator<Item = &'a str>,
) -> Result<(), Refusal> {
    if question.ask != Ask::Choices {
        return Err(misfit(question));
    }
    let input = AskUserQuestionInput::from_json(question.input.get().to_owned());
    // What a later version asks cannot be compared.
    let Some(asked) = input.ok().and_then(|input| input.questions) else {
        return Ok(());
    };
    let is_asked = |given: &str| asked.iter().any(|asked| asked.question == given);
    match given.find(|given| !is_asked(given)) {
        None => Ok(()),
        Some(other) => unfit(format!("{other:?} is not what is asked")),
    }
}

fn misfit(question: &Question) -> Refusal {
    let tool = &question.tool_name;
    Refusal::Unfit(match question.ask {
        Ask::Permission => format!("{tool} asks for permission: allow it or deny it"),
        Ask::Plan => format!("{tool} asks whether a plan is good: allow it or deny it"),
        Ask::Dialog => {
            format!("{tool} wants something filled in: allow it with an input, or deny it")
        }
        Ask::Choices => format!("{tool} asks for answers: choose, say something, or deny it"),
    })
}

fn unfit<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Unfit(why.into()))
}

/// Why something is allowed this once, though more was wished for.
const NOTHING_TO_REMEMBER: &str = "allowed this once: the agent suggests no rule for its like, so the next one is asked about, too";

#[cfg(test)]
mod tests;
