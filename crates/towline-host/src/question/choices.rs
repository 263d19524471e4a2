//! `AskUserQuestion`: the agent asks the person, with choices.

use towline_protocol::{
    AskUserQuestionInput, Map, OneOrMany, PermissionAnswer, Question, Text, ToolUseId, Wire,
    control::request::CanUseTool,
};

use super::{Permission, Responder, common_to_questions};

/// Questions to a person. Dropped, they are denied.
///
/// ```
/// use towline_host::{Answers, Choices};
///
/// fn decide(choices: Choices) {
///     let mut answers = Answers::new();
///     for question in choices.questions() {
///         match question.options.first() {
///             Some(option) => answers = answers.choose(&question.question, [option.label.as_str()]),
///             None => answers = answers.say(&question.question, "as you like"),
///         }
///     }
///     choices.answer(answers);
/// }
/// ```
#[derive(Debug)]
pub struct Choices {
    request: Box<CanUseTool>,
    input: AskUserQuestionInput,
    pub(super) responder: Responder,
}

common_to_questions!(Choices, "questions");

/// Answers to the questions of a [`Choices`], by the question's text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    answers: Map<OneOrMany<Text>>,
}

impl Answers {
    /// No answer yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses one or, where several may be chosen, more labels.
    #[must_use]
    pub fn choose<L: AsRef<str>>(
        mut self,
        question: &str,
        labels: impl IntoIterator<Item = L>,
    ) -> Self {
        // One string for several labels, as a person would write them: the form that the real CLI's own prompt has.
        let labels: Vec<_> = labels
            .into_iter()
            .map(|label| label.as_ref().to_owned())
            .collect();
        self.answers
            .insert(question, OneOrMany::One(labels.join(", ").into()));
        self
    }

    /// Answers in free words.
    #[must_use]
    pub fn say(self, question: &str, words: &str) -> Self {
        self.choose(question, [words])
    }
}

impl Choices {
    /// The questions; the plain permission if there are none to be read.
    pub(crate) fn new(
        request: Box<CanUseTool>,
        responder: Responder,
    ) -> Result<Self, Box<Permission>> {
        match AskUserQuestionInput::from_json(request.input.text().clone()) {
            Ok(input) if input.questions.is_some() => Ok(Self {
                request,
                input,
                responder,
            }),
            _ => Err(Box::new(Permission::new(request, responder))),
        }
    }

    /// The whole question, as the agent wrote it.
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// The call.
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// What is asked.
    pub fn questions(&self) -> &[Question] {
        self.input.questions.as_deref().unwrap_or_default()
    }

    /// Answers. Questions that are left out count as not answered.
    pub fn answer(self, answers: Answers) {
        let input = AskUserQuestionInput {
            answers: Some(answers.answers),
            ..self.input
        };
        let answer = PermissionAnswer::allow_with(input.to_standard_json());
        self.responder
            .answer_permission(self.request.tool_use_id, answer);
    }

    /// Answers all of them at once, in free words.
    pub fn respond(self, words: impl Into<Text>) {
        let input = AskUserQuestionInput {
            answers: Some(Map::default()),
            response: Some(words.into()),
            ..self.input
        };
        let answer = PermissionAnswer::allow_with(input.to_standard_json());
        self.responder
            .answer_permission(self.request.tool_use_id, answer);
    }

    /// Does not answer. The model reads why.
    pub fn deny(self, why: impl Into<Text>) {
        self.responder
            .answer_permission(self.request.tool_use_id, PermissionAnswer::deny(why));
    }
}
