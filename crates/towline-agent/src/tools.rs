//! The tools: what the model can do. One file each, and one line in the list at the end of this file.
//!
//! A tool is plain code that does IO. It never asks for permission: whoever calls it has done that. What goes wrong is
//! data for the model ([`Outcome::error`]), never an `Err`.

mod ls;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use towline_protocol::Content;

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
}

impl Place {
    /// A path as the model gave it, made absolute.
    pub(crate) fn absolute<'a>(&self, path: &'a Path) -> Cow<'a, Path> {
        if path.is_absolute() {
            Cow::Borrowed(path)
        } else {
            Cow::Owned(self.current.join(path))
        }
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
    pub(crate) data: Value,
    /// Text for the model that follows the result, in a message of its own.
    pub(crate) afterwards: Option<String>,
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
}

impl Outcome {
    /// It worked.
    pub(crate) fn new(content: impl Into<Content>, data: Value) -> Self {
        Self {
            content: content.into(),
            is_error: None,
            data,
            afterwards: None,
            changes: Vec::new(),
        }
    }

    /// It failed; what the model reads is what the host reads.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            data: Value::String(format!("Error: {text}")),
            is_error: Some(true),
            ..Self::new(text.as_str(), Value::Null)
        }
    }

    /// The call was wrong, and nothing was tried.
    pub(crate) fn misuse(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        Self {
            data: Value::String(format!("Error: {text}")),
            is_error: Some(true),
            ..Self::new(
                format!("<tool_use_error>{text}</tool_use_error>").as_str(),
                Value::Null,
            )
        }
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
                    $( $module::$Tool::NAME => read_input(input).map(|call| Self::$Tool(Box::new(call))), )*
                    _ => return None,
                })
            }

            /// Whether it changes nothing, so that it may run beside others.
            pub(crate) fn only_reads(&self) -> bool {
                match self {
                    $( Self::$Tool(call) => call.only_reads(), )*
                }
            }

            /// Runs it.
            pub(crate) async fn run(self, place: &Place) -> Outcome {
                match self {
                    $( Self::$Tool(call) => call.run(place).await, )*
                }
            }
        }

        /// All tools there are.
        pub(crate) fn definitions() -> Vec<Definition> {
            vec![ $( Definition::of::<$module::$Tool>(), )* ]
        }
    };
}

impl Definition {
    fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            schema: schemars::schema_for!(T).to_value(),
        }
    }
}

fn read_input<T: Tool>(input: &Value) -> Result<T, Outcome> {
    T::deserialize(input).map_err(|error| {
        Outcome::misuse(format!(
            "InputValidationError: {} failed due to the following issue:\n{error}",
            T::NAME
        ))
    })
}

tools! {
    ls::Ls,
}
