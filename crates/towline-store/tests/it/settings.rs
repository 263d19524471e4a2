//! Which settings files count, whether a project is trusted, and how a file is written back.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use towline_protocol::Destination;
use towline_store::{Home, SettingsFile, Workspace};

/// A home, a policy folder and a project that go away with the test.
struct Made {
    folder: TempDir,
}

impl Made {
    fn new() -> Self {
        let made = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["home", "managed", "project/sub"] {
            fs::create_dir_all(made.path(folder)).unwrap();
        }
        made
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    /// Writes a file, with the folders to it.
    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn home(&self) -> Home {
        let home = self.path("home").into_os_string();
        Home::from_variables(|name| (name == "HOME").then(|| home.clone())).unwrap()
    }

    fn workspace(&self, folder: &str) -> Workspace {
        Workspace::at(&self.path(folder)).unwrap()
    }

    /// What an agent in a folder would read: the sources and texts, or what is wrong.
    fn settings(&self, folder: &str) -> Vec<(Destination, String)> {
        let managed = self.path("managed");
        let files = self.home().settings(&self.workspace(folder), &managed);
        let place = self.path("");
        let told = |file: SettingsFile| match file.text {
            Ok(text) => text,
            Err(error) => error.to_string().replace(place.to_str().unwrap(), ""),
        };
        files
            .into_iter()
            .map(|file| (file.source.clone(), told(file)))
            .collect()
    }

    fn trust(&self, state: &str, folder: &str) {
        let folder = self.path(folder);
        let state_text = serde_json::json!({
            "numStartups": 3,
            "projects": {folder.to_str().unwrap(): {"hasTrustDialogAccepted": true}},
        });
        self.put(state, state_text.to_string());
    }

    fn is_trusted(&self, folder: &str) -> bool {
        self.home().trusts(&self.workspace(folder)).unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(self.path("project"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
}

use Destination::{LocalSettings, PolicySettings, ProjectSettings, UserSettings};

fn expect(files: &[(Destination, &str)]) -> Vec<(Destination, String)> {
    files
        .iter()
        .map(|(source, text)| (source.clone(), (*text).to_owned()))
        .collect()
}

#[test]
fn all_files_that_are_there_are_found_with_their_source() {
    let made = Made::new();
    assert_eq!(made.settings("project"), []);
    made.put("home/.claude/settings.json", "user");
    made.put("project/.claude/settings.json", "project");
    made.put("project/.claude/settings.local.json", "local");
    made.put("managed/managed-settings.json", "managed");
    // The order of their names, not of the days they were made.
    made.put("managed/managed-settings.d/20-late.json", "late");
    made.put("managed/managed-settings.d/10-early.json", "early");
    for overlooked in [".hidden.json", "note.txt", "folder.json/x.json"] {
        made.put(&format!("managed/managed-settings.d/{overlooked}"), "no");
    }
    assert_eq!(
        made.settings("project"),
        expect(&[
            (UserSettings, "user"),
            (ProjectSettings, "project"),
            (LocalSettings, "local"),
            (PolicySettings, "managed"),
            (PolicySettings, "early"),
            (PolicySettings, "late"),
        ])
    );
}

#[test]
fn in_a_folder_of_a_repository_the_repository_s_local_file_counts_too_and_its_project_file_does_not()
 {
    let made = Made::new();
    made.put("project/.claude/settings.json", "above");
    made.put("project/.claude/settings.local.json", "local above");
    made.put("project/sub/.claude/settings.local.json", "local");
    assert_eq!(
        made.settings("project/sub"),
        expect(&[(LocalSettings, "local")])
    );
    fs::create_dir(made.path("project/.git")).unwrap();
    let both = expect(&[(LocalSettings, "local"), (LocalSettings, "local above")]);
    assert_eq!(made.settings("project/sub"), both);
}

#[test]
fn a_linked_worktree_belongs_to_the_main_one_and_a_submodule_to_itself() {
    let made = Made::new();
    made.git(&["init", "--quiet"]);
    made.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
    let beside = made.path("beside");
    made.git(&["worktree", "add", "--quiet", beside.to_str().unwrap()]);
    made.put("project/.claude/settings.local.json", "main");
    made.put("project/.git/modules/part/HEAD", "ref: refs/heads/main");
    made.put("project/part/.git", "gitdir: ../.git/modules/part");
    for (folder, trusted_as) in [
        ("project", "project"),
        ("project/sub", "project"),
        ("beside", "project"),
        ("project/part", "project/part"),
        ("home", "home"),
    ] {
        let workspace = made.workspace(folder);
        assert_eq!(workspace.folder(), made.path(folder));
        assert_eq!(workspace.trusted_as(), made.path(trusted_as), "{folder}");
    }
    assert_eq!(made.settings("beside"), expect(&[(LocalSettings, "main")]));
    assert_eq!(made.settings("project/part"), []);
}

#[test]
fn imports_from_outside_are_allowed_apart_from_trust() {
    let made = Made::new();
    let workspace = made.workspace("project");
    made.trust("home/.claude.json", "project");
    assert!(!made.home().allows_outside_imports(&workspace).unwrap());
    let folder = made.path("project");
    let said = serde_json::json!({"hasClaudeMdExternalIncludesApproved": true});
    let state = serde_json::json!({"projects": {folder.to_str().unwrap(): said}});
    made.put("home/.claude.json", state.to_string());
    assert!(made.home().allows_outside_imports(&workspace).unwrap());
    assert!(!made.is_trusted("project"));
    assert!(
        !made
            .home()
            .allows_outside_imports(&made.workspace("home"))
            .unwrap()
    );
}

#[test]
fn the_configuration_folder_can_be_elsewhere() {
    let made = Made::new();
    made.put("home/.claude/settings.json", "home");
    made.put("elsewhere/settings.json", "elsewhere");
    let elsewhere = Home::new(made.path("elsewhere"));
    let workspace = made.workspace("project");
    let files = elsewhere.settings(&workspace, &made.path("managed"));
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].text.as_deref().unwrap(), "elsewhere");

    made.trust("elsewhere/.claude.json", "project");
    assert!(elsewhere.trusts(&workspace).unwrap());
    assert!(!made.is_trusted("project"));
}

#[test]
fn trust_is_that_of_the_repository_or_of_the_very_folder() {
    let made = Made::new();
    assert!(!made.is_trusted("project"));
    made.trust("home/.claude.json", "project");
    assert!(made.is_trusted("project"));
    assert!(!made.is_trusted("project/sub"));
    fs::create_dir(made.path("project/.git")).unwrap();
    assert!(made.is_trusted("project/sub"));
    made.trust("home/.claude.json", "project/sub");
    assert!(!made.is_trusted("project/sub"));
}

#[test]
fn a_state_that_does_not_say_true_does_not_trust_and_one_that_is_broken_is_an_error() {
    let made = Made::new();
    let key = made.path("project");
    let key = key.to_str().unwrap();
    for state in [
        "{}".to_owned(),
        r#"{"projects": {}}"#.to_owned(),
        format!(r#"{{"projects": {{"{key}": {{}}}}}}"#),
        format!(r#"{{"projects": {{"{key}": {{"hasTrustDialogAccepted": false}}}}}}"#),
        format!(r#"{{"projects": {{"{key}": {{"hasTrustDialogAccepted": "true"}}}}}}"#),
    ] {
        made.put("home/.claude.json", &state);
        assert!(!made.is_trusted("project"), "{state}");
    }
    for broken in ["", "{", r#"{"projects": 5}"#, "\u{0}"] {
        made.put("home/.claude.json", broken);
        let error = made.home().trusts(&made.workspace("project")).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(".claude.json`: not the JSON"), "{error}");
    }
}

#[test]
fn what_cannot_be_read_is_told_and_the_other_files_count() {
    let made = Made::new();
    made.put("home/.claude/settings.json", b"{\"model\": \"\xff\"}");
    fs::create_dir_all(made.path("project/.claude/settings.json")).unwrap();
    made.put("managed/managed-settings.json", vec![b' '; (4 << 20) + 1]);
    made.put("managed/managed-settings.d/a.json", "\u{feff}{}");
    assert_eq!(
        made.settings("project"),
        expect(&[
            (
                UserSettings,
                "cannot use `home/.claude/settings.json`: it is not UTF-8: invalid utf-8 sequence of 1 bytes from \
                 index 11"
            ),
            (
                ProjectSettings,
                "cannot use `project/.claude/settings.json`: it is not a plain file"
            ),
            (
                PolicySettings,
                "cannot use `managed/managed-settings.json`: it is larger than 4194304 bytes"
            ),
            (PolicySettings, "{}"),
        ])
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_a_pipe_is_not_waited_for() {
    let made = Made::new();
    made.put("dotfiles/settings.json", "kept elsewhere");
    fs::create_dir(made.path("home/.claude")).unwrap();
    std::os::unix::fs::symlink(
        made.path("dotfiles/settings.json"),
        made.path("home/.claude/settings.json"),
    )
    .unwrap();
    fs::create_dir(made.path("project/.claude")).unwrap();
    let pipe = made.path("project/.claude/settings.json");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert_eq!(
        made.settings("project"),
        expect(&[
            (UserSettings, "kept elsewhere"),
            (
                ProjectSettings,
                "cannot use `project/.claude/settings.json`: it is not a plain file"
            ),
        ])
    );
}

#[test]
fn the_flag_takes_an_object_or_a_file() {
    let made = Made::new();
    made.put("project/flag.json", "in a file");
    let base = made.path("project");
    let flag = |value: &str| SettingsFile::flag(value, &base);
    for (value, path, text) in [
        (r#" {"a": 1}"#, None, r#" {"a": 1}"#),
        ("flag.json", Some(base.join("flag.json")), "in a file"),
        (
            base.join("flag.json").to_str().unwrap(),
            Some(base.join("flag.json")),
            "in a file",
        ),
    ] {
        let file = flag(value).unwrap();
        assert_eq!(file.source, Destination::FlagSettings);
        assert_eq!((file.path, file.text.unwrap()), (path, text.to_owned()));
    }
    for (value, problem) in [
        ("missing.json", "there is no such file"),
        (
            r#"{"a": "#,
            "neither a JSON object nor a file that is there",
        ),
    ] {
        let error = flag(value).unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_no_workspace() {
    let made = Made::new();
    made.put("file", "");
    for (path, told) in [
        ("nowhere", "cannot find the folder `"),
        ("file", "cannot use `"),
    ] {
        let error = Workspace::at(&made.path(path)).unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}");
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;

    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_changed_file_keeps_its_mode_and_its_link_and_a_new_one_is_private() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let made = Made::new();
    let workspace = made.workspace("project");
    let file = |destination| made.home().settings_file(&workspace, &destination).unwrap();

    let local = file(LocalSettings);
    let path = made.path("project/.claude/settings.local.json");
    assert_eq!(local.path.as_deref(), Some(&*path));
    assert_eq!(local.text.as_deref().unwrap(), "");
    local.write("{}\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(mode(&path), 0o600);

    made.put("dotfiles/settings.json", "old");
    let target = made.path("dotfiles/settings.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(made.path("home/.claude")).unwrap();
    let link = made.path("home/.claude/settings.json");
    symlink(&target, &link).unwrap();
    file(UserSettings).write("new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    assert_eq!(mode(&target), 0o640);
    let beside: Vec<_> = fs::read_dir(made.path("dotfiles")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing is left over: {beside:?}");
}

#[test]
fn a_file_that_somebody_else_changed_meanwhile_is_left_alone() {
    let made = Made::new();
    let workspace = made.workspace("project");
    let file = made.home().settings_file(&workspace, &ProjectSettings);
    let file = file.unwrap();
    made.put("project/.claude/settings.json", "theirs");
    let error = file.write("ours").unwrap_err().to_string();
    assert!(
        error.ends_with("somebody else changed it since it was read"),
        "{error}"
    );
    let text = fs::read_to_string(made.path("project/.claude/settings.json")).unwrap();
    assert_eq!(text, "theirs");
}

#[test]
fn in_a_repository_a_local_change_goes_to_the_repository_s_file() {
    let made = Made::new();
    fs::create_dir(made.path("project/.git")).unwrap();
    let workspace = made.workspace("project/sub");
    let path = |destination| {
        let file = made.home().settings_file(&workspace, &destination);
        file.and_then(|file| file.path)
    };
    for (destination, expected) in [
        (LocalSettings, Some("project/.claude/settings.local.json")),
        (ProjectSettings, Some("project/sub/.claude/settings.json")),
        (UserSettings, Some("home/.claude/settings.json")),
        (PolicySettings, None),
        (Destination::FlagSettings, None),
        (Destination::Session, None),
    ] {
        let expected = expected.map(|expected| made.path(expected));
        assert_eq!(path(destination.clone()), expected, "{destination:?}");
    }
}

/// An unpacked archive said with its `.git` file that it was a worktree of a repository that is trusted.
#[test]
fn a_folder_that_only_claims_to_be_a_worktree_of_a_trusted_repository_is_not_trusted() {
    let made = Made::new();
    made.git(&["init", "--quiet"]);
    made.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
    let beside = made.path("beside");
    made.git(&["worktree", "add", "--quiet", beside.to_str().unwrap()]);
    made.trust("home/.claude.json", "project");
    assert!(made.is_trusted("beside"));
    let git = made.path("project/.git").display().to_string();
    // A folder of git of its own that names the trusted one, with and without a way back.
    made.put("forged/.git", "gitdir: own\n");
    made.put("forged/own/commondir", &git);
    assert!(!made.is_trusted("forged"));
    made.put("forged/own/gitdir", "../.git");
    assert!(!made.is_trusted("forged"));
    // That of another worktree, which does not lead back.
    made.put("stolen/.git", format!("gitdir: {git}/worktrees/beside\n"));
    assert!(!made.is_trusted("stolen"));
    assert_eq!(made.workspace("stolen").trusted_as(), made.path("stolen"));
}

/// An unpacked archive had a link in place of its `.git`, to the file of a worktree that the trusted repository knows.
#[cfg(unix)]
#[test]
fn a_folder_whose_git_is_a_link_to_that_of_a_worktree_is_not_trusted() {
    use std::os::unix::fs::symlink;

    let made = Made::new();
    made.git(&["init", "--quiet"]);
    made.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
    let beside = made.path("beside");
    made.git(&["worktree", "add", "--quiet", beside.to_str().unwrap()]);
    made.trust("home/.claude.json", "project");
    fs::create_dir_all(made.path("linked/sub")).unwrap();
    symlink("beside/.git", made.path("chain")).unwrap();
    for target in ["../beside/.git", "../chain"] {
        symlink(target, made.path("linked/.git")).unwrap();
        for folder in ["linked", "linked/sub"] {
            assert!(!made.is_trusted(folder), "{target}: {folder}");
            let trusted_as = made.workspace(folder).trusted_as().to_owned();
            assert_eq!(trusted_as, made.path("linked"), "{target}");
        }
        fs::remove_file(made.path("linked/.git")).unwrap();
    }
    // Nor does a link in the repository's own entry lead to it, and a worktree is one where it is reached by a link.
    symlink("beside", made.path("way")).unwrap();
    assert!(made.is_trusted("way"));
    let pointer = fs::read(made.path("beside/.git")).unwrap();
    made.put("linked/.git", pointer);
    symlink("linked/.git", made.path("known")).unwrap();
    let known = made.path("known").display().to_string();
    made.put("project/.git/worktrees/beside/gitdir", known);
    assert!(!made.is_trusted("linked"));
}

/// A clone brought `.claude/settings.local.json` as a link to the person's own settings: a rule that was meant for the
/// project was saved for all of them.
#[cfg(unix)]
#[test]
fn an_answer_is_not_saved_through_a_link_that_leads_out_of_the_repository() {
    use std::os::unix::fs::symlink;

    let made = Made::new();
    fs::create_dir(made.path("project/.git")).unwrap();
    made.put("home/.claude/settings.json", "{}");
    fs::create_dir(made.path("project/.claude")).unwrap();
    let target = made.path("home/.claude/settings.json");
    symlink(&target, made.path("project/.claude/settings.local.json")).unwrap();
    symlink(made.path("home/.claude"), made.path("project/sub/.claude")).unwrap();
    let problem = "a link makes it a file outside of the repository, where no answer is saved";
    for (folder, destination) in [("project", LocalSettings), ("project/sub", ProjectSettings)] {
        let workspace = made.workspace(folder);
        let file = made.home().settings_file(&workspace, &destination).unwrap();
        let error = file.text.as_ref().unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
        assert!(file.write("ours").is_err());
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    // One that stays inside is followed as before.
    made.put("project/shared.json", "{}");
    let inside = made.path("project/.claude/settings.json");
    symlink(made.path("project/shared.json"), &inside).unwrap();
    let workspace = made.workspace("project");
    let file = made.home().settings_file(&workspace, &ProjectSettings);
    file.unwrap().write("ours").unwrap();
    assert_eq!(
        fs::read_to_string(made.path("project/shared.json")).unwrap(),
        "ours"
    );
}
