//! The made-up machine of the table: its places, links and directories.

use towline_permission::{Call, Destination, Facts, Places, Policy, paths};

/// The row with real places instead of placeholders.
pub(crate) fn fill(line: &str) -> String {
    line.replace("{CWD}", PROJECT)
        .replace("{OUT}", OUTSIDE)
        .replace("{HOME}", HOME)
        .replace("{BASE}", BASE)
}

pub(crate) fn places() -> Places {
    Places {
        project: PROJECT.to_owned(),
        current: PROJECT.to_owned(),
        home: HOME.to_owned(),
        config: format!("{HOME}/.claude"),
        flag_settings: Some(BASE.to_owned()),
    }
}

/// Where the settings of a source are.
pub(crate) fn settings_file(source: &str) -> String {
    match source {
        "project" => format!("{PROJECT}/.claude/settings.json"),
        "local" => format!("{PROJECT}/.claude/settings.local.json"),
        "user" => format!("{HOME}/.claude/settings.json"),
        "flag" => format!("{BASE}/flag.json"),
        other => panic!("there is no file for {other}"),
    }
}

/// Which settings a file of a row holds, if it holds any.
pub(crate) fn settings_source(path: &str) -> Option<Destination> {
    let sources = [
        ("project", Destination::ProjectSettings),
        ("local", Destination::LocalSettings),
        ("user", Destination::UserSettings),
        ("flag", Destination::FlagSettings),
    ];
    let mut sources = sources.into_iter();
    let (_, source) = sources.find(|(source, _)| settings_file(source) == path)?;
    Some(source)
}

/// What a caller would find out on that machine.
pub(crate) fn facts(policy: &Policy, call: &Call<'_>) -> Facts {
    let mut facts = Facts::default();
    for path in paths(policy, call) {
        let real = resolve(&path);
        if is_directory(&real) {
            facts.directories.insert(path.clone());
        }
        if real != path {
            facts.links.insert(path, real);
        }
    }
    facts
}

fn is_directory(path: &str) -> bool {
    DIRECTORIES.iter().any(|known| fill(known) == path)
}

fn resolve(path: &str) -> String {
    for (link, target) in LINKS {
        let link = fill(link);
        if let Some(rest) = path.strip_prefix(&link)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return format!("{}{rest}", fill(target));
        }
    }
    path.to_owned()
}

const BASE: &str = "/w/base";
const PROJECT: &str = "/w/base/proj";
const OUTSIDE: &str = "/w/base/out";
const HOME: &str = "/w/base/home";

const LINKS: &[(&str, &str)] = &[
    ("{CWD}/link_out.txt", "{OUT}/o.txt"),
    ("{CWD}/linkdir_out", "{OUT}"),
    ("{CWD}/link_secret", "{CWD}/secret"),
    ("{OUT}/link_into.txt", "{CWD}/a.txt"),
];

const DIRECTORIES: &[&str] = &[
    "/",
    "/etc",
    "/tmp",
    "{BASE}",
    "{HOME}",
    "{HOME}/docs",
    "{HOME}/.claude",
    "{OUT}",
    "{OUT}/dir",
    "{CWD}",
    "{CWD}/.git",
    "{CWD}/.claude",
    "{CWD}/sub",
    "{CWD}/sub/deep",
    "{CWD}/secret",
    "{CWD}/src",
];
