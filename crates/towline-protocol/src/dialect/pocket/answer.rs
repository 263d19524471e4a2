//! What [`Answer::result`] says: one string that holds one answer or several.

use thiserror::Error;

use super::Answer;
use crate::{
    json::{DecodeError, Json, Text},
    tool::Question,
    wire::{Map, OneOrMany, Wire, wire_structs},
};

wire_structs! {
    /// The answers to several questions, which [`Answer::result`] holds as a string of JSON.
    #[derive(Default)]
    pub struct AnswerEnvelope {
        /// The questions as they were asked, or their texts.
        questions: Vec<Json>,
        /// The answers by the text of the question.
        answers: Map<OneOrMany<Text>>,
    }
}

/// Why an answer was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// There is nothing to answer.
    #[error("nothing was asked")]
    NothingAsked,
    /// One string cannot tell which of several questions it answers.
    #[error("an answer to several questions must be an envelope of questions and answers")]
    NotAnEnvelope(#[source] DecodeError),
    /// The questions are not those that were asked, in their order.
    #[error("the envelope is for other questions than were asked")]
    OtherQuestions,
    /// An answer to something that was not asked.
    #[error("`{0}` was answered, but not asked")]
    NotAsked(Text),
    /// No answer to something that was asked.
    #[error("`{0}` was asked, but not answered")]
    NotAnswered(Text),
}

impl Answer {
    /// The answers by question text, one for each of the questions asked and in their order.
    ///
    /// One question is answered by a plain string, several by an [`AnswerEnvelope`]; the envelope will do for one
    /// question, too. Any other JSON is the plain answer of somebody who typed JSON.
    ///
    /// ```
    /// use towline_protocol::{OneOrMany, Question, Wire, dialect::pocket::Answer};
    ///
    /// let asked = [Question::from_json(r#"{"question":"Which library?","options":[]}"#)?];
    /// let answer = Answer::from_json(r#"{"toolUseId":"toolu_1","result":"React"}"#)?;
    /// let answers = answer.answers(&asked).unwrap();
    /// assert_eq!(answers.get("Which library?"), Some(&OneOrMany::One("React".into())));
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// When the answer does not fit the questions: nothing is guessed.
    pub fn answers(&self, asked: &[Question]) -> Result<Map<OneOrMany<Text>>, AnswerError> {
        match (asked, AnswerEnvelope::from_json(self.result.clone())) {
            ([], _) => Err(AnswerError::NothingAsked),
            (asked, Ok(envelope)) => envelope.answers_to(asked),
            ([only], Err(_)) => {
                let answer = OneOrMany::One(self.result.clone());
                Ok([(only.question.clone(), answer)].into_iter().collect())
            }
            (_, Err(error)) => Err(AnswerError::NotAnEnvelope(error)),
        }
    }
}

impl AnswerEnvelope {
    fn answers_to(&self, asked: &[Question]) -> Result<Map<OneOrMany<Text>>, AnswerError> {
        let same = self.questions.len() == asked.len()
            && self
                .questions
                .iter()
                .zip(asked)
                .all(|(question, asked)| text(question).as_ref() == Some(&asked.question));
        if !same {
            return Err(AnswerError::OtherQuestions);
        }
        for (question, _) in self.answers.iter() {
            if !asked.iter().any(|asked| asked.question == question) {
                return Err(AnswerError::NotAsked(question.into()));
            }
        }
        asked
            .iter()
            .map(
                |Question { question, .. }| match self.answers.get(question) {
                    Some(answer) => Ok((question.clone(), answer.clone())),
                    None => Err(AnswerError::NotAnswered(question.clone())),
                },
            )
            .collect()
    }
}

/// The text of a question that came whole or as its text only.
fn text(question: &Json) -> Option<Text> {
    if !question.is_object() {
        return Text::from_json(question.text().clone()).ok();
    }
    let whole = Map::<Json>::from_json(question.text().clone()).ok()?;
    Text::from_json(whole.get("question")?.text().clone()).ok()
}
