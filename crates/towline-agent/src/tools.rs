//! The tools: what the model can do. One file each, and one line in the list at the end of this file.
//!
//! A tool is plain code that does IO. It never asks for permission: whoever calls it has done that. What goes wrong is
//! data for the model ([`Outcome::error`]), never an `Err`.

mod ask_user_question;
mod bash;
mod bash_output;
mod blocking;
mod edit;
mod enter_plan_mode;
mod exit_plan_mode;
mod file;
mod glob;
mod grep;
mod input;
mod judged;
mod kill_shell;
mod ls;
mod multi_edit;
mod notebook;
mod notebook_edit;
mod notebook_read;
mod read;
#[cfg(test)]
mod schemas;
mod search;
mod side_call;
pub(crate) mod structured_output;
mod task_create;
mod task_get;
mod task_list;
mod task_output;
mod task_stop;
mod task_update;
mod todo_read;
mod todo_write;
#[cfg(test)]
mod tried;
mod web_fetch;
mod web_search;
mod write;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use towline_protocol::Content;

pub(crate) use ask_user_question::{input_for_question, input_with_answers};
pub(crate) use file::FilesRead;
pub(crate) use judged::{Hidden, Target};
pub(crate) use side_call::SideCall;
pub use structured_output::{AnswerForm, BadSchema};
pub(crate) use web_search::{SearchAnswer, SearchPart, SearchQuery};

use crate::{Shell, Web, commands::Commands, lists::Lists, model::catalogue::ModelFacts};

/// A tool, by its input.
pub(crate) trait Tool: Sized + DeserializeOwned + JsonSchema + Send {
    /// Its name.
    const NAME: &'static str;
    /// What it is for, to the model.
    const DESCRIPTION: &'static str;

    /// Whether this call changes nothing, so that it may run beside others.
    fn only_reads(&self) -> bool {
        false
    }

    /// Fills in what the tool assumes, in an input that was found right; so it stands in the assistant's line.
    fn normalise(_input: &mut Value) {}

    /// Whether the call makes sense, as far as that can be told before anybody is asked about it. It looks at files, and
    /// changes none.
    fn check(&self, _place: &Place) -> Result<(), Outcome> {
        Ok(())
    }

    /// Runs it. Dropping the future is the interrupt: whatever was started must end with it.
    fn run(self, place: &Place) -> impl Future<Output = Outcome> + Send;
}

/// What the calls of a session have at hand. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Where the session began.
    pub(crate) project: Arc<Path>,
    /// Where the shell is now.
    pub(crate) current: PathBuf,
    /// Where the shell may stay, beside the project.
    pub(crate) directories: Arc<[PathBuf]>,
    /// Where results go that are too long for the model.
    pub(crate) results: Arc<Path>,
    /// The path of this call as it was decided about. `None` for a call without one.
    pub(crate) target: Option<Target>,
    /// The files that a search may not show.
    pub(crate) hidden: Hidden,
    /// The id of this call.
    pub(crate) tool_use_id: Arc<str>,
    /// The shell commands of the session.
    pub(crate) commands: Commands,
    /// How long they may take.
    pub(crate) shell: Shell,
    /// Its to-do and task lists.
    pub(crate) lists: Lists,
    /// How web pages are fetched.
    pub(crate) web: Web,
    /// Asks the model beside the conversation. Nothing where there is no model to ask.
    pub(crate) ask: Option<SideCall<String, String>>,
    /// Has the model's own search tool search the web. Nothing where it has none.
    pub(crate) search: Option<SideCall<SearchQuery, SearchAnswer>>,
    /// What the model has seen of which files.
    pub(crate) files: FilesRead,
    /// Whether a file must have been read before it is written to; recent models need not.
    pub(crate) must_read_first: bool,
}

impl Place {
    /// A place for tests: a folder that is the project, and commands whose events nobody hears.
    #[cfg(test)]
    pub(crate) fn in_folder(
        folder: &Path,
    ) -> (
        Self,
        tokio::sync::mpsc::Receiver<crate::commands::TaskEvent>,
    ) {
        let project = folder
            .canonicalize()
            .expect("the folder exists")
            .join("project");
        std::fs::create_dir_all(&project).expect("the folder can be written to");
        let (commands, events) = Commands::new(crate::commands::CommandOptions {
            environment: std::env::vars_os().collect(),
            folder: folder.join("tasks"),
        });
        let place = Self {
            current: project.clone(),
            project: project.into(),
            directories: Arc::new([]),
            results: folder.join("tool-results").into(),
            target: None,
            hidden: Hidden::default(),
            tool_use_id: "toolu_test".into(),
            commands,
            shell: Shell::default(),
            lists: Lists::default(),
            web: Web::default(),
            ask: None,
            search: None,
            files: FilesRead::default(),
            must_read_first: true,
        };
        (place, events)
    }

    /// The path that the call opens. There is no other way to a path that the model names.
    pub(crate) fn target(&self) -> Result<&Target, Outcome> {
        self.target.as_ref().ok_or_else(|| {
            Outcome::misuse(
                "the path of this call has a NUL character in it: no file has such a name",
            )
        })
    }
}

/// What a call gave.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// What the model gets to see.
    pub(crate) content: Content,
    /// Whether it failed. Nothing where the real CLI leaves the field out.
    pub(crate) is_error: Option<bool>,
    /// The same as data, for hosts (`tool_use_result`).
    pub(crate) data: Box<Value>,
    /// Text for the model that follows the result, in a message of its own.
    pub(crate) afterwards: Option<Box<str>>,
    /// What changes in the session.
    pub(crate) changes: Vec<Change>,
}

/// What a call changes in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The shell is somewhere else now.
    Directory(PathBuf),
    /// Planning begins.
    EnterPlan,
    /// The plan was approved.
    LeavePlan,
    /// This is the answer, in the form that the host wants.
    Answer(Box<Value>),
}

impl Outcome {
    /// It worked.
    pub(crate) fn new(content: impl Into<Content>, data: Value) -> Self {
        Self {
            content: content.into(),
            is_error: None,
            data: Box::new(data),
            afterwards: None,
            changes: Vec::new(),
        }
    }

    /// It failed; what the model reads is what the host reads.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            data: Box::new(Value::String(format!("Error: {text}"))),
            is_error: Some(true),
            ..Self::new(text.as_str(), Value::Null)
        }
    }

    /// The call was wrong, and nothing was tried.
    pub(crate) fn misuse(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        Self {
            data: Box::new(Value::String(format!("Error: {text}"))),
            is_error: Some(true),
            ..Self::new(
                format!("<tool_use_error>{text}</tool_use_error>").as_str(),
                Value::Null,
            )
        }
    }
}

impl Outcome {
    /// Whether the call itself was wrong.
    pub(crate) fn is_misuse(&self) -> bool {
        matches!(&self.content, Content::Text(text) if text.starts_with("<tool_use_error>"))
    }
}

/// What the model is told of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) description: &'static str,
    /// The schema of its input.
    pub(crate) schema: Value,
}

/// Declares the tools: a line each.
macro_rules! tools {
    ($($module:ident::$Tool:ident,)*) => {
        /// A call of a tool, its input read.
        #[derive(Debug)]
        pub(crate) enum ToolCall {
            $( $Tool(Box<$module::$Tool>), )*
        }

        impl ToolCall {
            /// Reads the input of a call. Nothing if there is no such tool; an outcome if the input is wrong.
            pub(crate) fn read(name: &str, input: &Value) -> Option<Result<Self, Outcome>> {
                Some(match name {
                    $( $module::$Tool::NAME => input::read(input).map(|call| Self::$Tool(Box::new(call))), )*
                    _ => return None,
                })
            }

            /// The input of a call as it is meant, with what the tool assumes. Nothing if there is no such tool or the
            /// input is wrong: then it stays as the model wrote it.
            pub(crate) fn normalised(name: &str, input: &Value) -> Option<Value> {
                match name {
                    $( $module::$Tool::NAME => input::normalised::<$module::$Tool>(input).ok(), )*
                    _ => None,
                }
            }

            /// Whether it changes nothing, so that it may run beside others.
            pub(crate) fn only_reads(&self) -> bool {
                match self {
                    $( Self::$Tool(call) => call.only_reads(), )*
                }
            }

            /// Whether it makes sense, as far as that can be told before anybody is asked about it.
            pub(crate) fn check(&self, place: &Place) -> Result<(), Outcome> {
                match self {
                    $( Self::$Tool(call) => call.check(place), )*
                }
            }

            /// Runs it.
            pub(crate) async fn run(self, place: &Place) -> Outcome {
                match self {
                    $( Self::$Tool(call) => call.run(place).await, )*
                }
            }
        }

        /// All tools there are. Their schemas are made once.
        pub(crate) fn definitions() -> &'static [Definition] {
            static ALL: LazyLock<Vec<Definition>> =
                LazyLock::new(|| vec![ $( Definition::of::<$module::$Tool>(), )* ]);
            &ALL
        }
    };
}

impl Definition {
    fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            schema: input::schema::<T>(),
        }
    }
}

tools! {
    ask_user_question::AskUserQuestion,
    bash::Bash,
    bash_output::BashOutput,
    enter_plan_mode::EnterPlanMode,
    exit_plan_mode::ExitPlanMode,
    kill_shell::KillBash,
    kill_shell::KillShell,
    read::Read,
    write::Write,
    edit::Edit,
    multi_edit::MultiEdit,
    notebook_read::NotebookRead,
    notebook_edit::NotebookEdit,
    glob::Glob,
    grep::Grep,
    ls::Ls,
    task_create::TaskCreate,
    task_get::TaskGet,
    task_list::TaskList,
    task_output::TaskOutput,
    task_stop::TaskStop,
    task_update::TaskUpdate,
    todo_read::TodoRead,
    todo_write::TodoWrite,
    web_fetch::WebFetch,
    web_search::WebSearch,
}

/// Whether the tool is a question to the person rather than something to do.
pub(crate) fn is_question(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "ExitPlanMode")
}

/// Whether the tool is about files: what may be done is then decided by where they are.
pub(crate) fn is_about_files(name: &str) -> bool {
    matches!(
        name,
        "Read"
            | "Write"
            | "Edit"
            | "MultiEdit"
            | "NotebookEdit"
            | "NotebookRead"
            | "Glob"
            | "Grep"
            | "LS"
    )
}

/// Whether the tool is no use where nobody can be asked.
pub(crate) fn needs_person(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "EnterPlanMode" | "ExitPlanMode")
}

/// What a person is shown of an input.
pub(crate) fn shown_input(name: &str, input: &Value) -> Value {
    match name {
        "AskUserQuestion" => input_for_question(input),
        _ => input.clone(),
    }
}

/// The input that a call runs with, when whoever allowed it gave another one.
pub(crate) fn answered_input(name: &str, asked: &Value, given: Value) -> Value {
    match name {
        "AskUserQuestion" => input_with_answers(asked, given),
        _ => given,
    }
}

/// Whether a tool is offered where nobody says which are. Newer models keep their lists without a tool for it.
pub(crate) fn by_default(name: &str, model: &ModelFacts) -> bool {
    match name {
        "TaskCreate" | "TaskGet" | "TaskList" | "TaskUpdate" => model.generation.keeps_task_list(),
        // Another name for the same thing, for those who learnt it.
        "KillBash" => false,
        _ => true,
    }
}
