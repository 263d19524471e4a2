//! A folder with files, and calls of tools in it: for the tests of the tools.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use towline_permission::{PermissionMode, Places, Policy};

use super::{Outcome, Place, Target, ToolCall};

/// A folder with files.
#[derive(Debug)]
pub(super) struct Tried {
    folder: TempDir,
    /// What the calls have at hand.
    pub(super) place: Place,
}

impl Tried {
    /// A folder with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The folder for temporary files may be behind a link.
        let root = fs::canonicalize(folder.path()).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let (place, _) = Place::in_folder(elsewhere.path());
        let place = Place {
            project: Arc::from(root.as_path()),
            current: root,
            ..place
        };
        let tried = Self { folder, place };
        for (path, content) in files {
            tried.write(path, content);
        }
        tried
    }

    /// Writes a file by hand.
    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.place.current.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A path in the folder.
    pub(super) fn path(&self, path: &str) -> String {
        let path: PathBuf = self.place.current.join(path);
        path.to_str().unwrap().trim_end_matches('/').to_owned()
    }

    /// What a file holds.
    pub(super) fn content(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// What a file holds.
    pub(super) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.place.current.join(path)).unwrap()
    }

    /// The names in a directory.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.place.current.join(path)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Calls a tool.
    pub(super) async fn call(&self, name: &str, input: Value) -> Outcome {
        match ToolCall::read(name, &input).expect("a tool of this name") {
            Ok(call) => {
                let place = Place {
                    target: Target::of(&self.policy(), name, &input),
                    ..self.place.clone()
                };
                call.run(&place).await
            }
            Err(refusal) => refusal,
        }
    }

    /// The places that the paths of calls are relative to.
    fn policy(&self) -> Policy {
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let places = Places {
            project: path(&self.place.project),
            current: path(&self.place.current),
            ..Places::default()
        };
        Policy::new(PermissionMode::Default, places)
    }

    /// Reads a file with the tool.
    pub(super) async fn read(&self, path: &str) -> Outcome {
        let read = self
            .call("Read", json!({"file_path": self.path(path)}))
            .await;
        assert_eq!(read.is_error, None, "{read:?}");
        read
    }

    /// What the model reads, with `/project` for the folder.
    pub(super) fn words(&self, outcome: &Outcome) -> String {
        outcome.content.text().replace(self.root(), "/project")
    }

    /// What the host reads, with `/project` for the folder.
    pub(super) fn data(&self, outcome: &Outcome) -> Value {
        let text = outcome.data.to_string().replace(self.root(), "/project");
        serde_json::from_str(&text).unwrap()
    }

    fn root(&self) -> &str {
        assert!(Path::new(self.folder.path()).exists());
        self.place.current.to_str().unwrap()
    }
}
