//! Files that run something, or that decide what may run, by just being there. Writing them is asked about whatever
//! the rules say.

/// Whether a path is one of them, or is in one of their directories, at any depth and in any case.
pub(super) fn is_protected(path: &str) -> bool {
    let path: String = path
        .to_lowercase()
        .chars()
        .filter(|c| !is_unseen(*c))
        .collect();
    if has_other_name(&path)
        || LONGER.iter().any(|file| path.ends_with(file))
        || path.contains("/.config/git/")
    {
        return true;
    }
    // Some file systems take blanks and dots at the ends of names away.
    let parts = path.split('/').map(|part| match part.trim() {
        dots @ ("." | "..") => dots,
        part => part.trim_end_matches(['.', ' ']),
    });
    let mut parts = parts.peekable();
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

/// A letter without width, which some file systems leave out of names.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a name in a path stands for another file where Windows' rules hold: a stream, a short form, a blank or dots at its end.
pub(crate) fn has_other_name(path: &str) -> bool {
    path.split('/').any(|part| {
        let is_place = matches!(part, "" | "." | "..");
        let mut forms = part.split('~').skip(1);
        let is_short = forms.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_cut = part.ends_with(['.', ' ']) || part.starts_with(' ');
        !is_place && (is_short || is_cut || part.contains("::$") || part.contains('\\'))
    })
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
    ".yarn",
    ".cargo",
    ".mvn",
];

/// Files that run code only where they are.
const LONGER: &[&str] = &[
    "/.config/lefthook.yml",
    "/gradle/wrapper/gradle-wrapper.properties",
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
    ".yarnrc",
    ".pnpmfile.cjs",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazeliskrc",
    ".bazelversion",
    ".devcontainer.json",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
];
