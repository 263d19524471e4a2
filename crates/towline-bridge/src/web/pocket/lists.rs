//! Lists for the app: sessions of the bridge, sessions on disk, projects.

use std::time::Duration;

use towline_protocol::{
    Json, Text,
    dialect::pocket::{
        BridgeId, LinkStatus, ListRecentSessions, PendingPermission, ProjectHistory, Provider,
        RecentSession, RecentSessions, ResolveSessionLink, SessionLink, SessionList,
        SessionSummary, ToClient,
    },
};

use crate::{
    Desk,
    hub::Description,
    past::{PastSession, Recent},
};

use super::{
    denied,
    frames::{steps, time},
};

/// `session_list`
pub(super) async fn sessions(desk: &Desk, only: Option<&BridgeId>) -> ToClient {
    let mut sessions = match desk.sessions().await {
        Ok(sessions) => sessions,
        Err(denial) => return denied(&denial, None),
    };
    sessions.retain(|session| {
        !session.record.archived && only.is_none_or(|only| session.record.id == *only)
    });
    sessions.sort_by_key(|session| std::cmp::Reverse(session.record.active_at));
    let models = sessions.iter().find_map(models);
    let folders = desk.projects().roots().folders().iter();
    let folders = folders.map(|folder| folder.to_string_lossy().into_owned().into());
    ToClient::SessionList(Box::new(SessionList {
        sessions: sessions.iter().map(summary).collect(),
        allowed_dirs: Some(folders.collect()),
        claude_models: Some(models.unwrap_or_default()),
        bridge_version: Some(env!("CARGO_PKG_VERSION").into()),
        ..SessionList::default()
    }))
}

fn summary(session: &Description) -> SessionSummary {
    let record = &session.record;
    let (execution_mode, plan_mode) = steps(record.permission_mode.as_ref());
    let pending = session.questions.first().map(|question| PendingPermission {
        tool_use_id: question.id.as_str().into(),
        tool_name: question.tool_name.clone(),
        input: Json::new(question.input.get()).unwrap_or_else(|_| Json::empty_object()),
        extra: Default::default(),
    });
    SessionSummary {
        id: record.id.clone(),
        provider: Some(Provider::Claude),
        project_path: Some(record.directory.as_str().into()),
        claude_session_id: record.agent_session_id.clone(),
        name: record.title.as_deref().map(Into::into),
        status: Some(record.status.clone()),
        created_at: time(record.created_at),
        last_activity_at: time(record.active_at),
        last_message: Some(record.last_message.as_deref().unwrap_or_default().into()),
        permission_mode: record.permission_mode.clone(),
        execution_mode,
        plan_mode,
        model: record.model.as_deref().map(Into::into),
        pending_permission: pending,
        ..SessionSummary::default()
    }
}

/// The models that an agent says it has.
fn models(session: &Description) -> Option<Vec<Text>> {
    #[derive(serde::Deserialize)]
    struct About {
        models: Vec<Model>,
    }
    #[derive(serde::Deserialize)]
    struct Model {
        value: String,
    }
    let about: About = serde_json::from_str(session.about.as_ref()?.get()).ok()?;
    let models = about.models.into_iter().map(|model| model.value.into());
    Some(models.collect())
}

/// `project_history`: where sessions of the bridge have worked, then where others have, as far as they may be used.
pub(super) async fn projects(desk: &Desk) -> ToClient {
    let mut sessions = match desk.sessions().await {
        Ok(sessions) => sessions,
        Err(denial) => return denied(&denial, None),
    };
    sessions.sort_by_key(|session| std::cmp::Reverse(session.record.active_at));
    let mut projects: Vec<Text> = Vec::new();
    let mut add = |project: String| {
        if projects.len() < MOST_PROJECTS && projects.iter().all(|known| **known != *project) {
            projects.push(project.into());
        }
    };
    for session in sessions {
        add(session.record.directory);
    }
    let query = Recent {
        limit: LOOKED_AT,
        offset: 0,
        project: None,
        words: None,
        time: LOOK,
    };
    // Without the sessions that were held elsewhere the list is shorter, and still a list.
    if let Ok(listed) = desk.recent(query).await {
        for session in listed.sessions {
            let folder = session.summary.cwd.as_deref();
            // As it really is, so that one that is known by two names is listed once.
            let folder = folder.and_then(|folder| desk.projects().roots().existing(folder).ok());
            if let Some(folder) = folder {
                add(folder.to_string_lossy().into_owned());
            }
        }
    }
    ToClient::ProjectHistory(ProjectHistory {
        projects,
        ..ProjectHistory::default()
    })
}

/// `recent_sessions`
pub(super) async fn recent(desk: &Desk, request: &ListRecentSessions) -> ToClient {
    let limit = request.limit.unwrap_or(FEW).clamp(1, MOST_RECENT);
    let offset = request.offset.unwrap_or(0);
    let named_only = request.named_only == Some(true);
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let is_ours = !matches!(&request.provider, Some(provider) if *provider != Provider::Claude);
    let mut found = Vec::new();
    let mut has_more = false;
    if is_ours {
        let query = Recent {
            // One more than is wanted tells whether there are more; named ones have to be looked for among all.
            limit: if named_only {
                LOOKED_AT
            } else {
                whole(limit) + 1
            },
            offset: if named_only { 0 } else { whole(offset) },
            project: request.project_path.as_deref().map(Into::into),
            words: request.search_query.as_ref().map(ToString::to_string),
            time: LOOK,
        };
        match desk.recent(query).await {
            Ok(listed) => found = listed.sessions,
            Err(denial) => return denied(&denial, None),
        }
        if named_only {
            found.retain(|session| session.summary.custom_title.is_some());
            found.drain(..whole(offset).min(found.len()));
        }
        has_more = found.len() > whole(limit);
        found.truncate(whole(limit));
    }
    ToClient::RecentSessions(Box::new(RecentSessions {
        sessions: found.iter().map(recent_session).collect(),
        has_more: Some(has_more),
        limit: Some(limit),
        offset: Some(offset),
        project_path: request.project_path.clone(),
        request_scope: request.request_scope.clone(),
        request_id: request.request_id.clone(),
        ..RecentSessions::default()
    }))
}

fn recent_session(session: &PastSession) -> RecentSession {
    let summary = &session.summary;
    let text = |text: &Option<String>| text.as_deref().map(Text::from);
    RecentSession {
        session_id: summary.session.key().as_str().into(),
        provider: Some(Provider::Claude),
        name: text(&summary.custom_title),
        summary: Some(summary.title.as_str().into()),
        first_prompt: Some(text(&summary.first_prompt).unwrap_or_default()),
        last_prompt: text(&summary.last_prompt),
        created: summary.created.map(|at| at.to_string().into()),
        modified: Some(summary.modified.to_string().into()),
        git_branch: Some(text(&summary.git_branch).unwrap_or_default()),
        project_path: summary
            .cwd
            .as_ref()
            .map(|cwd| cwd.to_string_lossy().into_owned().into()),
        is_sidechain: Some(false),
        ..RecentSession::default()
    }
}

/// `session_link_resolution`
pub(super) async fn link(desk: &Desk, request: &ResolveSessionLink) -> ToClient {
    let mut link = SessionLink {
        request_id: request.request_id.clone(),
        source_session_id: request.session_id.clone(),
        status: LinkStatus::Unavailable,
        bridge_session_id: None,
        provider: Some(Provider::Claude),
        recent_session: None,
        extra: Default::default(),
    };
    let wanted = request.session_id.as_str();
    let sessions = desk.sessions().await.unwrap_or_default();
    let held = sessions.iter().find(|session| {
        let record = &session.record;
        !record.archived
            && (record.id == wanted
                || record
                    .agent_session_id
                    .as_ref()
                    .is_some_and(|id| id == wanted))
    });
    if let Some(held) = held {
        link.status = LinkStatus::Live;
        link.bridge_session_id = Some(held.record.id.clone());
    } else if let Some(old) = on_disk(desk, wanted).await {
        link.status = LinkStatus::Recent;
        link.recent_session = Some(old);
    }
    ToClient::SessionLinkResolution(Box::new(link))
}

async fn on_disk(desk: &Desk, wanted: &str) -> Option<RecentSession> {
    let query = Recent {
        limit: LOOKED_AT,
        offset: 0,
        project: None,
        words: None,
        time: LOOK,
    };
    let listed = desk.recent(query).await.ok()?;
    let mut sessions = listed.sessions.iter();
    let found = sessions.find(|session| session.summary.session.key().as_str() == wanted)?;
    Some(recent_session(found))
}

/// How many sessions are listed if nobody says how many.
const FEW: u64 = 20;
/// How many are listed at most.
const MOST_RECENT: u64 = 200;
/// How many sessions are looked at for something in particular.
const LOOKED_AT: usize = 2000;
/// How many projects are listed.
const MOST_PROJECTS: usize = 100;
/// How long words are looked for.
const LOOK: Duration = Duration::from_secs(5);
