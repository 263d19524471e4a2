//! The kinds of nodes that the grammar has, and how the walk reads each of them.
//!
//! A kind that is not named here makes the line a question. A test compares this list with the grammar's own.

use std::sync::LazyLock;

use tree_sitter::{Language, Node};

/// How the walk reads a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A simple command.
    Command,
    /// A statement with redirections.
    Redirected,
    Pipeline,
    Subshell,
    /// Braces, and the loop of C.
    Group,
    Function,
    Case,
    Assignment,
    Assignments,
    /// `for` and `select`.
    For,
    /// An expansion: the shell replaces it before the command runs, and may run a command for that.
    Expansion,
    /// A word, or a part of one.
    Word,
    /// A text that the grammar does not look into, although the shell expands it.
    Unparsed,
    /// A node that has no effect beside those of its children.
    Parts,
    /// Text that the shell neither runs nor expands.
    Data,
}

impl Kind {
    /// The kind of a node. `None` for one that the grammar did not have when this was written.
    pub(crate) fn of_node(node: Node<'_>) -> Option<Self> {
        // By number: to read a name takes longer than all the rest.
        static BY_NUMBER: LazyLock<Vec<Option<Kind>>> = LazyLock::new(|| {
            let language = Language::from(tree_sitter_bash::LANGUAGE);
            let numbers = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
            let kind = |number| Kind::of(language.node_kind_for_id(number)?);
            numbers.map(kind).collect()
        });
        match BY_NUMBER.get(usize::from(node.kind_id())) {
            Some(kind) => *kind,
            // A node that holds an error has a number of its own.
            None => Self::of(node.kind()),
        }
    }

    /// The kind of a node with this name. `None` for a name that the grammar did not have when this was written.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "command" | "declaration_command" | "unset_command" | "test_command" => Self::Command,
            "redirected_statement" => Self::Redirected,
            "pipeline" => Self::Pipeline,
            "subshell" => Self::Subshell,
            "compound_statement" | "c_style_for_statement" => Self::Group,
            "function_definition" => Self::Function,
            "case_statement" => Self::Case,
            "variable_assignment" => Self::Assignment,
            "variable_assignments" => Self::Assignments,
            "for_statement" => Self::For,
            "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "simple_expansion"
            | "expansion" => Self::Expansion,
            "word" | "string" | "raw_string" | "concatenation" | "number" | "ansi_c_string"
            | "translated_string" | "brace_expression" => Self::Word,
            "extglob_pattern"
            | "regex"
            | "test_operator"
            | "special_variable_name"
            | "string_content"
            | "heredoc_content" => Self::Unparsed,
            "program"
            | "list"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "case_item"
            | "negated_command"
            | "command_name"
            | "array"
            | "subscript"
            | "binary_expression"
            | "unary_expression"
            | "ternary_expression"
            | "postfix_expression"
            | "parenthesized_expression"
            | "file_redirect"
            | "herestring_redirect"
            | "heredoc_redirect"
            | "heredoc_body"
            // A line with one in it is broken as a whole.
            | "ERROR" => Self::Parts,
            "comment" | "variable_name" | "heredoc_start" | "heredoc_end" | "file_descriptor" => {
                Self::Data
            }
            _ => return None,
        })
    }

    /// Whether something runs, or is replaced, where such a node stands, so that the walk must have been there.
    pub(crate) fn is_active(self) -> bool {
        !matches!(self, Self::Word | Self::Unparsed | Self::Parts | Self::Data)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::Kind;

    #[test]
    fn every_kind_of_the_grammar_is_known() {
        let kinds: Vec<Value> = serde_json::from_str(tree_sitter_bash::NODE_TYPES).unwrap();
        let is_concrete = |kind: &&Value| kind["named"] == true && kind["subtypes"].is_null();
        let names = kinds
            .iter()
            .filter(is_concrete)
            .map(|kind| kind["type"].as_str().unwrap());
        let unknown: Vec<&str> = names
            .clone()
            .filter(|name| Kind::of(name).is_none())
            .collect();
        assert_eq!(
            unknown,
            Vec::<&str>::new(),
            "decide how the walk reads these"
        );
        assert!(names.count() > 50, "the grammar's list is not read whole");
    }
}
