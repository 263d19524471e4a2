//! Gists of `system` lines: the session, its tasks and its hooks.

use std::fmt::{self, Write};

use towline_protocol::{
    CompactMetadata, HookOutcome, Init, PermissionMode, System, Text, ToolName,
};

use super::fields;
use crate::terminal::Clip;

pub(super) fn system(line: &System, whole: &Text, out: &mut Clip) -> fmt::Result {
    match line {
        System::Init(init) => describe_init(init, out),
        System::Status(status) => {
            let mode = status.permission_mode.as_ref().map(PermissionMode::as_str);
            match (status.status.as_option(), mode) {
                (Some(status), _) => out.write_str(status),
                (None, Some(mode)) => write!(out, "mode {mode}"),
                (None, None) => fields::fields(whole, out),
            }
        }
        System::CompactBoundary(line) => match &line.compact_metadata {
            Some(metadata) => describe_compaction(metadata, out),
            None => Ok(()),
        },
        System::PermissionDenied(denied) => {
            write!(
                out,
                "{}: {}",
                denied.tool_name,
                or_empty(denied.message.as_ref())
            )
        }
        System::Informational(note) => out.write_str(or_empty(note.content.as_ref())),
        System::Notification(note) => out.write_str(or_empty(note.text.as_ref())),
        System::LocalCommandOutput(output) => out.write_str(or_empty(output.content.as_ref())),
        System::BackgroundTasksChanged(line) => {
            let tasks = line.tasks.as_deref().unwrap_or_default();
            write!(out, "{} running: ", tasks.len())?;
            let descriptions = tasks.iter().filter_map(|task| task.description.as_ref());
            fields::joined(descriptions, ", ", out)
        }
        System::TaskStarted(task) => {
            let kind = task.subagent_type.as_ref().or(task.task_type.as_ref());
            write!(out, "{} ", task.task_id)?;
            fields::joined(kind.into_iter().chain(&task.description), ": ", out)
        }
        System::TaskProgress(task) => {
            let words = task.summary.as_ref().or(task.description.as_ref());
            let words = words.map(Text::as_str);
            let tool = task.last_tool_name.as_ref().map(ToolName::as_str);
            write!(out, "{} ", task.task_id)?;
            fields::joined(tool.into_iter().chain(words), ": ", out)
        }
        System::TaskUpdated(task) => {
            write!(out, "{} ", task.task_id)?;
            match &task.patch {
                Some(patch) => {
                    let parts = [&patch.status, &patch.description, &patch.error];
                    fields::joined(parts.into_iter().flatten(), ": ", out)
                }
                None => Ok(()),
            }
        }
        System::TaskNotification(task) => {
            write!(out, "{} {}: ", task.task_id, task.status)?;
            out.write_str(or_empty(task.summary.as_ref()))
        }
        System::HookStarted(hook) => out.write_str(or_empty(hook.hook_name.as_ref())),
        System::HookProgress(hook) => {
            let (name, output) = (
                or_empty(hook.hook_name.as_ref()),
                or_empty(hook.output.as_ref()),
            );
            write!(out, "{name}: {output}")
        }
        System::HookResponse(hook) => {
            let outcome = hook.outcome.as_ref().map_or("", HookOutcome::as_str);
            let (name, output) = (
                or_empty(hook.hook_name.as_ref()),
                or_empty(hook.output.as_ref()),
            );
            write!(out, "{name} {outcome}: {output}")
        }
        _ => fields::fields(whole, out),
    }
}

fn describe_init(init: &Init, out: &mut Clip) -> fmt::Result {
    let mode = init.permission_mode.as_ref();
    let tools = init.tools.as_deref().unwrap_or_default().len();
    write!(out, "{}, ", or_empty(init.model.as_ref()))?;
    write!(out, "mode {}, ", mode.map_or("?", PermissionMode::as_str))?;
    write!(out, "{tools} tools, in {}", or_empty(init.cwd.as_ref()))
}

fn describe_compaction(metadata: &CompactMetadata, out: &mut Clip) -> fmt::Result {
    out.write_str(or_empty(metadata.trigger.as_ref()))?;
    match (metadata.pre_tokens, metadata.post_tokens) {
        (Some(before), Some(after)) => write!(out, ", {before} to {after} tokens"),
        (Some(before), None) => write!(out, ", {before} tokens"),
        (None, _) => Ok(()),
    }
}

fn or_empty(text: Option<&Text>) -> &str {
    text.map_or("", Text::as_str)
}
