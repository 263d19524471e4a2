//! [`flags`]: makes a method of each row of a table, with its documentation and an example that runs.

/// Declares flags in groups. A row is the doc comment, `method(arguments) = kind(flag, value);` with one of the kinds
/// that [`AgentCommand`](crate::AgentCommand) has (`switch`, `flag`, `one_more`, `list`, `prompt_flag`), and
/// `example => words;`: what the example adds to the command line of `claude`.
macro_rules! flags {
    ($(
        $(#[doc = $group:literal])*
        impl { $(
            $(#[doc = $documentation:literal])*
            $method:ident $(<$generic:ident: $bound:path>)? ($($argument:ident: $type:ty),*)
                = $kind:ident($flag:literal $(, $value:expr)?);
            $example:expr => $words:literal;
        )* }
    )*) => { $(
        $(#[doc = $group])*
        impl AgentCommand { $(
            $(#[doc = $documentation])*
            #[doc = concat!("\nBecomes `", $flag, "` on the command line:\n")]
            #[doc = concat!(
                "```\n",
                "# use towline_host::*;\n",
                "# let claude = AgentCommand::new(\"claude\");\n",
                "let command = ", stringify!($example), ";\n",
                "assert!(command.to_string().contains(", stringify!($words), "));\n",
                "# Ok::<(), DecodeError>(())\n",
                "```",
            )]
            #[must_use]
            pub fn $method $(<$generic: $bound>)? (self $(, $argument: $type)*) -> Self {
                self.$kind($flag $(, $value)?)
            }
        )* }
    )* };
}

pub(super) use flags;
