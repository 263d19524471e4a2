//! [`Settings`]: what a repository's configuration may say (pure). The list is of settings that are taken over, each with
//! the values that it may have; a program, a path or a name is none of them. Everything else does not count.

use crate::project::ProjectError;

/// The part of a repository's configuration that is taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Names with values that were read and are written anew.
    pub(super) taken: Vec<(&'static str, &'static str)>,
    /// Where the files are said to be. It is a path to be checked, and is given to git only then.
    pub(super) work_tree: Option<Vec<u8>>,
    /// Whether there are said to be no files.
    pub(super) is_bare: bool,
    /// Whether a work tree has settings of its own.
    pub(super) by_work_tree: bool,
    /// Whether objects may be missing that a remote has.
    pub(super) is_partial: bool,
}

impl Settings {
    /// Reads what `git config --list --null` writes. What comes later counts.
    ///
    /// # Errors
    /// When the repository has a form that is not known here.
    pub(super) fn read(&mut self, listed: &[u8]) -> Result<(), ProjectError> {
        for entry in listed.split(|byte| *byte == 0) {
            let mut parts = entry.splitn(2, |byte| *byte == b'\n');
            let name = parts.next().unwrap_or_default();
            let value = parts.next();
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            self.read_one(name, value)?;
        }
        Ok(())
    }

    fn read_one(&mut self, name: &str, value: Option<&[u8]>) -> Result<(), ProjectError> {
        match name {
            "core.worktree" => self.work_tree = value.map(<[u8]>::to_vec),
            "core.bare" => self.is_bare = truth(value) == Some("true"),
            "extensions.worktreeconfig" => self.by_work_tree = truth(value) == Some("true"),
            "extensions.partialclone" => self.is_partial = true,
            _ if name.starts_with("remote.") && name.ends_with(".promisor") => {
                self.is_partial = true;
            }
            _ => {}
        }
        if let Some((name, kind)) = TAKEN.iter().find(|(taken, _)| *taken == name) {
            if let Some(value) = kind.read(value) {
                self.taken.retain(|(other, _)| other != name);
                self.taken.push((name, value));
                return Ok(());
            }
            // A form of repository that is not known cannot be left out: the rest would be misread.
            if name.starts_with("extensions.") {
                return Err(unknown(name, value));
            }
        } else if name.starts_with("extensions.") && !HARMLESS_EXTENSIONS.contains(&name) {
            return Err(unknown(name, value));
        }
        Ok(())
    }

    /// The form of a repository that only has to have the same objects: its branches are found without its settings.
    pub(super) fn form_of_submodule(&self, has_reftable: bool) -> String {
        let form = |(name, _): &&(&str, &str)| *name == "extensions.objectformat";
        let mut taken: Vec<_> = self.taken.iter().filter(form).copied().collect();
        if has_reftable {
            taken.push(("extensions.refstorage", "reftable"));
        }
        Self {
            taken,
            ..Self::default()
        }
        .to_file()
    }

    /// The file of settings that git gets.
    pub(super) fn to_file(&self) -> String {
        // Version 1 is the one in which extensions count.
        let mut text = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n".to_owned();
        for (name, value) in OURS.iter().chain(&self.taken) {
            if let Some((section, name)) = name.split_once('.') {
                text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
            }
        }
        text
    }
}

fn unknown(name: &str, value: Option<&[u8]>) -> ProjectError {
    let value = String::from_utf8_lossy(value.unwrap_or_default());
    ProjectError::Unusable(format!(
        "the repository has a form that is not known here: {name} is {value:?}"
    ))
}

/// The values that a setting may have.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Truth,
    Word(&'static [&'static str]),
    TruthOr(&'static str),
}

impl Kind {
    fn read(self, value: Option<&[u8]>) -> Option<&'static str> {
        let is = |word: &&'static str| {
            value.is_some_and(|value| value.eq_ignore_ascii_case(word.as_bytes()))
        };
        match self {
            Self::Truth => truth(value),
            Self::Word(words) => words.iter().copied().find(is),
            Self::TruthOr(word) if is(&word) => Some(word),
            Self::TruthOr(_) => truth(value),
        }
    }
}

/// A truth value as git reads it: a name without a value is true, an empty value is false.
fn truth(value: Option<&[u8]>) -> Option<&'static str> {
    let Some(value) = value else {
        return Some("true");
    };
    let value = std::str::from_utf8(value).ok()?.to_ascii_lowercase();
    match &*value {
        "true" | "yes" | "on" => Some("true"),
        "" | "false" | "no" | "off" => Some("false"),
        number => Some(match number.parse::<i64>().ok()? {
            0 => "false",
            _ => "true",
        }),
    }
}

/// How objects and branches are stored, and how files are compared with them.
const TAKEN: &[(&str, Kind)] = &[
    ("core.autocrlf", Kind::TruthOr("input")),
    ("core.checkstat", Kind::Word(&["default", "minimal"])),
    ("core.eol", Kind::Word(&["lf", "crlf", "native"])),
    ("core.filemode", Kind::Truth),
    ("core.ignorecase", Kind::Truth),
    ("core.precomposeunicode", Kind::Truth),
    ("core.sparsecheckout", Kind::Truth),
    ("core.symlinks", Kind::Truth),
    ("core.trustctime", Kind::Truth),
    ("extensions.objectformat", Kind::Word(&["sha1", "sha256"])),
    ("extensions.refstorage", Kind::Word(&["files", "reftable"])),
];

/// These change nothing about how a repository is read.
const HARMLESS_EXTENSIONS: &[&str] = &[
    "extensions.compatobjectformat",
    "extensions.noop",
    "extensions.noop-v1",
    "extensions.partialclone",
    "extensions.preciousobjects",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
];

const OURS: &[(&str, &str)] = &[
    ("core.quotepath", "false"),
    ("core.untrackedcache", "false"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(listed: &[u8]) -> Settings {
        let mut settings = Settings::default();
        settings.read(listed).unwrap();
        settings
    }

    #[test]
    fn settings_are_taken_over_by_their_known_values_alone() {
        for (listed, taken) in [
            (&b"core.filemode\0"[..], &[("core.filemode", "true")][..]),
            (b"core.filemode\n\0", &[("core.filemode", "false")]),
            (b"core.filemode\n0\0", &[("core.filemode", "false")]),
            (b"core.filemode\nmaybe\0", &[]),
            (b"core.autocrlf\nInput\0", &[("core.autocrlf", "input")]),
            (b"core.eol\nCRLF\0", &[("core.eol", "crlf")]),
            (b"core.eol\nlf\n\tfsmonitor = x\0", &[]),
            (b"core.eol\nlf\0core.eol\ncrlf\0", &[("core.eol", "crlf")]),
            (
                b"core.fsmonitor\nx\0filter.x\xff.clean\nx\0include.path\nx\0",
                &[],
            ),
        ] {
            assert_eq!(read(listed).taken, taken);
        }
    }

    #[test]
    fn a_form_of_repository_that_is_not_known_is_an_error() {
        for listed in [
            &b"extensions.objectformat\nsha512\0"[..],
            b"extensions.refstorage\n\0",
            b"extensions.future\ntrue\0",
        ] {
            let error = Settings::default().read(listed).unwrap_err().to_string();
            assert!(error.contains("not known here: extensions."), "{error}");
        }
        assert!(read(b"extensions.worktreeconfig\nyes\0").by_work_tree);
    }

    #[test]
    fn the_file_for_git_holds_what_was_taken_over() {
        let settings = read(b"extensions.objectformat\nSHA256\0core.pager\nevil\0");
        assert_eq!(
            settings.to_file(),
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[core]\n\tquotepath = false\n\
             [core]\n\tuntrackedcache = false\n[extensions]\n\tobjectformat = sha256\n"
        );
    }
}
