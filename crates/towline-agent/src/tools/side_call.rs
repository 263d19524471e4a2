//! [`SideCall`]: a way for a tool to ask the model beside the conversation. Who answers is not known here.

use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;

/// A question that the model answers beside the conversation. The error is for the model to read.
pub(crate) struct SideCall<Question, Answer> {
    answer: Arc<AnswerFn<Question, Answer>>,
}

type AnswerFn<Question, Answer> =
    dyn Fn(Question) -> BoxFuture<'static, Result<Answer, String>> + Send + Sync;

impl<Question, Answer> SideCall<Question, Answer> {
    /// A way to ask.
    pub(crate) fn new<Answering>(
        answer: impl Fn(Question) -> Answering + Send + Sync + 'static,
    ) -> Self
    where
        Answering: Future<Output = Result<Answer, String>> + Send + 'static,
    {
        Self {
            answer: Arc::new(move |question| Box::pin(answer(question))),
        }
    }

    /// Asks.
    pub(crate) async fn ask(&self, question: Question) -> Result<Answer, String> {
        (self.answer)(question).await
    }
}

impl<Question, Answer> Clone for SideCall<Question, Answer> {
    fn clone(&self) -> Self {
        Self {
            answer: Arc::clone(&self.answer),
        }
    }
}

impl<Question, Answer> fmt::Debug for SideCall<Question, Answer> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SideCall")
    }
}
