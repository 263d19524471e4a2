//! Sessions that an app begins: new ones, old ones, copies.

use towline_protocol::{
    Number, PermissionMode, SessionId, Text,
    dialect::pocket::{
        Effort, ExecutionMode, Fork, Provider, ResumeSession, Start, System, SystemKind, ToClient,
    },
};

use crate::{
    Denial, Wish,
    hub::{Description, From, Refusal, Setup, SetupOptions},
};

use super::{
    Connection, Gone,
    frames::{in_mode, told},
};

impl Connection {
    pub(super) async fn start(&mut self, start: Start) -> Result<(), Gone> {
        if let Err(denial) = self.may_begin() {
            return self.refuse(&denial, None).await;
        }
        match self.started(start).await {
            Ok((session, is_old)) => {
                let system = created(&session, None);
                self.send(&system).await?;
                if is_old {
                    self.send_past(&session).await?;
                }
                Ok(())
            }
            Err(denial) => self.refuse(&denial, None).await,
        }
    }

    /// The session, and whether something was said in it before.
    async fn started(&mut self, start: Start) -> Result<(Description, bool), Denial> {
        let options = Options::of_start(&start);
        options.check()?;
        if start.use_worktree == Some(true) && start.existing_worktree_path.is_none() {
            return Err(unfit(
                "no worktree is made here: make one with git and name it in existingWorktreePath",
            ));
        }
        let directory = match &start.existing_worktree_path {
            Some(worktree) => worktree.to_string(),
            None => start.project_path.to_string(),
        };
        let session = match start.session_id {
            Some(session) => Some(session),
            None if start.continue_latest == Some(true) => self.desk().latest(&directory).await?,
            None => None,
        };
        // An addition of ours: an agent by its name.
        let named = start.extra.get("agent");
        let named = named.and_then(|agent| agent.parse::<String>().ok());
        let is_old = session.is_some();
        let fork = start.fork_session == Some(true);
        let session = self
            .begin(options.wish(directory, session, fork, named))
            .await?;
        Ok((session, is_old))
    }

    pub(super) async fn resume(&mut self, resume: ResumeSession) -> Result<(), Gone> {
        let request = resume.resume_request_id.clone();
        let about = |subtype| System {
            claude_session_id: Some(resume.session_id.clone()),
            project_path: Some(resume.project_path.clone()),
            resume_request_id: request.clone(),
            ..told(subtype)
        };
        let started = about(SystemKind::SessionResumeStarted);
        self.send(&ToClient::System(Box::new(started))).await?;
        let options = Options::of_resume(&resume);
        let begun = match self.may_begin().and_then(|()| options.check()) {
            Ok(()) => {
                let fork = resume.fork_session == Some(true);
                let session = Some(resume.session_id.clone());
                let directory = resume.project_path.to_string();
                self.begin(options.wish(directory, session, fork, None))
                    .await
            }
            Err(denial) => Err(denial),
        };
        match begun {
            Ok(session) => {
                let system = created(&session, request);
                self.send(&system).await?;
                self.send_past(&session).await
            }
            Err(denial) => {
                let mut failed = about(SystemKind::SessionResumeFailed);
                let why = super::frames::json_of(&denial.to_string());
                failed.extra.insert("message", why);
                self.send(&ToClient::System(Box::new(failed))).await?;
                self.refuse(&denial, None).await
            }
        }
    }

    pub(super) async fn fork(&mut self, fork: Fork) -> Result<(), Gone> {
        match self.forked(&fork).await {
            Ok(session) => {
                let mut system = system_of(&session);
                system.source_session_id = Some(fork.session_id);
                self.send(&ToClient::System(Box::new(system))).await
            }
            Err(denial) => self.refuse(&denial, Some(&fork.session_id)).await,
        }
    }

    async fn forked(&mut self, fork: &Fork) -> Result<Description, Denial> {
        self.may_begin()?;
        let source = self.desk().describe(&fork.session_id).await?.record;
        let Some(id) = source.agent_session_id else {
            return Err(unfit(
                "nothing was said yet: there is nothing to go on from",
            ));
        };
        let wish = Wish {
            agent: Some(source.agent),
            setup: Setup {
                directory: source.directory,
                additional_directories: source.additional_directories,
                model: source.model,
                permission_mode: source.permission_mode,
                from: From::Session {
                    id,
                    fork: true,
                    at: Some(fork.target_uuid.clone()),
                },
                options: source.options,
                ..Setup::default()
            },
        };
        self.begin(wish).await
    }

    async fn begin(&mut self, wish: Wish) -> Result<Description, Denial> {
        Ok(self.desk().start(&self.who, wish).await?.description())
    }

    fn may_begin(&self) -> Result<(), Denial> {
        match &self.only {
            Some(only) => Err(unfit(&format!(
                "this connection is for session {only} alone: connect without ?session= to begin one"
            ))),
            None => Ok(()),
        }
    }
}

/// What `start` and `resume_session` have in common.
struct Options {
    permission_mode: Option<PermissionMode>,
    execution_mode: Option<ExecutionMode>,
    plan_mode: Option<bool>,
    provider: Option<Provider>,
    model: Option<Text>,
    effort: Option<Effort>,
    max_turns: Option<u64>,
    max_budget_usd: Option<Number>,
    fallback_model: Option<Text>,
    persist_session: Option<bool>,
    sandbox_mode: Option<Text>,
    additional_writable_roots: Option<Vec<Text>>,
}

/// Takes the common fields of a message.
macro_rules! options_of {
    ($message:expr) => {
        Options {
            permission_mode: $message.permission_mode.clone(),
            execution_mode: $message.execution_mode.clone(),
            plan_mode: $message.plan_mode,
            provider: $message.provider.clone(),
            model: $message.model.clone(),
            effort: $message.effort.clone(),
            max_turns: $message.max_turns,
            max_budget_usd: $message.max_budget_usd.clone(),
            fallback_model: $message.fallback_model.clone(),
            persist_session: $message.persist_session,
            sandbox_mode: $message.sandbox_mode.clone(),
            additional_writable_roots: $message.additional_writable_roots.clone(),
        }
    };
}

impl Options {
    fn of_start(start: &Start) -> Self {
        options_of!(start)
    }

    fn of_resume(resume: &ResumeSession) -> Self {
        options_of!(resume)
    }

    /// What cannot be had must not be taken for had.
    fn check(&self) -> Result<(), Denial> {
        match self.sandbox_mode.as_deref() {
            None | Some("off" | "none" | "disabled" | "danger-full-access") => Ok(()),
            Some(mode) => Err(unfit(&format!(
                "there is no sandbox here, so `{mode}` cannot be had: leave sandboxMode out"
            ))),
        }
    }

    fn mode(&self) -> Option<PermissionMode> {
        if self.plan_mode == Some(true) {
            return Some(PermissionMode::Plan);
        }
        let step = self.execution_mode.as_ref().map(|step| match step {
            ExecutionMode::Default => PermissionMode::Default,
            ExecutionMode::AcceptEdits => PermissionMode::AcceptEdits,
            ExecutionMode::FullAccess => PermissionMode::BypassPermissions,
            ExecutionMode::Unknown(word) => word.as_str().into(),
        });
        self.permission_mode.clone().or(step)
    }

    fn wish(
        &self,
        directory: String,
        session: Option<SessionId>,
        fork: bool,
        agent: Option<String>,
    ) -> Wish {
        let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        let provider = self.provider.as_ref();
        let provider = provider.filter(|provider| **provider != Provider::Claude);
        Wish {
            // Whose agent it is matters only where it is another one: then there must be one of its name.
            agent: agent.or_else(|| provider.map(|provider| provider.as_str().to_owned())),
            setup: Setup {
                directory,
                additional_directories: self
                    .additional_writable_roots
                    .iter()
                    .flatten()
                    .map(ToString::to_string)
                    .collect(),
                model: text(&self.model),
                permission_mode: self.mode(),
                from: session.map_or(From::Nothing, |id| From::Session { id, fork, at: None }),
                options: SetupOptions {
                    effort: self
                        .effort
                        .as_ref()
                        .map(|effort| effort.as_str().to_owned()),
                    max_turns: self.max_turns,
                    max_budget_usd: self.max_budget_usd.as_ref().map(Number::as_f64),
                    fallback_model: text(&self.fallback_model),
                    forget: self.persist_session == Some(false),
                },
                ..Setup::default()
            },
        }
    }
}

fn created(session: &Description, resume_request_id: Option<Text>) -> ToClient {
    ToClient::System(Box::new(System {
        resume_request_id,
        ..system_of(session)
    }))
}

fn system_of(session: &Description) -> System {
    let record = &session.record;
    let mut system = System {
        session_id: Some(record.id.clone()),
        claude_session_id: record.agent_session_id.clone(),
        model: record.model.as_deref().map(Into::into),
        provider: Some(Provider::Claude),
        project_path: Some(record.directory.as_str().into()),
        ..told(SystemKind::SessionCreated)
    };
    in_mode(&mut system, record.permission_mode.as_ref());
    system
}

fn unfit(why: &str) -> Denial {
    Denial::Refused(Refusal::Unfit(why.to_owned()))
}
