//! What a session is while it runs: whose it is, what was said, what may be done, what it has cost.

use std::{path::PathBuf, time::Duration};

use towline_permission::{Places, Policy};
use towline_protocol::{PermissionMode, SessionId, Text};

use crate::{
    AgentDefinition, Config, Questions,
    history::History,
    model::{
        Request,
        catalogue::{self, ModelFacts},
        cost::Costs,
    },
    resume::Resumed,
};

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its id.
    pub(crate) id: SessionId,
    /// The conversation.
    pub(crate) history: History,
    /// Rules, mode and directories.
    pub(crate) policy: Policy,
    /// The model's full name.
    pub(crate) model: String,
    /// What it has cost.
    pub(crate) costs: Costs,
    /// How long the API took in all.
    pub(crate) api_duration: Duration,
    /// Its title.
    pub(crate) title: Option<Text>,
    /// The system prompt that the host gave, instead of ours.
    pub(crate) system_prompt: Option<String>,
    /// What the host wants after the system prompt.
    pub(crate) append_system_prompt: Option<String>,
    /// What the host wants of a plan (`planModeInstructions`).
    pub(crate) plan_instructions: Option<String>,
    /// What the model was told of planning, until it was told that this is over.
    pub(crate) plan_told: Option<String>,
}

impl Session {
    /// A session that begins, and what is to be told of its rules.
    pub(crate) fn new(config: &Config, resumed: Option<&Resumed>) -> (Self, Vec<String>) {
        let places = Places {
            project: config.cwd.to_string_lossy().into_owned(),
            current: config.cwd.to_string_lossy().into_owned(),
            home: config.user_home.to_string_lossy().into_owned(),
            config: config.home.folder().to_string_lossy().into_owned(),
            flag_settings: None,
        };
        let (mut policy, notices) = config.permissions.policy(places);
        policy.can_ask = config.questions != Questions::Nobody;
        let goes_on = resumed.filter(|resumed| !resumed.is_fork);
        let id = match (goes_on, &config.session.id) {
            (Some(resumed), _) => resumed.session.key().to_id(),
            (None, Some(key)) => key.to_id(),
            (None, None) => uuid::Uuid::new_v4().to_string().into(),
        };
        let session = Self {
            id,
            history: resumed.map_or_else(History::default, |resumed| resumed.history.clone()),
            policy,
            model: model(config, None).to_owned(),
            costs: resumed
                .and_then(|resumed| resumed.cost.as_ref())
                .map_or_else(Costs::default, Costs::restore),
            api_duration: Duration::ZERO,
            title: match &config.session.title {
                Some(title) => Some(title.as_str().into()),
                None => resumed.and_then(|resumed| resumed.title.clone()),
            },
            system_prompt: config.prompt.replace.clone(),
            append_system_prompt: config.prompt.append.clone(),
            plan_instructions: None,
            plan_told: resumed.and_then(|resumed| resumed.plan_told.clone()),
        };
        (session, notices)
    }

    /// Becomes an agent, as far as nobody asked for another model.
    pub(crate) fn take_model_of(&mut self, config: &Config, agent: &AgentDefinition) {
        self.model = model(config, Some(agent)).to_owned();
    }

    /// What is known of its model.
    pub(crate) fn facts(&self) -> &'static ModelFacts {
        catalogue::facts(&self.model)
    }

    /// The mode, as lines have it.
    pub(crate) fn mode(&self) -> &PermissionMode {
        &self.policy.mode
    }

    /// Where the shell is.
    pub(crate) fn current(&self) -> PathBuf {
        PathBuf::from(&self.policy.places.current)
    }

    /// A request with the conversation so far.
    pub(crate) fn request(&self, config: &Config) -> Request {
        Request {
            model: self.model.clone(),
            messages: self.history.messages(),
            max_tokens: catalogue::max_tokens(&self.model, &config.model),
            thinking: catalogue::thinking(&self.model, &config.model),
            thinking_display: config.model.thinking_display.clone(),
            effort: catalogue::effort(&self.model, &config.model),
            betas: config.model.betas.clone(),
            session_id: self.id.to_string(),
            ..Request::default()
        }
    }
}

/// The full name of the model: the one that was asked for, else the agent's, else the usual one.
fn model<'a>(config: &'a Config, agent: Option<&'a AgentDefinition>) -> &'a str {
    let options = &config.model;
    let of_agent = agent.and_then(|agent| agent.model.as_deref());
    let name = options.name.as_deref().or(of_agent);
    catalogue::resolve(name.or(options.usual.as_deref()))
}
