//! What the examples of a library's documentation share: a session with the fake agent, in two hidden lines.

use std::{error::Error, future::Future, time::Duration};

use tokio::runtime::Builder;

/// Runs an example to its end. It panics when the example fails, or takes longer than half a minute.
///
/// Most examples are better off with [`in_session!`](crate::in_session).
///
/// ```
/// towline_testkit::fake_agent::run_example(async { Ok(()) });
/// ```
pub fn run_example(example: impl Future<Output = Result<(), Box<dyn Error>>>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let outcome = runtime.map(|runtime| {
        let patiently = async { tokio::time::timeout(PATIENCE, example).await };
        runtime.block_on(patiently)
    });
    match outcome {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => panic!("the example fails: {error}"),
        Ok(Err(_)) => panic!("the example is not done after {PATIENCE:?}"),
        Err(error) => panic!("there is no runtime: {error}"),
    }
}

/// Runs an example for `towline-host` in a session with a [`FakeAgent`](crate::fake_agent::FakeAgent).
///
/// - `in_session!(|session| { … })` gives a session;
/// - `in_session!(|session, "prompt" => PATTERN| { … })` sends a prompt and waits for an event of that pattern;
/// - both take a command before the session, as in `in_session!(AgentCommand::new("fake"), |session| { … })`.
///
/// The example may use all names of `towline_host` and `?`; `end_of_turn(&mut session).await` is what the model says at
/// the end of the turn, or why it failed. The macro names `towline_host` and does not depend on it: that must be a
/// dependency where the macro is used.
///
/// ```text
/// /// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
/// /// permission.allow();
/// /// # assert_eq!(end_of_turn(&mut session).await, "ran ls");
/// /// # });
/// ```
#[macro_export]
macro_rules! in_session {
    (|$session:ident| $body:tt) => {
        $crate::in_session!(AgentCommand::new("fake"), |$session| $body)
    };
    (|$session:ident, $prompt:literal => $event:pat_param| $body:tt) => {
        $crate::in_session!(AgentCommand::new("fake"), |$session, $prompt => $event| $body)
    };
    ($command:expr, |$session:ident, $prompt:literal => $event:pat_param| $body:tt) => {
        $crate::in_session!($command, |$session| {
            $session.send($prompt).await?;
            loop {
                let event = $session.next().await.ok_or("no such event came")?;
                if let $event = event {
                    break $body;
                }
            }
        })
    };
    ($command:expr, |$session:ident| { $($body:tt)* }) => {
        $crate::fake_agent::run_example(async {
            use ::towline_host::*;
            async fn end_of_turn(session: &mut Session) -> String {
                while let Some(event) = session.next().await {
                    if let Some(result) = event.result() {
                        let errors = result.errors.iter().flatten();
                        return result.text().into_iter().chain(errors).map(|words| words.as_str()).collect();
                    }
                }
                "the agent is gone".to_owned()
            }
            let (reader, writer) = $crate::fake_agent::FakeAgent::start();
            let mut $session = $command.attach(reader, writer).await?;
            $($body)*
            Ok(())
        })
    };
}

const PATIENCE: Duration = Duration::from_secs(30);
