//! What an app asks that takes its time: files, changes, worktrees, old sessions, and what an agent has to do first.

use towline_protocol::{
    Nullable, SessionId, Text, Uuid, Wire,
    dialect::pocket::{
        ArchiveResult, ArchiveSession, BridgeId, PlanUsage, Provider, PushRegister,
        PushRegistration, RenameResult, RenameSession, Rewind, RewindDryRun, RewindMode,
        RewindPreview, RewindResult, SetPermissionMode, ToClient, ToServer, UsageResult,
    },
};

use crate::{
    Denial, Desk,
    access::Who,
    hub::{Control, Refusal},
};

use super::{denied, inputs::latest, lists};

/// The answers to a request.
pub(super) async fn answer(desk: &Desk, who: &Who, request: ToServer) -> Vec<ToClient> {
    let projects = desk.projects();
    let answer = match request {
        ToServer::ListRecentSessions(request) => lists::recent(desk, &request).await,
        ToServer::ListProjectHistory(_) => lists::projects(desk).await,
        ToServer::ResolveSessionLink(request) => lists::link(desk, &request).await,
        ToServer::Interrupt(interrupt) => {
            return obeyed(desk, who, interrupt.session_id, Control::Interrupt).await;
        }
        ToServer::SetPermissionMode(request) => return set_mode(desk, who, request).await,
        ToServer::RenameSession(request) => ToClient::RenameResult(rename(desk, &request).await),
        ToServer::ArchiveSession(request) => {
            ToClient::ArchiveResult(archive(desk, who, &request).await)
        }
        ToServer::ReadFile(request) => {
            ToClient::FileContent(Box::new(projects.read_file(&request).await))
        }
        ToServer::ListFiles(request) => {
            ToClient::FileList(Box::new(projects.list_files(&request).await))
        }
        ToServer::ListDirectory(request) => match projects.list_directory(&request).await {
            Ok(listing) => ToClient::DirectoryListing(Box::new(listing)),
            Err(error) => {
                let mut answer = error.to_client();
                if let ToClient::Error(problem) = &mut answer {
                    problem.path = Some(request.path);
                    problem.request_id = request.request_id;
                }
                answer
            }
        },
        ToServer::GetDiff(request) => ToClient::DiffResult(Box::new(projects.diff(&request).await)),
        ToServer::GetDiffImage(request) => {
            ToClient::DiffImageResult(Box::new(projects.diff_image(&request).await))
        }
        ToServer::ListWorktrees(request) => {
            ToClient::WorktreeList(Box::new(projects.list_worktrees(&request).await))
        }
        ToServer::RemoveWorktree(request) => {
            ToClient::WorktreeRemoved(projects.remove_worktree(&request).await)
        }
        ToServer::Rewind(request) => ToClient::RewindResult(rewind(desk, who, request).await),
        ToServer::RewindDryRun(request) => {
            ToClient::RewindPreview(preview(desk, who, request).await)
        }
        ToServer::GetUsage(_) => ToClient::UsageResult(usage()),
        ToServer::PushRegister(request) => ToClient::PushRegistrationResult(no_push(request)),
        ToServer::SetSandboxMode(_) => ToClient::unsupported("set_sandbox_mode"),
        other => other
            .unsupported()
            .unwrap_or_else(|| ToClient::unsupported(other.kind())),
    };
    vec![answer]
}

/// Has an agent do something; nothing is to be said unless it does not.
async fn obeyed(
    desk: &Desk,
    who: &Who,
    session: Option<BridgeId>,
    control: Control,
) -> Vec<ToClient> {
    let session = match meant(desk, session).await {
        Ok(session) => session,
        Err(denial) => return vec![denied(&denial, None)],
    };
    match desk.control(who, &session, control).await {
        Ok(_) => Vec::new(),
        Err(denial) => vec![denied(&denial, Some(&session))],
    }
}

async fn meant(desk: &Desk, named: Option<BridgeId>) -> Result<BridgeId, Denial> {
    if let Some(session) = named {
        return Ok(session);
    }
    let sessions = desk.sessions().await?;
    let latest = latest(&sessions).map(|session| session.record.id.clone());
    latest.ok_or_else(|| Denial::Refused(Refusal::NoSession("at all".to_owned())))
}

async fn set_mode(desk: &Desk, who: &Who, request: SetPermissionMode) -> Vec<ToClient> {
    let control = Control::SetMode(request.mode);
    obeyed(desk, who, request.session_id, control).await
}

async fn rename(desk: &Desk, request: &RenameSession) -> RenameResult {
    let name = request.name.as_ref().map(ToString::to_string);
    let name = name.filter(|name| !name.trim().is_empty());
    let renamed = renamed(desk, request, name.clone()).await;
    RenameResult {
        session_id: request.session_id.clone(),
        name: match name {
            Some(name) if renamed.is_ok() => Nullable::Value(name.into()),
            _ => Nullable::Null,
        },
        success: renamed.is_ok(),
        error: renamed.err().map(Text::from),
        ..RenameResult::default()
    }
}

async fn renamed(desk: &Desk, request: &RenameSession, name: Option<String>) -> Result<(), String> {
    let words = |denial: Denial| denial.to_string();
    let bridge_id = BridgeId::from(request.session_id.as_str());
    let agent_id = match &request.provider_session_id {
        Some(id) => id.clone(),
        None => SessionId::from(request.session_id.as_str()),
    };
    let held = match desk.describe(&bridge_id).await {
        Ok(session) => Some(session),
        Err(_) => desk.held(&agent_id).await.map_err(words)?,
    };
    match (held, name) {
        (Some(held), name) => desk.rename(&held.record.id, name).await.map_err(words),
        (None, Some(name)) => {
            desk.check_past(&agent_id).await.map_err(words)?;
            let library = desk.bridge().library();
            let renamed = library.rename(agent_id, name).await;
            renamed.map_err(|error| error.to_string())
        }
        (None, None) => Err("the name of a session that does not run cannot be taken away".into()),
    }
}

/// Takes a session of the bridge out of its list. Transcripts stay where they are.
async fn archive(desk: &Desk, who: &Who, request: &ArchiveSession) -> ArchiveResult {
    let archived = match desk.held(&request.session_id).await {
        Ok(Some(held)) => desk.stop(who, &held.record.id).await,
        Ok(None) => Err(Denial::Refused(Refusal::NoSession(
            request.session_id.to_string(),
        ))),
        Err(denial) => Err(denial),
    };
    ArchiveResult {
        session_id: request.session_id.clone(),
        success: archived.is_ok(),
        error: archived.err().map(|denial| denial.to_string().into()),
        ..ArchiveResult::default()
    }
}

async fn rewind(desk: &Desk, who: &Who, request: Rewind) -> RewindResult {
    let Rewind {
        session_id,
        target_uuid,
        mode,
        ..
    } = request;
    let done = async {
        if matches!(mode, RewindMode::Code | RewindMode::Both) {
            rewind_files(desk, who, &session_id, target_uuid.clone(), false).await?;
        }
        match mode {
            RewindMode::Code => Ok(()),
            RewindMode::Conversation | RewindMode::Both => {
                let rewound = desk.rewind(&session_id, target_uuid.clone()).await;
                rewound.map_err(|denial| denial.to_string())
            }
            RewindMode::Unknown(ref word) => Err(format!("nothing is called `{word}`")),
        }
    };
    let done: Result<(), String> = done.await;
    RewindResult {
        session_id: Some(session_id),
        success: done.is_ok(),
        mode: mode.clone(),
        error: done.err().map(Text::from),
        extra: Default::default(),
    }
}

async fn preview(desk: &Desk, who: &Who, request: RewindDryRun) -> RewindPreview {
    let session = request.session_id.clone();
    match rewind_files(desk, who, &session, request.target_uuid, true).await {
        Ok(preview) => RewindPreview {
            session_id: Some(session),
            ..preview
        },
        Err(error) => RewindPreview {
            session_id: Some(session),
            error: Some(error.into()),
            ..RewindPreview::default()
        },
    }
}

async fn rewind_files(
    desk: &Desk,
    who: &Who,
    session: &BridgeId,
    to: Uuid,
    dry_run: bool,
) -> Result<RewindPreview, String> {
    let control = Control::RewindFiles { to, dry_run };
    let answer = desk.control(who, session, control).await;
    let answer = answer.map_err(|denial| denial.to_string())?;
    let Some(answer) = answer else {
        return Err("the agent does not say what it would put back".to_owned());
    };
    let preview = RewindPreview::from_json(answer.text().clone());
    let preview = preview.map_err(|error| format!("the agent's answer cannot be read: {error}"))?;
    match &preview.error {
        Some(error) => Err(error.to_string()),
        None if !preview.can_rewind => Err("the files of that message are not kept".to_owned()),
        None => Ok(preview),
    }
}

/// The limits of a plan are between the agent and its maker.
fn usage() -> UsageResult {
    let plan = PlanUsage {
        provider: Provider::Claude,
        five_hour: Nullable::Null,
        seven_day: Nullable::Null,
        error: Some("the limits of the plan are not known here".into()),
        extra: Default::default(),
    };
    UsageResult {
        providers: vec![plan],
        ..UsageResult::default()
    }
}

fn no_push(request: PushRegister) -> PushRegistration {
    PushRegistration {
        token: request.token,
        request_id: request.request_id,
        success: false,
        error: Some("this bridge sends no push notifications".into()),
        ..PushRegistration::default()
    }
}
