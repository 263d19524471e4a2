//! What stands between the brackets of a `Bash(…)` rule.

/// The content of a rule about commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern<'r> {
    /// The command as it is written.
    Exact(&'r str),
    /// The command, alone or with anything behind it: `x:*` and `x *`.
    Prefix(&'r str),
    /// With `*` for anything.
    Glob(&'r str),
    /// `:*`, which is the start of nothing.
    Nothing,
}

impl<'r> Pattern<'r> {
    pub(crate) fn of(content: &'r str) -> Self {
        if let Some(prefix) = content.strip_suffix(":*") {
            return if prefix.is_empty() {
                Self::Nothing
            } else {
                Self::Prefix(prefix)
            };
        }
        match content.strip_suffix(" *") {
            Some(prefix) if !has_star(prefix) && !prefix.is_empty() => Self::Prefix(prefix),
            _ if has_star(content) => Self::Glob(content),
            _ => Self::Exact(content),
        }
    }

    /// Whether it is about a command, whose words stand apart by one blank.
    pub(crate) fn matches(self, command: &str) -> bool {
        match self {
            Self::Exact(text) => command == text,
            Self::Prefix(prefix) => command
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            Self::Glob(pattern) => glob(pattern, command),
            Self::Nothing => false,
        }
    }
}

/// Whether there is a `*` that no backslash stands before.
fn has_star(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| bytes[at] == b'*' && (at == 0 || bytes[at - 1] != b'\\'))
}

/// Whether `text` is `pattern` with anything for each `*`. Takes the shortest that fits and goes back to the last `*` when
/// it must, so that it never takes longer than the product of the two lengths.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut in_text) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                back = Some((at + 1, in_text));
                at += 1;
            }
            Some(byte) if *byte == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => match back {
                Some((after, from)) => {
                    at = after;
                    in_text = from + 1;
                    back = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
