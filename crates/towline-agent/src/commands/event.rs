//! What happens to commands, as the host is told of it (`system/task_started` and its like).

use std::path::PathBuf;

/// Something happened to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskEvent {
    /// `task_started`: a command in the background began, or one in the foreground takes long.
    Started(Task),
    /// A command in the foreground, which may have been told of, goes on in the background.
    Backgrounded(Task),
    /// `task_updated` (background only) and `task_notification`: it is over.
    Finished {
        /// The command.
        task: Task,
        /// How it ended.
        end: TaskEnd,
        /// One line for a person.
        summary: String,
    },
}

/// A command, as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Its id, such as `b0abfyagl`.
    pub(crate) id: String,
    /// This run of it.
    pub(crate) run_id: String,
    /// The call that started it.
    pub(crate) tool_use_id: String,
    /// What it does, in the model's words, else the command.
    pub(crate) description: String,
    /// The command.
    pub(crate) command: String,
    /// Whether nobody waits for it.
    pub(crate) is_backgrounded: bool,
    /// Where its output is; nothing in the foreground, where the result has it.
    pub(crate) output_file: Option<PathBuf>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskEnd {
    /// By itself, with this exit code.
    Exited(i32),
    /// Somebody ended it.
    Stopped,
    /// It wrote more than it may.
    WroteTooMuch,
    /// Its time was up.
    TimedOut,
}

impl TaskEnd {
    /// The `status` of `task_notification`.
    pub(crate) fn notification_status(self) -> &'static str {
        match self {
            Self::Exited(0) => "completed",
            Self::Exited(_) | Self::WroteTooMuch | Self::TimedOut => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// The `status` in the patch of `task_updated`, and in the results of tools.
    pub(crate) fn patch_status(self) -> &'static str {
        match self {
            Self::Stopped => "killed",
            Self::Exited(_) | Self::WroteTooMuch | Self::TimedOut => self.notification_status(),
        }
    }

    /// The exit code, where the command had one of its own.
    pub(crate) fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Stopped | Self::WroteTooMuch | Self::TimedOut => None,
        }
    }

    /// One line for a person. What nobody had to wait for, and what was stopped, is only named (traces `control-06d`
    /// and `control-06f`).
    pub(crate) fn summary(self, task: &Task) -> String {
        let name = &task.description;
        match self {
            _ if !task.is_backgrounded => name.clone(),
            Self::Exited(0) => format!("Background command \"{name}\" completed (exit code 0)"),
            Self::Exited(code) => {
                format!("Background command \"{name}\" failed with exit code {code}")
            }
            Self::WroteTooMuch => {
                format!("Background command \"{name}\" was ended: it wrote too much")
            }
            Self::TimedOut => format!("Background command \"{name}\" timed out"),
            Self::Stopped => name.clone(),
        }
    }
}
