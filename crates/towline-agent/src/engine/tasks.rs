//! Commands that take long or run in the background, told to the host; and their end, told to the model.

use tokio::time::Instant;
use towline_protocol::{
    BackgroundTask, BackgroundTasksChanged, Block, Content, Extra, Origin, System,
    TaskNotification, TaskPatch, TaskStarted, TaskUpdated, Text, ToolUseId,
};

use super::{
    Engine, Phase,
    lines::{new_uuid, system},
};
use crate::commands::{Task, TaskEnd, TaskEvent};

impl Engine {
    /// Tells the host what has become of commands so far.
    pub(super) fn handle_tasks(&mut self) {
        while let Ok(event) = self.task_events.try_recv() {
            self.handle_task(event);
        }
    }

    /// Tells the host what became of a command.
    pub(super) fn handle_task(&mut self, event: TaskEvent) {
        match event {
            TaskEvent::Started(task) => {
                if task.is_backgrounded {
                    self.background.insert(task.id.clone());
                    self.tell_tasks();
                }
                self.tell_started(&task);
            }
            TaskEvent::Backgrounded(task) => {
                self.background.insert(task.id);
                self.tell_tasks();
            }
            TaskEvent::Finished { task, end, summary } => {
                if task.is_backgrounded {
                    let line = TaskUpdated {
                        task_id: task.id.as_str().into(),
                        run_id: Some(task.run_id.as_str().into()),
                        patch: Some(TaskPatch {
                            status: Some(Text::from_static(end.patch_status())),
                            end_time: Some(now_ms()),
                            ..TaskPatch::default()
                        }),
                        session_id: Some(self.session.id.clone()),
                        uuid: Some(new_uuid()),
                        ..TaskUpdated::default()
                    };
                    self.send(system(System::TaskUpdated(Box::new(line))));
                }
                let output = task
                    .output_file
                    .as_ref()
                    .map(|path| path.to_string_lossy().into_owned());
                let line = TaskNotification {
                    task_id: task.id.as_str().into(),
                    run_id: Some(task.run_id.as_str().into()),
                    tool_use_id: Some(ToolUseId::from(task.tool_use_id.as_str())),
                    status: Text::from_static(end.notification_status()),
                    output_file: Some(output.unwrap_or_default().into()),
                    summary: Some(summary.as_str().into()),
                    session_id: Some(self.session.id.clone()),
                    uuid: Some(new_uuid()),
                    ..TaskNotification::default()
                };
                self.send(system(System::TaskNotification(Box::new(line))));
                if task.is_backgrounded {
                    self.background.remove(&task.id);
                    self.tell_tasks();
                    self.tell_model(&task, end, &summary);
                }
            }
        }
    }

    /// The model was promised to be told. It gets a turn of its own for that, or hears of it with the results of calls.
    ///
    /// What somebody stopped is over because they wanted it to be, and nobody is told (trace `control-06d_stop_task`).
    fn tell_model(&mut self, task: &Task, end: TaskEnd, summary: &str) {
        if end == TaskEnd::Stopped {
            return;
        }
        let content = Content::Blocks(vec![Block::text(notification(task, end, summary))]);
        let origin = Origin {
            kind: Some(Text::from_static("task-notification")),
            producer: Some(Text::from_static("session-task")),
            run_id: Some(task.run_id.as_str().into()),
            ..Origin::default()
        };
        self.record_queued(Some(&content), None);
        self.inbox.add_own(content, origin);
    }

    /// Until when commands in the background are waited for: the host says no more, and nothing else is to be done.
    pub(super) fn patience(&mut self) -> Option<Instant> {
        let waits = self.phase == Phase::Closing && self.is_idle() && !self.background.is_empty();
        if !waits {
            self.waits_until = None;
            return None;
        }
        if self.waits_until.is_none() {
            let most = self.config.shell.last_wait?;
            self.waits_until = Instant::now().checked_add(most);
        }
        self.waits_until
    }

    /// They were waited for long enough: they end with the session, and a person is told.
    pub(super) fn give_up_waiting(&mut self) {
        self.phase = Phase::Over;
        let running = self.commands.running();
        let names = running.iter().map(|task| format!("{:?}", task.description));
        let names = names.collect::<Vec<_>>().join(", ");
        if !names.is_empty() {
            self.left_behind = Some(format!(
                "towline: still running in the background, and ended with the session: {names}"
            ));
        }
    }

    fn tell_started(&mut self, task: &Task) {
        let line = TaskStarted {
            task_id: task.id.as_str().into(),
            run_id: Some(task.run_id.as_str().into()),
            tool_use_id: Some(ToolUseId::from(task.tool_use_id.as_str())),
            description: Some(task.description.as_str().into()),
            is_backgrounded: Some(task.is_backgrounded),
            task_type: Some(Text::from_static(SHELL)),
            session_id: Some(self.session.id.clone()),
            uuid: Some(new_uuid()),
            ..TaskStarted::default()
        };
        self.send(system(System::TaskStarted(Box::new(line))));
    }

    /// What runs in the background now.
    pub(super) fn tell_tasks(&mut self) {
        let tasks = self
            .commands
            .running()
            .into_iter()
            .filter(|task| task.is_backgrounded);
        let tasks = tasks.map(|task| BackgroundTask {
            task_id: task.id.as_str().into(),
            run_id: Some(task.run_id.into()),
            task_type: Some(Text::from_static(SHELL)),
            description: Some(task.description.into()),
            ..BackgroundTask::default()
        });
        let line = BackgroundTasksChanged {
            tasks: Some(tasks.collect()),
            session_id: Some(self.session.id.clone()),
            uuid: Some(new_uuid()),
            extra: Extra::default(),
        };
        self.send(system(System::BackgroundTasksChanged(Box::new(line))));
    }
}

/// What the model is told of the end of a command. The tags are those of CLI 2.1.325.
fn notification(task: &Task, end: TaskEnd, summary: &str) -> String {
    let output = task.output_file.as_deref();
    let output = output.map(|path| path.display().to_string());
    let rows = [
        ("task-id", task.id.as_str()),
        ("tool-use-id", &task.tool_use_id),
        ("output-file", output.as_deref().unwrap_or_default()),
        ("status", end.notification_status()),
        ("summary", summary),
    ];
    let rows = rows.map(|(name, value)| format!("<{name}>{value}</{name}>\n"));
    let rows = rows.concat();
    format!(
        "<system-reminder>\n<task-notification>\n{rows}</task-notification>\nThis is not from the person. Read the output \
         file if it matters for what you were asked, and go on; else there is nothing to do.\n</system-reminder>"
    )
}

fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}

const SHELL: &str = "local_bash";
