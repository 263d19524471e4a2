//! [`Desk`]: where every client's wish arrives, whatever it speaks. It checks what may be done, has the bridge do it, and
//! writes down who did it. Surfaces translate, and decide nothing.

mod beyond;
mod content;
mod shown;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use thiserror::Error;
use towline_files::Directory;
use towline_host::{PermissionMode, store::SessionKey};
use towline_protocol::{
    Json, PermissionUpdate, SessionId, UpdateKind, Uuid, dialect::pocket::BridgeId,
};

use crate::{
    Bridge, Input, Launch, Outcome, Question, Unanswered,
    access::{Action, Audit, RootError, Roots, Who, input_summary},
    agents::{Agents, AnyRule, Bypass, NoSuchAgent, effort},
    hub::{
        Command, Control, Decision, Description, Figures, From, Refusal, Reply, Setup, Verdict,
        suggestions,
    },
    log::Hit,
    past::{Listed, Place, Recent},
    project::Projects,
    trust::{FolderTrust, TrustAnswer, TrustOutcome},
};

pub use beyond::Beyond;
pub use content::Unsayable;
pub use shown::Unshown;

/// Where every client's wish arrives.
#[derive(Clone, Debug)]
pub struct Desk {
    bridge: Bridge,
    agents: Arc<Agents>,
    projects: Arc<Projects>,
    allowances: Allowances,
    audit: Arc<Mutex<Audit>>,
}

/// Unsafe things that clients may do, as the bridge was started.
#[derive(Clone, Copy, Debug)]
pub struct Allowances {
    /// Whether sessions may run without asking.
    pub bypass: Bypass,
    /// Whether an answer may change permissions in other ways than were shown with its question.
    pub any_rule: AnyRule,
}

/// What a client wants to begin.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Which agent; the default one if it does not say.
    pub agent: Option<String>,
    /// Everything else; its `agent` does not count.
    pub setup: Setup,
}

/// A session that was to begin.
#[derive(Debug)]
pub enum Begun {
    /// It has.
    New(Box<Description>),
    /// It had already: the bridge goes on with the same.
    Held(Box<Description>),
}

impl Begun {
    /// What is known of it.
    pub fn description(self) -> Description {
        match self {
            Self::New(description) | Self::Held(description) => *description,
        }
    }
}

/// Why a wish is not granted.
#[derive(Debug, Error)]
pub enum Denial {
    /// The path may not be used.
    #[error(transparent)]
    Path(#[from] RootError),
    /// There is no such agent.
    #[error(transparent)]
    Agent(#[from] NoSuchAgent),
    /// Nobody may go without asking.
    #[error(
        "the permission mode bypassPermissions is not enabled here: start the bridge with --allow-bypass-permissions"
    )]
    Bypass,
    /// It could lead around the rules.
    #[error(transparent)]
    Beyond(#[from] Beyond),
    /// It would change permissions in a way that was not shown.
    #[error(transparent)]
    Unshown(#[from] Unshown),
    /// It is no message.
    #[error(transparent)]
    Unsayable(#[from] Unsayable),
    /// The files are not those that were agreed to.
    #[error(
        "the files of {0} were changed since they were shown: look at what they ask for now, and answer again"
    )]
    FilesChanged(String),
    /// The bridge does not do it.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Desk {
    /// A desk in front of a bridge.
    pub fn new(
        bridge: Bridge,
        agents: Arc<Agents>,
        projects: Projects,
        allowances: Allowances,
        audit: Arc<Mutex<Audit>>,
    ) -> Self {
        Self {
            bridge,
            agents,
            projects: Arc::new(projects),
            allowances,
            audit,
        }
    }

    /// The bridge behind it.
    pub fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    /// The agents that can be chosen.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The projects that may be looked at.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// Whether sessions may run without asking.
    pub fn allows_bypass(&self) -> bool {
        self.allowances.bypass == Bypass::Enabled
    }

    /// Begins a session, or opens the one that goes on with the same already: two agents must not write one transcript.
    ///
    /// # Errors
    /// When the directory or the mode is not allowed, there is no such agent, or no more may run.
    pub async fn start(&self, who: &Who, wish: Wish) -> Result<Begun, Denial> {
        let mut setup = wish.setup;
        self.check_mode(setup.permission_mode.as_ref())?;
        let roots = self.projects.roots();
        setup.directory = existing(roots, &setup.directory)?;
        for directory in &mut setup.additional_directories {
            *directory = existing(roots, directory)?;
        }
        let agent = match &wish.agent {
            Some(name) => self.agents.named(name)?,
            None => self.agents.default_choice(),
        };
        setup.agent.clone_from(&agent.name);
        check_options(&setup)?;
        if let From::Session { id, .. } = &setup.from {
            self.check_past(id).await?;
        }
        if setup.from == From::Latest {
            let latest = self.latest(&setup.directory).await?;
            setup.from = latest.map_or(From::Nothing, |id| From::Session {
                id,
                fork: false,
                at: None,
            });
        }
        let description = loop {
            let id = BridgeId::from_bits(fastrand::u32(..));
            let command = Command::Start(id.clone(), Box::new(setup.clone()));
            match self.bridge.command(command).await {
                Reply::Session(held) if held.record.id != id => return Ok(Begun::Held(held)),
                Reply::Session(description) => break description,
                Reply::Refused(Refusal::Taken(_)) => {}
                reply => return Err(unexpected(reply)),
            }
        };
        self.write_down(
            who,
            &Action::Started {
                session: description.record.id.to_string(),
                agent: description.record.agent.clone(),
                directory: description.record.directory.clone(),
            },
        );
        Ok(Begun::New(description))
    }

    /// Says something in a session; gives its number, and whether it waits and was known already.
    ///
    /// # Errors
    /// When there is no such session, that is no message of a person, or nothing can be taken in.
    pub async fn input(
        &self,
        session: &BridgeId,
        mut input: Input,
    ) -> Result<(u64, bool, bool), Denial> {
        self.check_place(session).await?;
        Unsayable::check(input.content.get())?;
        // The agent keeps it, so that what it wrote down can be told from what was said elsewhere.
        let id = || uuid::Uuid::new_v4().to_string().into();
        input.uuid.get_or_insert_with(id);
        match self
            .bridge
            .command(Command::Input(session.clone(), input))
            .await
        {
            Reply::Accepted {
                seq,
                queued,
                repeated,
            } => Ok((seq, queued, repeated)),
            reply => Err(unexpected(reply)),
        }
    }

    /// Answers a question; gives what that came to.
    ///
    /// # Errors
    /// When there is no such question any more, the answer does not fit it, or it would allow what is not allowed here.
    pub async fn answer(
        &self,
        who: &Who,
        session: &BridgeId,
        question: &str,
        decision: Decision,
    ) -> Result<Verdict, Denial> {
        let asked = self.question(session, question).await?;
        let verdict = Verdict::on(&asked, decision)?;
        self.check_updates(&asked, &verdict)?;
        let reply = self.bridge.command(Command::Answer {
            session: session.clone(),
            question: question.to_owned(),
            decision: verdict.decision.clone(),
            by: who.client.clone(),
        });
        match reply.await {
            Reply::Done(_) => {
                for action in answered(session, &asked, &verdict) {
                    self.write_down(who, &action);
                }
                Ok(verdict)
            }
            reply => Err(unexpected(reply)),
        }
    }

    /// An open question of a session.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn question(&self, session: &BridgeId, id: &str) -> Result<Question, Denial> {
        self.check_place(session).await?;
        let command = Command::Question(session.clone(), id.to_owned());
        match self.bridge.command(command).await {
            Reply::Question(question) => Ok(*question),
            reply => Err(unexpected(reply)),
        }
    }

    /// Has the agent of a session do something.
    ///
    /// # Errors
    /// When there is no such session, the mode is not allowed, or the agent refuses.
    pub async fn control(
        &self,
        who: &Who,
        session: &BridgeId,
        control: Control,
    ) -> Result<Option<Json>, Denial> {
        self.check_place(session).await?;
        if let Control::Other(request) = &control
            && let Some(beyond) = Beyond::of(request)
            && !self.allows_bypass()
        {
            return Err(beyond.into());
        }
        let mut action = None;
        if let Control::SetMode(mode) = &control {
            self.check_mode(Some(mode))?;
            action = Some(Action::ModeChanged {
                session: session.to_string(),
                mode: mode.to_string(),
            });
        }
        match self
            .bridge
            .command(Command::Control(session.clone(), control))
            .await
        {
            Reply::Done(answer) => {
                if let Some(action) = action {
                    self.write_down(who, &action);
                }
                Ok(answer)
            }
            reply => Err(unexpected(reply)),
        }
    }

    /// Gives a session a title; nothing takes it away.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn rename(&self, session: &BridgeId, title: Option<String>) -> Result<(), Denial> {
        self.check_place(session).await?;
        self.done(Command::Rename(session.clone(), title)).await
    }

    /// Goes back to a message of a session, as if what came after it had not been said.
    ///
    /// # Errors
    /// When there is no such session, it is at work, or there is nothing to go back to.
    pub async fn rewind(&self, session: &BridgeId, to: Uuid) -> Result<(), Denial> {
        self.check_place(session).await?;
        self.done(Command::Rewind(session.clone(), to)).await
    }

    /// The session of the bridge that the agent calls so, if there is one: the latest, if there are several.
    ///
    /// # Errors
    /// When the bridge is ending.
    pub async fn held(&self, session: &SessionId) -> Result<Option<Description>, Denial> {
        let held = self.sessions().await?.into_iter();
        Ok(held
            .filter(|held| held.record.agent_session_id.as_ref() == Some(session))
            .max_by_key(|held| held.record.active_at))
    }

    /// The latest session in a directory, wherever it was held; nothing if there is none.
    ///
    /// # Errors
    /// When the directory may not be used, or its sessions cannot be listed.
    pub async fn latest(&self, directory: &str) -> Result<Option<SessionId>, Denial> {
        let listed = self.recent(Recent {
            limit: 1,
            offset: 0,
            project: Some(directory.into()),
            words: None,
            time: LOOK,
        });
        let listed = listed.await?;
        let latest = listed.sessions.first();
        Ok(latest.map(|latest| latest.summary.session.key().as_str().into()))
    }

    /// The latest sessions on this machine, as far as they were held where may be looked: every list of them is made here.
    ///
    /// # Errors
    /// When the project is outside of the roots, or the sessions cannot be listed.
    pub async fn recent(&self, mut query: Recent) -> Result<Listed, Denial> {
        let roots = self.projects.roots();
        if let Some(project) = &query.project {
            query.project = Some(roots.existing(project)?.into());
        }
        let listed = self.bridge.library().recent(query, roots.clone()).await;
        listed.map_err(|error| Denial::Refused(Refusal::Busy(error.to_string())))
    }

    /// Whether the person trusts a folder, and what its files would have if so.
    ///
    /// # Errors
    /// When the folder, or that of the repository it is in, is outside of the roots, or the person's state cannot be read.
    pub async fn trust_of(&self, directory: &str) -> Result<FolderTrust, Denial> {
        let roots = self.projects.roots();
        let directory = roots.existing(Path::new(directory))?;
        let trust = self.bridge.library().trust_of(directory.into()).await;
        let trust = trust.map_err(|error| Refusal::Busy(error.to_string()))?;
        // To trust it would be to trust what may not even be looked at here.
        roots.existing(&trust.folder)?;
        Ok(trust)
    }

    /// Records what a person says of a folder. Agents that are started from then on go by it.
    ///
    /// # Errors
    /// When the folder is outside of the roots, its files are not those that were shown, or the person's state cannot be
    /// written.
    pub async fn answer_trust(
        &self,
        who: &Who,
        directory: &str,
        answer: TrustAnswer,
    ) -> Result<FolderTrust, Denial> {
        let before = self.trust_of(directory).await?;
        let folder = before.folder.display().to_string();
        let directory = self.projects.roots().existing(Path::new(directory))?;
        let action = match &answer {
            TrustAnswer::Trust { .. } => Action::Trusted {
                directory: folder.clone(),
                counts: input_summary(&before.lines().join("; ")),
            },
            TrustAnswer::DoNotTrust => Action::NotTrusted {
                directory: folder.clone(),
            },
        };
        let outcome = self
            .bridge
            .library()
            .answer_trust(directory.into(), answer)
            .await;
        match outcome.map_err(|error| Refusal::Busy(error.to_string()))? {
            TrustOutcome::Recorded(trust) => {
                self.write_down(who, &action);
                Ok(trust)
            }
            TrustOutcome::FilesChanged => Err(Denial::FilesChanged(folder)),
        }
    }

    /// What was said in a place that may not be seen is not for here either.
    ///
    /// # Errors
    /// When that is no session id (agents take file names and titles, too, which lead anywhere), when the session was held
    /// outside of the roots or does not say where, and when that cannot be found out.
    pub async fn check_past(&self, session: &SessionId) -> Result<(), Denial> {
        if session.as_str().parse::<SessionKey>().is_err() {
            let why = format!(
                "{:?} is no session id: it has to be a UUID",
                session.as_str()
            );
            return Err(Denial::Refused(Refusal::Unfit(why)));
        }
        let place = self.bridge.library().place(session.clone()).await;
        match place.map_err(|error| Refusal::Unfit(error.to_string()))? {
            // Of a session that is not there, nothing can be seen.
            Place::Nowhere => Ok(()),
            Place::In(directory) => {
                self.projects.roots().resolve(&directory)?;
                Ok(())
            }
            Place::Unsaid => {
                let why = format!("session {session} does not say where it was held");
                Err(Denial::Refused(Refusal::Unfit(why)))
            }
        }
    }

    /// Puts a session that was stopped back into the lists.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn reopen(&self, session: &BridgeId) -> Result<(), Denial> {
        self.check_place(session).await?;
        self.done(Command::Reopen(session.clone())).await
    }

    /// Stops a session.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn stop(&self, who: &Who, session: &BridgeId) -> Result<(), Denial> {
        self.done(Command::Stop(session.clone())).await?;
        let session = session.to_string();
        self.write_down(who, &Action::Stopped { session });
        Ok(())
    }

    /// All sessions of the bridge that work where may be worked. The log may know others, from when it had other roots.
    ///
    /// # Errors
    /// When the bridge is ending.
    pub async fn sessions(&self) -> Result<Vec<Description>, Denial> {
        let mut sessions = match self.bridge.command(Command::List).await {
            Reply::Sessions(sessions) => sessions,
            reply => return Err(unexpected(reply)),
        };
        let roots = self.projects.roots();
        let mut known = HashMap::new();
        sessions.retain(|session| {
            let directory = &session.record.directory;
            let is_inside = || roots.resolve(Path::new(directory)).is_ok();
            *known.entry(directory.clone()).or_insert_with(is_inside)
        });
        Ok(sessions)
    }

    /// Where these words were said in sessions of the bridge.
    ///
    /// # Errors
    /// When the log cannot be read, or the bridge is ending.
    pub async fn search(&self, words: String, limit: usize) -> Result<Vec<Hit>, Denial> {
        let seen = self.sessions().await?.into_iter();
        let seen = seen.map(|session| session.record.id).collect();
        let found = self.bridge.library().search(words, limit, seen).await;
        found.map_err(|error| Denial::Refused(Refusal::Busy(error.to_string())))
    }

    /// What is known of a session.
    ///
    /// # Errors
    /// When there is no such session, or it works where may not be worked.
    pub async fn describe(&self, session: &BridgeId) -> Result<Description, Denial> {
        match self
            .bridge
            .command(Command::Describe(session.clone()))
            .await
        {
            Reply::Session(description) => {
                let directory = Path::new(&description.record.directory);
                self.projects.roots().resolve(directory)?;
                Ok(*description)
            }
            reply => Err(unexpected(reply)),
        }
    }

    /// A session that the log has from when the bridge had other roots is neither woken nor read.
    async fn check_place(&self, session: &BridgeId) -> Result<(), Denial> {
        self.describe(session).await.map(|_| ())
    }

    /// How much is there, and how much was done.
    ///
    /// # Errors
    /// When the bridge is ending.
    pub async fn figures(&self) -> Result<Figures, Denial> {
        match self.bridge.command(Command::Figures).await {
            Reply::Figures(figures) => Ok(*figures),
            reply => Err(unexpected(reply)),
        }
    }

    /// How many entries of the audit could not be written and are missing now.
    pub fn audit_losses(&self) -> u64 {
        let audit = self.audit.lock().unwrap_or_else(PoisonError::into_inner);
        audit.lost()
    }

    /// Writes down who did something.
    pub fn write_down(&self, who: &Who, action: &Action) {
        let mut audit = self.audit.lock().unwrap_or_else(PoisonError::into_inner);
        audit.record(Timestamp::now(), who, action);
    }

    async fn done(&self, command: Command) -> Result<(), Denial> {
        match self.bridge.command(command).await {
            Reply::Done(_) => Ok(()),
            reply => Err(unexpected(reply)),
        }
    }

    /// What goes with an answer must not reach further than a session that begins may.
    fn check_updates(&self, asked: &Question, verdict: &Verdict) -> Result<(), Denial> {
        for mode in verdict.modes() {
            self.check_mode(Some(mode))?;
        }
        let suggested = suggestions(asked);
        let suggested: Vec<_> = directories(&suggested).collect();
        // What the agent asks for by itself was shown to whoever answers.
        for directory in directories(verdict.updates()).filter(|given| !suggested.contains(given)) {
            self.projects.roots().existing(Path::new(directory))?;
        }
        if self.allowances.any_rule == AnyRule::Refused {
            Unshown::check(asked, verdict)?;
        }
        Ok(())
    }

    fn check_mode(&self, mode: Option<&PermissionMode>) -> Result<(), Denial> {
        let bypasses = mode == Some(&PermissionMode::BypassPermissions);
        if bypasses && self.allowances.bypass == Bypass::Refused {
            return Err(Denial::Bypass);
        }
        match mode {
            Some(PermissionMode::Unknown(word)) => {
                let why = format!(
                    "there is no permission mode `{word}`: it is default, acceptEdits, plan, bypassPermissions, \
                     dontAsk or auto"
                );
                Err(Refusal::Unfit(why).into())
            }
            _ => Ok(()),
        }
    }
}

/// Makes the commands that start agents, for [`Bridge::start`].
///
/// Where an agent works is checked and opened here, and it starts in what was opened: a folder that becomes a link after
/// the check does not lead it out of the roots.
pub fn launch(
    agents: Arc<Agents>,
    roots: Roots,
    bypass: Bypass,
    question_timeout: Option<Duration>,
) -> Launch {
    Arc::new(move |setup: &Setup| {
        let path = Path::new(&setup.directory);
        let directory = roots.existing(path).map_err(|error| error.to_string())?;
        let directory =
            Directory::open(&directory).map_err(|error| format!("{}: {error}", setup.directory))?;
        let agent = agents
            .named(&setup.agent)
            .map_err(|error| error.to_string())?;
        Ok(agent
            .command(setup, bypass)
            .opened_dir(directory)
            .question_timeout(question_timeout))
    })
}

/// Writes down which questions nobody answered in time, for [`Bridge::start`].
pub fn unanswered(audit: Arc<Mutex<Audit>>) -> Unanswered {
    Arc::new(move |session: &BridgeId, question: &Question| {
        let action = Action::TimedOut {
            session: session.to_string(),
            tool: question.tool_name.to_string(),
            input: input_summary(question.input.get()),
        };
        let mut audit = audit.lock().unwrap_or_else(PoisonError::into_inner);
        audit.record_unasked(Timestamp::now(), &action);
    })
}

fn check_options(setup: &Setup) -> Result<(), Denial> {
    let unfit = |what: String| Err(Denial::Refused(Refusal::Unfit(what)));
    if let Some(word) = &setup.options.effort
        && effort(word).is_none()
    {
        return unfit(format!(
            "there is no effort `{word}`: it is low, medium, high, xhigh or max"
        ));
    }
    match setup.options.max_budget_usd {
        Some(dollars) if !dollars.is_finite() || dollars <= 0.0 => {
            unfit(format!("a budget of {dollars} dollars is none"))
        }
        _ => Ok(()),
    }
}

fn existing(roots: &Roots, path: &str) -> Result<String, RootError> {
    let found = roots.existing(Path::new(path))?;
    Ok(found.to_string_lossy().into_owned())
}

/// The directories that updates add.
fn directories(updates: &[PermissionUpdate]) -> impl Iterator<Item = &str> {
    updates
        .iter()
        .filter(|update| update.kind == Some(UpdateKind::AddDirectories))
        .flat_map(|update| update.directories.iter().flatten())
        .map(towline_protocol::Text::as_str)
}

/// What was done with an answer.
fn answered(session: &BridgeId, asked: &Question, verdict: &Verdict) -> Vec<Action> {
    let (session, tool) = (session.to_string(), asked.tool_name.to_string());
    let input = input_summary(asked.input.get());
    let changed = verdict.modes().map(|mode| Action::ModeChanged {
        session: session.clone(),
        mode: mode.to_string(),
    });
    let changed: Vec<_> = changed.collect();
    let approved = |extent: &str| Action::Approved {
        session: session.clone(),
        tool: tool.clone(),
        input: input.clone(),
        extent: extent.to_owned(),
        changes: shown::changes(verdict.updates())
            .iter()
            .map(|change| input_summary(change))
            .collect(),
    };
    let action = match verdict.outcome {
        Outcome::Allowed => approved("once"),
        Outcome::AllowedForSession => approved("session"),
        Outcome::AllowedAndSaved => approved("saved"),
        Outcome::Answered => Action::Answered {
            session,
            tool,
            input,
        },
        // Whatever else comes of an answer, nothing has run.
        _ => Action::Denied {
            session,
            tool,
            input,
        },
    };
    std::iter::once(action).chain(changed).collect()
}

fn unexpected(reply: Reply) -> Denial {
    match reply {
        Reply::Refused(refusal) => Denial::Refused(refusal),
        // A command has one kind of reply besides a refusal.
        other => Denial::Refused(Refusal::Busy(format!("the bridge replied {other:?}"))),
    }
}

/// How long the latest session is looked for.
const LOOK: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::{ApiKey, Found};

    /// Between the check of a folder and the start of the agent a link came in its place.
    #[test]
    fn an_agent_started_where_a_link_led_out_of_the_roots_by_then() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["root/project", "outside"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        let found = Found {
            towline: "/bin/towline".into(),
            claude: None,
            api_key: ApiKey::Absent,
        };
        let agents = Arc::new(Agents::new(&found, &[], None).unwrap());
        let roots = Roots::new([base.join("root")]).unwrap();
        let setup = Setup {
            directory: base.join("root/project").to_str().unwrap().into(),
            agent: agents.default_choice().name.clone(),
            ..Setup::default()
        };
        let launch = launch(agents, roots, Bypass::Refused, None);
        assert!(launch(&setup).is_ok());
        std::fs::rename(base.join("root/project"), base.join("root/aside")).unwrap();
        std::os::unix::fs::symlink("../outside", base.join("root/project")).unwrap();
        let refused = launch(&setup).unwrap_err();
        assert!(refused.contains("none of the folders"), "{refused}");
    }
}
