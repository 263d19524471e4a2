//! `LS`: what is in a directory (document 001 §2.7).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};

/// Lists a directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ls {
    /// The directory, as an absolute path.
    path: PathBuf,
}

impl Tool for Ls {
    const NAME: &'static str = "LS";
    const DESCRIPTION: &'static str = "Lists the files and directories in a directory.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        let path = place.absolute(&self.path);
        let mut entries = match tokio::fs::read_dir(&path).await {
            Ok(entries) => entries,
            Err(error) => return Outcome::error(format!("{}: {error}", path.display())),
        };
        let mut names = Vec::new();
        while let Ok(Some(entry)) = entries.next_entry().await {
            let is_directory = entry.file_type().await.is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name().to_string_lossy().into_owned();
            names.push(if is_directory { name + "/" } else { name });
        }
        names.sort();
        Outcome::new(
            names.join("\n").as_str(),
            json!({"path": path, "entries": names}),
        )
    }
}
