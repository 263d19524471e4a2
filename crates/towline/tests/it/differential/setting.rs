//! The settings under which lines are compared, and the folder they run in.

use std::{
    fs, os::unix::fs::PermissionsExt as _, os::unix::fs::symlink, path::Path, process::Command,
};

use serde_json::{Value, json};

/// A mode with rules.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) mode: &'static str,
    pub(crate) allow: &'static [&'static str],
    pub(crate) deny: &'static [&'static str],
    /// How many of a hundred batches have it.
    pub(crate) share: usize,
}

const fn setting(
    mode: &'static str,
    allow: &'static [&'static str],
    deny: &'static [&'static str],
    share: usize,
) -> Setting {
    Setting {
        mode,
        allow,
        deny,
        share,
    }
}

pub(crate) const SETTINGS: &[Setting] = &[
    setting("default", &[], &[], 46),
    setting("acceptEdits", &[], &[], 14),
    setting("plan", &[], &[], 4),
    setting("dontAsk", &[], &[], 4),
    setting("default", SOME, &[], 14),
    setting("default", &["Bash"], FORBIDDEN, 10),
    setting("bypassPermissions", &[], FORBIDDEN, 8),
];

const SOME: &[&str] = &[
    "Bash(npm test)",
    "Bash(git log:*)",
    "Bash(cat:*)",
    "Bash(make)",
    "Bash(find:*)",
    "Bash(curl *)",
    "Bash(touch:*)",
    "Bash(sed:*)",
    "Read(//etc/**)",
];
const FORBIDDEN: &[&str] = &[
    "Bash(rm:*)",
    "Bash(curl:*)",
    "Bash(npm test:*)",
    "Read(secret/**)",
    "Edit(sub/**)",
];

/// Where everything is, inside of the sandbox.
pub(crate) const BASE: &str = "/srv/w";
pub(crate) const PROJECT: &str = "/srv/w/proj";
pub(crate) const OUTSIDE: &str = "/srv/w/out";
pub(crate) const HOME: &str = "/srv/w/home";
/// Programs of which each only says that it ran.
pub(crate) const STUBS: &str = "/srv/w/bin";

impl Setting {
    /// Makes the folders anew, with these settings in the user's file.
    pub(crate) fn lay_out(&self) {
        let write = |path: &str, text: &str| {
            fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        fs::remove_dir_all(BASE).ok();
        for name in [
            "a.txt",
            "sub/b.txt",
            "sub/deep/c.txt",
            "secret/key.txt",
            ".env",
            "src/main.rs",
            "Makefile",
        ] {
            write(&format!("{PROJECT}/{name}"), "text\n");
        }
        write(&format!("{PROJECT}/script.sh"), "echo script\n");
        write(&format!("{OUTSIDE}/o.txt"), "outside\n");
        for (link, target) in [
            ("link_out.txt", "/srv/w/out/o.txt"),
            ("linkdir_out", "/srv/w/out"),
            ("link_secret", "secret"),
        ] {
            symlink(target, format!("{PROJECT}/{link}")).unwrap();
        }
        for name in [
            "npm", "curl", "make", "node", "docker", "sudo", "doas", "parallel", "gh",
        ] {
            let path = format!("{STUBS}/{name}");
            write(&path, "#!/bin/sh\necho stub\n");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        write(
            &format!("{HOME}/.claude/settings.json"),
            &self.file().to_string(),
        );
        let trusted = json!({"projects": {PROJECT: {"hasTrustDialogAccepted": true}}});
        write(&format!("{HOME}/.claude.json"), &trusted.to_string());
        for arguments in [
            &["init", "--quiet", "--initial-branch", "main"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "--quiet",
                "--message",
                "x",
            ],
        ] {
            let git = Command::new("git")
                .args(arguments)
                .current_dir(PROJECT)
                .env("HOME", HOME)
                .status();
            assert!(git.unwrap().success(), "git {arguments:?}");
        }
    }

    fn file(&self) -> Value {
        // Without it plan mode asks a model, which neither has here.
        json!({
            "useAutoModeDuringPlan": false,
            "permissions": {"allow": self.allow, "deny": self.deny},
        })
    }
}
