//! Commands that take long or run in the background, told to the host.

use towline_protocol::{
    BackgroundTask, BackgroundTasksChanged, Extra, System, TaskNotification, TaskPatch,
    TaskStarted, TaskUpdated, Text, ToolUseId,
};

use super::{
    Engine,
    lines::{new_uuid, system},
};
use crate::commands::{Task, TaskEvent};

impl Engine {
    /// Tells the host what became of a command.
    pub(super) fn handle_task(&mut self, event: TaskEvent) {
        match event {
            TaskEvent::Started(task) => {
                if task.is_backgrounded {
                    self.tell_tasks();
                }
                self.tell_started(&task);
            }
            TaskEvent::Backgrounded(_) => self.tell_tasks(),
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
                    summary: Some(summary.into()),
                    session_id: Some(self.session.id.clone()),
                    uuid: Some(new_uuid()),
                    ..TaskNotification::default()
                };
                self.send(system(System::TaskNotification(Box::new(line))));
                if task.is_backgrounded {
                    self.tell_tasks();
                }
            }
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

fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}

const SHELL: &str = "local_bash";
