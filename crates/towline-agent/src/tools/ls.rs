//! `LS`: what is in a directory (document 001 §2.7).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use towline_files::{Directory, Kind};

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    file::in_words,
};

/// Lists a directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ls {
    /// The directory, as an absolute path
    #[serde(rename = "path")]
    _path: PathBuf,
}

impl Tool for Ls {
    const NAME: &'static str = "LS";
    const DESCRIPTION: &'static str =
        "Lists the files and directories in a directory. To search use Glob or Grep.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, Self::list).await
    }
}

impl Ls {
    fn list(place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let target = place.target()?;
        let refused = |error: std::io::Error| {
            let words = in_words(&error, "list", &target.words);
            let current = place.current.display();
            Outcome::error(format!(
                "{words}. Note: your current working directory is {current}."
            ))
        };
        let directory = Directory::open(&target.real).map_err(refused)?;
        let entries = directory.entries().map_err(refused)?;
        let (mut names, mut total) = (Vec::new(), 0_usize);
        for entry in entries.flatten() {
            total += 1;
            if total > MOST_READ || interrupt.is_set() {
                break;
            }
            let name = entry.name.to_string_lossy().into_owned();
            let is_directory = entry.kind == Kind::Directory;
            names.push(if is_directory { name + "/" } else { name });
        }
        names.sort();
        names.truncate(MOST_SHOWN);
        let truncated = total > names.len();
        let mut text = if names.is_empty() {
            "The directory is empty.".to_owned()
        } else {
            names.join("\n")
        };
        if truncated {
            let more = if total > MOST_READ { "more than " } else { "" };
            let total = total.min(MOST_READ);
            text.push_str(&format!(
                "\n(the first {MOST_SHOWN} of {more}{total} entries; use Glob with a pattern to see others)"
            ));
        }
        Ok(Outcome::new(
            text.as_str(),
            json!({"path": target.words, "entries": names, "truncated": truncated}),
        ))
    }
}

/// How many entries are read.
const MOST_READ: usize = 100_000;

/// How many of them are shown.
const MOST_SHOWN: usize = 1000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::tried::Tried;

    #[tokio::test]
    async fn entries_are_sorted_and_directories_end_with_a_slash() {
        let tried = Tried::new(&[("b.txt", ""), ("a/x", ""), (".hidden", "")]);
        let listed = tried.call("LS", json!({"path": tried.path("")})).await;
        assert_eq!(listed.content.text(), ".hidden\na/\nb.txt");
        assert_eq!(
            *listed.data,
            json!({"path": tried.path(""), "entries": [".hidden", "a/", "b.txt"], "truncated": false})
        );
    }

    #[tokio::test]
    async fn a_large_directory_is_cut_and_says_so() {
        let tried = Tried::new(&[]);
        for index in 0..1001 {
            std::fs::write(tried.path(&format!("{index:04}")), "").unwrap();
        }
        let listed = tried.call("LS", json!({"path": "."})).await;
        assert!(listed.content.text().ends_with(
            "\n0999\n(the first 1000 of 1001 entries; use Glob with a pattern to see others)"
        ));
        assert_eq!(listed.data["truncated"], true);
    }

    #[tokio::test]
    async fn what_is_no_directory_is_an_error_that_says_where_we_are() {
        let tried = Tried::new(&[("a.txt", ""), ("empty/x", "")]);
        std::fs::remove_file(tried.path("empty/x")).unwrap();
        let note = format!(
            "Note: your current working directory is {}.",
            tried.path("")
        );
        for (path, text) in [
            (
                "nope",
                format!(
                    "ENOENT: no such file or directory, list '{}'. {note}",
                    tried.path("nope")
                ),
            ),
            (
                "a.txt",
                format!(
                    "ENOTDIR: not a directory, list '{}'. {note}",
                    tried.path("a.txt")
                ),
            ),
            ("empty", "The directory is empty.".to_owned()),
        ] {
            let listed = tried.call("LS", json!({"path": tried.path(path)})).await;
            assert_eq!(listed.content.text().as_str(), text);
        }
    }
}
