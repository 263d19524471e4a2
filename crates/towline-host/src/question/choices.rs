//! `AskUserQuestion`: the agent asks the person, with choices.

use towline_protocol::{
    AskUserQuestionInput, Map, OneOrMany, PermissionAnswer, Question, Text, ToolUseId, Wire,
    control::request::CanUseTool,
};

use super::{Permission, Responder, common_to_questions};

/// Questions to a person, with choices.
///
/// Dropped, they are denied.
///
/// ```
/// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
/// let mut answers = Answers::new();
/// for question in choices.questions() {
///     answers = match question.options.first() {
///         Some(option) => answers.choose(&question.question, [&option.label]),
///         None => answers.say(&question.question, "as you like"),
///     };
/// }
/// choices.answer(answers);
/// # assert_eq!(end_of_turn(&mut session).await, r#"heard {"Shall we?":"yes"}"#);
/// # });
/// ```
#[derive(Debug)]
pub struct Choices {
    request: Box<CanUseTool>,
    input: AskUserQuestionInput,
    pub(super) responder: Responder,
}

common_to_questions!(Choices, "ask Shall we?");

/// Answers to the questions of a [`Choices`], by the question's text.
///
/// ```
/// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
/// choices.answer(Answers::new().choose("Shall we?", ["yes"]));
/// # assert_eq!(end_of_turn(&mut session).await, r#"heard {"Shall we?":"yes"}"#);
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    answers: Map<OneOrMany<Text>>,
}

impl Answers {
    /// Begins without an answer.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// choices.answer(Answers::new()); // nothing is answered
    /// # assert_eq!(end_of_turn(&mut session).await, "heard {}");
    /// # });
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses one label or, where several may be chosen, more.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// choices.answer(Answers::new().choose("Shall we?", ["yes", "no"]));
    /// # assert_eq!(end_of_turn(&mut session).await, r#"heard {"Shall we?":"yes, no"}"#);
    /// # });
    /// ```
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
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// choices.answer(Answers::new().say("Shall we?", "not on a Monday"));
    /// # assert_eq!(end_of_turn(&mut session).await, r#"heard {"Shall we?":"not on a Monday"}"#);
    /// # });
    /// ```
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
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// assert_eq!(choices.request().tool_name, "AskUserQuestion");
    /// # });
    /// ```
    pub fn request(&self) -> &CanUseTool {
        &self.request
    }

    /// The id of the call, the same as in the message of the model.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// assert_eq!(choices.tool_use_id(), Some(&"call-1".into()));
    /// # });
    /// ```
    pub fn tool_use_id(&self) -> Option<&ToolUseId> {
        self.request.tool_use_id.as_ref()
    }

    /// What is asked, and what can be chosen.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// let question = &choices.questions()[0];
    /// assert_eq!(question.question, "Shall we?");
    /// assert_eq!(question.options[0].label, "yes");
    /// # });
    /// ```
    pub fn questions(&self) -> &[Question] {
        self.input.questions.as_deref().unwrap_or_default()
    }

    /// Answers.
    ///
    /// Questions that are left out count as not answered.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// choices.answer(Answers::new().choose("Shall we?", ["no"]));
    /// # assert_eq!(end_of_turn(&mut session).await, r#"heard {"Shall we?":"no"}"#);
    /// # });
    /// ```
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
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// choices.respond("Ask me tomorrow");
    /// # assert_eq!(end_of_turn(&mut session).await, "heard Ask me tomorrow");
    /// # });
    /// ```
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

    /// Does not answer.
    ///
    /// The model reads why.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session, "ask Shall we?" => Event::Choices(choices)| {
    /// choices.deny("nobody is here");
    /// # assert_eq!(end_of_turn(&mut session).await, "denied: nobody is here");
    /// # });
    /// ```
    pub fn deny(self, why: impl Into<Text>) {
        self.responder
            .answer_permission(self.request.tool_use_id, PermissionAnswer::deny(why));
    }
}
