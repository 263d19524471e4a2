//! The command line as it stands becomes [`RawFlags`], by the rules of the real CLI. Which values make sense is not
//! checked here.

use std::{collections::VecDeque, ffi::OsString};

use super::{
    Refusal,
    flags::{Flag, Id, Takes},
};

/// The flags that were given, in their order, and the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawFlags {
    given: Vec<(Id, Option<String>)>,
    pub(super) prompt: Option<String>,
    /// Words behind the prompt: most likely it should have been quoted.
    pub(super) surplus: Vec<String>,
}

impl RawFlags {
    /// Reads a command line without the program's name.
    pub(super) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, Refusal> {
        let mut flags = Self::default();
        let mut words = texts(words)?;
        let mut list = None;
        let mut plain = Vec::new();
        while let Some(word) = words.pop_front() {
            if word == "--" {
                plain.extend(words);
                break;
            }
            if !looks_like_flag(&word) {
                match list {
                    Some(id) => flags.given.push((id, Some(word))),
                    None => plain.push(word),
                }
                continue;
            }
            list = None;
            if let Some(flag) = Flag::named(&word) {
                flags.take(flag, &mut words)?;
                list = matches!(flag.takes, Takes::Many(_)).then_some(flag.id);
            } else if let Some((flag, rest)) = cluster(&word) {
                match flag.takes {
                    Takes::Nothing | Takes::Switch => {
                        flags.given.push((flag.id, None));
                        words.push_front(format!("-{rest}"));
                    }
                    _ => flags.given.push((flag.id, Some(rest.to_owned()))),
                }
            } else {
                flags.take_joined(&word)?;
            }
        }
        let mut plain = plain.into_iter();
        flags.prompt = plain.next().filter(|prompt| !prompt.trim().is_empty());
        flags.surplus = plain.collect();
        Ok(flags)
    }

    /// Whether a flag was given.
    pub(super) fn has(&self, id: Id) -> bool {
        self.given.iter().any(|(given, _)| *given == id)
    }

    /// Whether a switch was given and is on; the last one counts.
    pub(super) fn is_on(&self, id: Id) -> bool {
        let last = self.given.iter().rfind(|(given, _)| *given == id);
        last.is_some_and(|(_, value)| value.as_deref() != Some("false"))
    }

    /// The value of a flag; the last one counts.
    pub(super) fn value(&self, id: Id) -> Option<&str> {
        let last = self.given.iter().rfind(|(given, _)| *given == id);
        last.and_then(|(_, value)| value.as_deref())
    }

    /// All values of a flag.
    pub(super) fn values(&self, id: Id) -> impl Iterator<Item = &str> {
        let given = self.given.iter().filter(move |(given, _)| *given == id);
        given.filter_map(|(_, value)| value.as_deref())
    }

    /// `--flag value`.
    fn take(&mut self, flag: &Flag, words: &mut VecDeque<String>) -> Result<(), Refusal> {
        let value = match flag.takes {
            Takes::Nothing | Takes::Switch => None,
            // Whatever it looks like: a prompt may begin with a hyphen.
            Takes::Value(_) | Takes::Many(_) => {
                let value = words.pop_front();
                Some(value.ok_or_else(|| {
                    Refusal::new(format!("error: option '{}' argument missing", flag.usage()))
                })?)
            }
            Takes::Maybe(_) => words.pop_front_if(|next| !looks_like_flag(next)),
        };
        self.given.push((flag.id, value));
        Ok(())
    }

    /// `--flag=value`.
    fn take_joined(&mut self, word: &str) -> Result<(), Refusal> {
        let unknown = || Refusal::new(format!("error: unknown option '{word}'"));
        let (name, value) = word.split_once('=').ok_or_else(unknown)?;
        let flag = Flag::named(name).filter(|_| name.starts_with("--"));
        let flag = flag.ok_or_else(unknown)?;
        match flag.takes {
            Takes::Nothing => return Err(unknown()),
            Takes::Switch if !matches!(value, "true" | "false") => return Err(unknown()),
            _ => self.given.push((flag.id, Some(value.to_owned()))),
        }
        Ok(())
    }
}

fn texts(words: impl IntoIterator<Item = OsString>) -> Result<VecDeque<String>, Refusal> {
    let texts = words.into_iter().enumerate().map(|(index, word)| {
        word.into_string().map_err(|word| {
            let place = index + 1;
            let shown = word.display();
            Refusal::new(format!(
                "error: argument {place} is not UTF-8: '{shown}'; no flag can be read from it"
            ))
        })
    });
    texts.collect()
}

/// A lone hyphen is none.
fn looks_like_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// The first of several short flags in one word, and the rest: `-pc`, `-rID`.
fn cluster(word: &str) -> Option<(&'static Flag, &str)> {
    let letter = word.chars().nth(1).filter(|letter| *letter != '-')?;
    let (name, rest) = word.split_at(1 + letter.len_utf8());
    Some((Flag::named(name)?, rest)).filter(|(_, rest)| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was read, as one line.
    fn shown(words: &[&str]) -> String {
        let flags = match RawFlags::read(words.iter().map(OsString::from)) {
            Ok(flags) => flags,
            Err(refusal) => return refusal.to_string(),
        };
        let mut shown = Vec::new();
        for (id, value) in &flags.given {
            shown.push(match value {
                None => format!("{id:?}"),
                Some(value) => format!("{id:?}={value}"),
            });
        }
        shown.extend(flags.prompt.map(|prompt| format!("| {prompt}")));
        shown.extend(flags.surplus.iter().map(|word| format!("! {word}")));
        shown.join(" ")
    }

    #[test]
    fn a_command_line_is_read_as_the_real_cli_reads_it() {
        for (words, expected) in [
            (&["-p", "hi"][..], "Print | hi"),
            (&["hi", "-p"], "Print | hi"),
            (&["-p", "a", "b"], "Print | a ! b"),
            (&["--model", "opus", "hi"], "Model=opus | hi"),
            (&["--model=opus", "hi"], "Model=opus | hi"),
            (&["--model="], "Model="),
            (&["--system-prompt", "-x", "hi"], "SystemPrompt=-x | hi"),
            (&["--system-prompt", ""], "SystemPrompt="),
            // A list takes all words up to the next flag, a joined one only its own.
            (
                &["--add-dir", "a", "b", "-p", "hi"],
                "AddDir=a AddDir=b Print | hi",
            ),
            (&["--add-dir", "a", "hi"], "AddDir=a AddDir=hi"),
            (&["--add-dir=a", "hi"], "AddDir=a | hi"),
            (&["--add-dir", "a", "--", "hi"], "AddDir=a | hi"),
            (&["--add-dir", "a", "--add-dir", "b"], "AddDir=a AddDir=b"),
            (&["--tools", "", "-p"], "Tools= Print"),
            // Both spellings.
            (&["--allowedTools", "Read,Edit"], "AllowedTools=Read,Edit"),
            (&["--allowed-tools=Read"], "AllowedTools=Read"),
            (&["--disallowedTools=Bash"], "DisallowedTools=Bash"),
            (&["--permissionMode", "plan"], "PermissionMode=plan"),
            // A value that may be left out.
            (&["--resume", "-p", "hi"], "Resume Print | hi"),
            (&["-r", "ID", "hi"], "Resume=ID | hi"),
            (&["-rID", "hi"], "Resume=ID | hi"),
            (&["--debug", "api", "-p", "hi"], "Debug=api Print | hi"),
            (&["-dapi", "hi"], "Debug=api | hi"),
            (&["-pc", "hi"], "Print Continue | hi"),
            (&["--no-session-persistence"], "NoSessionPersistence"),
            (
                &["--no-session-persistence=false"],
                "NoSessionPersistence=false",
            ),
            (&["--", "--model"], "| --model"),
            (&["-p", "-"], "Print | -"),
            (&["-p", "  "], "Print"),
        ] {
            assert_eq!(shown(words), expected, "{words:?}");
        }
    }

    #[test]
    fn what_is_no_flag_is_one_line_of_error() {
        for (words, expected) in [
            (&["--foo"][..], "error: unknown option '--foo'"),
            (&["--foo=1"], "error: unknown option '--foo=1'"),
            (&["-x"], "error: unknown option '-x'"),
            (&["-px"], "error: unknown option '-x'"),
            (&["-ä"], "error: unknown option '-ä'"),
            (
                &["--verbose=false"],
                "error: unknown option '--verbose=false'",
            ),
            (
                &["--no-session-persistence=maybe"],
                "error: unknown option '--no-session-persistence=maybe'",
            ),
            (
                &["--model"],
                "error: option '--model <model>' argument missing",
            ),
            (
                &["-p", "--tools"],
                "error: option '--tools <tools...>' argument missing",
            ),
        ] {
            assert_eq!(shown(words), expected, "{words:?}");
        }
    }

    #[test]
    fn switches_and_values_count_as_last_given() {
        let words = [
            "--no-session-persistence",
            "--no-session-persistence=false",
            "--model",
            "a",
            "--model",
            "b",
        ];
        let flags = RawFlags::read(words.map(OsString::from)).unwrap();
        assert!(!flags.is_on(Id::NoSessionPersistence));
        assert_eq!(flags.value(Id::Model), Some("b"));
        assert!(!flags.is_on(Id::Verbose));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        use std::os::unix::ffi::OsStringExt as _;
        let words = vec!["-p".into(), OsString::from_vec(vec![b'a', 0xff])];
        let refusal = RawFlags::read(words).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "error: argument 2 is not UTF-8: 'a\u{fffd}'; no flag can be read from it"
        );
    }
}
