//! A second look at the tree: what the walk has not been at, and what the grammar itself did not look into.
//!
//! The walk goes from a node to the children that it knows to matter. A place that it forgets would be a command that
//! runs without a question, so that each forgotten place is made one here.

use tree_sitter::Node;

use super::{
    MOST_LEVELS, MOST_PIECES, MOST_WORDS, Opaque, Place, kind::Kind, parse_at, walk::Walk,
};

impl Walk<'_> {
    /// Makes a question of each active node that the walk has not been at, and takes in its commands.
    pub(super) fn unseen(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        let mut pieces = 0;
        loop {
            if self.words > MOST_WORDS {
                // The walk has stopped because of it, and the line is broken.
                return;
            }
            let node = cursor.node();
            let is_data = node.is_named() && self.is_data(node);
            if node.is_named() && !is_data {
                self.look_at(node, &mut pieces);
            }
            if !is_data && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn is_data(&self, node: Node<'_>) -> bool {
        let inner = node.byte_range();
        self.data
            .iter()
            .any(|data| data.start <= inner.start && inner.end <= data.end)
    }

    fn look_at(&mut self, node: Node<'_>, pieces: &mut usize) {
        let kind = Kind::of_node(node);
        if kind == Some(Kind::Data)
            && node.kind() == "comment"
            && !may_begin_comment(&self.line[..node.start_byte()])
        {
            self.opaque(Opaque::Unknown);
            self.script.is_broken = true;
        }
        let is_seen = self.seen.contains(&node.id());
        match kind {
            Some(Kind::Unparsed) => self.look_into(node, pieces),
            Some(kind) if is_seen || !kind.is_active() => {}
            None if is_seen => {}
            _ => {
                self.opaque(Opaque::Unknown);
                self.statement(node, Place::Substitution, false);
            }
        }
    }

    /// A text that the grammar takes for one piece, such as the pattern of `${x/pattern/}`: a substitution in it runs.
    fn look_into(&mut self, node: Node<'_>, pieces: &mut usize) {
        let text = self.text(node);
        // In double quotes a command used as a file is text.
        let openers = match node.kind() {
            "string_content" | "heredoc_content" => &OPENERS[..4],
            _ => OPENERS,
        };
        for (place, _) in text.char_indices() {
            let rest = &text[place..];
            let is_escaped = text[..place]
                .bytes()
                .rev()
                .take_while(|byte| *byte == b'\\')
                .count()
                % 2
                == 1;
            if is_escaped || !openers.iter().any(|opener| rest.starts_with(opener)) {
                continue;
            }
            // What else the grammar has not seen there is not known either: a rule that forbids may be passed by it.
            self.script.is_broken = true;
            self.opaque(Opaque::Substitution);
            *pieces += 1;
            if *pieces > MOST_PIECES || self.level >= MOST_LEVELS {
                return;
            }
            let inner = parse_at(rest, &self.variables, self.level + 1);
            self.script.opaque.extend(inner.opaque);
            self.script
                .commands
                .extend(inner.commands.into_iter().map(|command| super::Command {
                    place: Place::Substitution,
                    ..command
                }));
        }
    }
}

/// Whether a word may begin behind a text: a `#` in the middle of one begins no comment.
fn may_begin_comment(before: &str) -> bool {
    let mut letters = before.chars().rev();
    let Some(last) = letters.next() else {
        return true;
    };
    let is_escaped = letters.take_while(|letter| *letter == '\\').count() % 2 == 1;
    " \t\n;&|()<>`".contains(last) && (!is_escaped || last == '\n')
}

/// Beginnings of an expansion.
const OPENERS: &[&str] = &["$(", "${", "$[", "`", "<(", ">("];
