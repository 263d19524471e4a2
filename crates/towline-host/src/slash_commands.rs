//! [`SlashCommands`]: which commands an agent knows, found without a conversation and kept for a while.

use std::time::Duration;

use tokio::{sync::Mutex, time::Instant};
use towline_protocol::{Extra, System, ToHost, control::answer::SlashCommand};

use crate::{command::AgentCommand, error::Error, event::Event, session::Session};

/// The slash commands of an agent.
///
/// Finding them starts one, so what was found is kept for five minutes.
///
/// ```
/// # towline_testkit::fake_agent::run_example(async {
/// # use towline_host::*;
/// # let program = towline_testkit::fake_agent::PROGRAM;
/// let commands = SlashCommands::of(AgentCommand::new(program));
/// for command in commands.list().await? {
///     println!("/{} {}", command.name, command.description.unwrap_or_default());
/// }
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct SlashCommands {
    command: AgentCommand,
    found: Mutex<Option<(Instant, Vec<SlashCommand>)>>,
}

impl SlashCommands {
    /// How long what was found is kept.
    ///
    /// ```
    /// # use towline_host::SlashCommands;
    /// assert_eq!(SlashCommands::KEPT_FOR.as_secs(), 300);
    /// ```
    pub const KEPT_FOR: Duration = Duration::from_secs(5 * 60);

    /// The commands of an agent, in the directory it is to work in.
    ///
    /// Nothing is started yet.
    ///
    /// ```
    /// # use towline_host::{AgentCommand, SlashCommands};
    /// let commands = SlashCommands::of(AgentCommand::new("claude").current_dir("/tmp"));
    /// ```
    pub fn of(command: AgentCommand) -> Self {
        Self {
            command,
            found: Mutex::new(None),
        }
    }

    /// The commands, as they were found at most five minutes ago.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let commands = SlashCommands::of(AgentCommand::new(program));
    /// assert_eq!(commands.list().await?[0].name, "compact");
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent cannot be started, or does not say.
    pub async fn list(&self) -> Result<Vec<SlashCommand>, Error> {
        // Whoever comes while the agent is asked waits for the same answer.
        let mut found = self.found.lock().await;
        if let Some((when, commands)) = &*found
            && when.elapsed() < Self::KEPT_FOR
        {
            return Ok(commands.clone());
        }
        let commands = self.discover().await?;
        *found = Some((Instant::now(), commands.clone()));
        Ok(commands)
    }

    /// Forgets what was found, so that the next [`SlashCommands::list`] asks again: for changed plugins, or a new session.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let commands = SlashCommands::of(AgentCommand::new(program));
    /// commands.list().await?;
    /// commands.forget().await; // a plugin was installed
    /// commands.list().await?;
    /// # Ok(())
    /// # });
    /// ```
    pub async fn forget(&self) {
        *self.found.lock().await = None;
    }

    async fn discover(&self) -> Result<Vec<SlashCommand>, Error> {
        match self.by_initialize().await {
            Ok(Some(commands)) => Ok(commands),
            // An agent that does not know `initialize`, or does not tell commands there.
            Ok(None) | Err(Error::Refused { .. } | Error::Answer { .. } | Error::Silent { .. }) => {
                self.by_probe().await
            }
            Err(error) => Err(error),
        }
    }

    /// Asks now, by introducing a host: the answer has the commands, with descriptions.
    ///
    /// Nothing if it has none.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let commands = SlashCommands::of(AgentCommand::new(program)).by_initialize().await?.unwrap();
    /// assert_eq!(commands[0].description.as_deref(), Some("Shortens the conversation"));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent cannot be started, or does not answer.
    pub async fn by_initialize(&self) -> Result<Option<Vec<SlashCommand>>, Error> {
        let command = self.command.clone().with_initialize(|_| ());
        let session = command.spawn().await?;
        let commands = session.agent().and_then(|agent| agent.commands.clone());
        session.close().await;
        Ok(commands)
    }

    /// Asks now, by sending `/` and looking at the first `system/init`: names alone, but of any agent.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let commands = SlashCommands::of(AgentCommand::new(program)).by_probe().await?;
    /// assert_eq!((&*commands[0].name, &commands[0].description), ("compact", &None));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent cannot be started, does not say, or ends without saying.
    pub async fn by_probe(&self) -> Result<Vec<SlashCommand>, Error> {
        let command = self.command.clone().silent();
        let command = command.max_turns(1).without_transcript();
        let timeout = command.timeout();
        let mut session = command.spawn().await?;
        session.send("/").await?;
        let names = tokio::time::timeout(timeout.unwrap_or(Duration::MAX), names(&mut session));
        let found = names.await;
        session.close().await;
        found.unwrap_or_else(|_| {
            Err(Error::TimedOut {
                request: "/".to_owned(),
                after: timeout.unwrap_or_default(),
            })
        })
    }
}

/// The commands that the first `system/init` names.
async fn names(session: &mut Session) -> Result<Vec<SlashCommand>, Error> {
    loop {
        match session.next().await {
            Some(Event::Message(frame)) => match frame.message {
                ToHost::System(System::Init(init)) => {
                    let names = init.slash_commands.unwrap_or_default();
                    return Ok(names.iter().map(|name| named(name)).collect());
                }
                ToHost::Result(_) => return Ok(Vec::new()),
                _ => {}
            },
            Some(Event::Ended(ending)) => return Err(Error::Ended(Box::new(ending))),
            Some(_) => {}
            None => return Ok(Vec::new()),
        }
    }
}

fn named(name: &str) -> SlashCommand {
    SlashCommand {
        // Documents show them with the slash, the real CLI writes them without.
        name: name.trim_start_matches('/').into(),
        description: None,
        argument_hint: None,
        aliases: None,
        builtin: None,
        extra: Extra::default(),
    }
}
