//! History: the versions that a guarded file had in earlier commits.
//!
//! A recorded bound can be loosened in the same commit as the code that it bounds. A guard therefore compares the bound
//! of today with those of all earlier commits. It owns reading them; each guard says what it compares.

use std::{collections::BTreeSet, env, io, path::Path, process::Command};

/// A file as an earlier commit has it.
#[derive(Clone, Debug)]
pub struct Version {
    /// The commit's full name.
    pub commit: String,
    /// The content of the file.
    pub text: String,
}

/// A commit that changed a guarded file.
#[derive(Clone, Debug)]
pub struct Change {
    /// The commit's full name.
    pub commit: String,
    /// Subject and body.
    pub message: String,
    /// The guarded files that it modified, renamed or deleted.
    pub paths: Vec<String>,
}

/// The commits of the work tree, up to `HEAD`.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    root: &'a Path,
}

impl<'a> History<'a> {
    /// Opens the history of a work tree. `None` without a full clone: a source archive has no history, also where it lies in
    /// the work tree of something else, and a shallow clone not all of it.
    ///
    /// # Errors
    /// With `CI` set, when the history is missing: a check that is not made must not pass there.
    pub fn open(root: &'a Path) -> io::Result<Option<Self>> {
        let history = Self { root };
        // The second line is the way from the top of the work tree to here.
        let found = history.git(&["rev-parse", "--is-shallow-repository", "--show-prefix"]);
        if found.is_ok_and(|answer| answer.trim_end() == "false") {
            return Ok(Some(history));
        }
        if env::var_os("CI").is_some_and(|value| !value.is_empty()) {
            return Err(io::Error::other(format!(
                "{} has no full git history: clone it whole (`fetch-depth: 0`)",
                root.display()
            )));
        }
        Ok(None)
    }

    /// The versions of a file in all commits up to `HEAD`, newest first, without the commits that deleted it. Those that it
    /// had under other names are among them: a file that moves takes its bounds along.
    ///
    /// # Errors
    /// When git cannot be run, or has no version: then a guard would compare with nothing and pass.
    pub fn versions(&self, path: &str) -> io::Result<Vec<Version>> {
        let names = self.git(&["log", "--follow", "--format=", "--name-only", "--", path])?;
        let names: BTreeSet<&str> = names.lines().filter(|line| !line.is_empty()).collect();
        if names.is_empty() {
            return Err(io::Error::other(format!(
                "{path}: no commit has it, so that its bounds are compared with nothing: commit it, or name the file \
                 where it is"
            )));
        }
        let mut arguments = vec![
            "log",
            "--full-history",
            "-m",
            "--no-renames",
            "--diff-filter=AMT",
            "--name-only",
            "--format=%x00%H%x00",
            "--",
        ];
        arguments.extend(names);
        let log = self.git(&arguments)?;
        let parts: Vec<&str> = log.split('\0').skip(1).collect();
        let mut versions: Vec<Version> = Vec::new();
        for part in parts.chunks_exact(2) {
            let (commit, names) = (part[0], part[1].lines().filter(|line| !line.is_empty()));
            // A merge is listed once for each parent.
            if versions.last().is_some_and(|last| last.commit == commit) {
                continue;
            }
            for name in names {
                versions.push(Version {
                    text: self.git(&["show", &format!("{commit}:{name}")])?,
                    commit: commit.to_owned(),
                });
            }
        }
        Ok(versions)
    }

    /// The commits that modified, renamed or deleted a file that one of the pathspecs matches, newest first. A merge counts
    /// for the files that are in none of its parents as it has them.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn changes(&self, pathspecs: &[&str]) -> io::Result<Vec<Change>> {
        let mut arguments = vec![
            "log",
            "-c",
            "--no-renames",
            "--diff-filter=MDT",
            "--name-only",
            "--format=%x00%H%x00%B%x00",
            "--",
        ];
        arguments.extend(pathspecs);
        let log = self.git(&arguments)?;
        let parts: Vec<&str> = log.split('\0').skip(1).collect();
        let changes = parts.chunks_exact(3).map(|part| Change {
            commit: part[0].to_owned(),
            message: part[1].to_owned(),
            paths: part[2]
                .lines()
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect(),
        });
        Ok(changes.collect())
    }

    fn git(&self, arguments: &[&str]) -> io::Result<String> {
        let mut command = Command::new("git");
        // A hook or an alias of git sets variables that name another repository, or read paths another way.
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        let output = command.arg("-C").arg(self.root).args(arguments).output()?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!(
                "git {}: {}",
                arguments.join(" "),
                words.trim()
            )));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::{env, fs, path::Path, process::Command};

    use super::History;

    /// A repository with these commits: a message, and the files that it writes, or removes where their text is empty.
    pub(in crate::tidy) fn repository(commits: &[(&str, &[(&str, &str)])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let history = History { root: root.path() };
        history.git(&["init", "-q", "-b", "main"]).unwrap();
        for (message, files) in commits {
            for (path, text) in *files {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                if text.is_empty() {
                    fs::remove_file(path).unwrap();
                } else {
                    fs::write(path, text).unwrap();
                }
            }
            commit(root.path(), message);
        }
        root
    }

    /// Commits all that is in the work tree.
    pub(in crate::tidy) fn commit(root: &Path, message: &str) {
        let history = History { root };
        history.git(&["add", "-A"]).unwrap();
        let author = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
        let commit = ["commit", "-q", "--no-gpg-sign", "-m", message];
        history.git(&[&author[..], &commit[..]].concat()).unwrap();
    }

    #[test]
    fn all_versions_of_a_file_are_found_newest_first() {
        let root = repository(&[
            ("one", &[("a.toml", "1")]),
            ("other", &[("b.toml", "-")]),
            ("two", &[("a.toml", "2")]),
        ]);
        let history = History::open(root.path()).unwrap().unwrap();
        let versions = history.versions("a.toml").unwrap();
        let texts: Vec<&str> = versions.iter().map(|version| &*version.text).collect();
        assert_eq!(texts, ["2", "1"]);
    }

    #[test]
    fn a_change_is_told_with_its_message_and_an_addition_is_not() {
        let root = repository(&[
            ("add", &[("snapshots/a", "1"), ("other", "1")]),
            ("area: change a\n\nbecause", &[("snapshots/a", "2")]),
            ("add more", &[("snapshots/b", "1"), ("other", "2")]),
        ]);
        let history = History::open(root.path()).unwrap().unwrap();
        let changes = history.changes(&["snapshots"]).unwrap();
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].message.trim(), "area: change a\n\nbecause");
        assert_eq!(changes[0].paths, ["snapshots/a"]);
    }

    #[test]
    fn a_file_that_moves_is_compared_with_what_it_was_before() {
        let text = |bound: &str| format!("# one\n# two\n# three\n# four\nbound = {bound}\n");
        let (one, two) = (text("1"), text("2"));
        let root = repository(&[
            ("one", &[("a/words.toml", &one)]),
            ("two", &[("a/words.toml", ""), ("b/others.toml", &two)]),
        ]);
        let history = History::open(root.path()).unwrap().unwrap();
        let versions = history.versions("b/others.toml").unwrap();
        let texts: Vec<&str> = versions.iter().map(|version| &*version.text).collect();
        assert_eq!(texts, [&*two, &*one]);
    }

    #[test]
    fn a_file_that_no_commit_has_is_an_error() {
        let root = repository(&[("one", &[("a.toml", "1")])]);
        let history = History::open(root.path()).unwrap().unwrap();
        let error = history.versions("b.toml").unwrap_err().to_string();
        assert!(error.starts_with("b.toml: no commit has it"), "{error}");
    }

    #[test]
    fn a_variable_of_git_does_not_lead_elsewhere() {
        let elsewhere = tempfile::tempdir().unwrap();
        let output = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "tidy::history::tests::all_versions_of_a_file_are_found_newest_first",
            ])
            .env("GIT_DIR", elsewhere.path())
            .env("GIT_INDEX_FILE", elsewhere.path().join("index"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed"), "{text}");
    }

    #[track_caller]
    fn check_has_no_history(root: &Path) {
        let found = History::open(root);
        if env::var_os("CI").is_some_and(|value| !value.is_empty()) {
            let error = found.unwrap_err().to_string();
            assert!(error.contains("no full git history"), "{error}");
        } else {
            assert!(found.unwrap().is_none());
        }
    }

    #[test]
    fn a_folder_without_a_repository_of_its_own_has_no_history() {
        let archive = tempfile::tempdir().unwrap();
        check_has_no_history(archive.path());
        let root = repository(&[("one", &[("archive/a.toml", "1")])]);
        check_has_no_history(&root.path().join("archive"));
    }
}
