//! Files that run something, or that decide what may run, by just being there. Writing them is asked about whatever
//! the rules say.

/// Whether a path is one of them, or is in one of their directories, at any depth and in any case.
pub(super) fn is_protected(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        if part == ".claude" && parts.peek() == Some(&WORK_TREES) {
            continue;
        }
        if DIRECTORIES.contains(&part) || (parts.peek().is_none() && FILES.contains(&part)) {
            return true;
        }
    }
    false
}

/// What is below `.claude/worktrees` is somebody's working copy.
const WORK_TREES: &str = "worktrees";

const DIRECTORIES: &[&str] = &[
    ".git",
    ".claude",
    ".vscode",
    ".idea",
    ".husky",
    ".devcontainer",
];

/// The second half are start-up files of shells that no recorded decision is about: they are as dangerous as the others.
const FILES: &[&str] = &[
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".ripgreprc",
    ".npmrc",
    ".yarnrc.yml",
    ".envrc",
    ".mcp.json",
    ".claude.json",
    ".pre-commit-config.yaml",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
];
