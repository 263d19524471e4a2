//! What is shown of a project: real files, real repositories.

mod changes;
mod files;
mod forms;
mod hostile;
mod links;
mod listing;
mod programs;
mod worktrees;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use towline_bridge::{access::Roots, project::Projects};
use towline_protocol::Text;

/// A folder `base` with the root `base/root`, and everything that looks at it.
struct Place {
    _folder: TempDir,
    base: PathBuf,
    projects: Projects,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        fs::create_dir(base.join("root")).unwrap();
        let projects = Projects::new(Roots::new([base.join("root")]).unwrap());
        Self {
            _folder: folder,
            base,
            projects,
        }
    }

    /// With a repository in `base/root/project` that has one commit of these files.
    fn with_commit(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        fs::create_dir(place.project()).unwrap();
        git(&place.project(), &["init", "-q", "-b", "main"]);
        for (path, text) in files {
            place.write(path, text);
        }
        git(&place.project(), &["add", "-A"]);
        git(
            &place.project(),
            &["commit", "-q", "--allow-empty", "-m", "first"],
        );
        place
    }

    fn project(&self) -> PathBuf {
        self.base.join("root/project")
    }

    fn path(&self, path: &str) -> Text {
        self.base.join(path).to_str().unwrap().into()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Runs git as a person would, but with no settings of this machine.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
