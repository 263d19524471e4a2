//! What is in the settings files when a session has ended.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use towline_permission::{Destination, Settings};

use crate::{fixture, row::Row};

/// The texts of the settings files, by source; nothing for one that is not there.
type Files = BTreeMap<&'static str, Option<String>>;

/// Plays the answers of a row and compares every file that they change.
pub(crate) fn check(row: &Row) -> usize {
    let mut policy = row.policy();
    let mut files = begin(row);
    let mut changed = Vec::new();
    for update in row.answered_updates() {
        let source = match &update.destination {
            Some(Destination::ProjectSettings) => "project",
            Some(Destination::LocalSettings) => "local",
            Some(Destination::UserSettings) => "user",
            _ => "",
        };
        let applied = policy.apply(&update).is_ok();
        if let Some(text) = files.get_mut(source)
            && applied
        {
            let before = text.as_deref().unwrap_or_default();
            *text = Some(Settings::write(before, &update).unwrap());
            changed.push((source, update));
        }
    }
    for (source, ours) in &files {
        let theirs = row.file_after(&fixture::settings_file(source));
        assert_eq!(
            parsed(ours.as_deref()),
            parsed(theirs),
            "{}: {source}",
            row.text("id")
        );
    }
    // What is written once more does not change, down to the last blank.
    for (source, update) in &changed {
        let theirs = row.file_after(&fixture::settings_file(source)).unwrap();
        assert_eq!(
            Settings::write(theirs, update).unwrap(),
            theirs,
            "{}",
            row.text("id")
        );
    }
    changed.len()
}

/// The files as the session found them. One of them has a setting that is not about permissions.
fn begin(row: &Row) -> Files {
    let ruled = match row.text("rule_source") {
        source @ ("project" | "local" | "user") if !row.names_files() => source,
        _ => "",
    };
    let mut files = Files::new();
    for source in ["project", "local", "user"] {
        let mut file = row.extra_file(&fixture::settings_file(source));
        if source == ruled || (ruled.is_empty() && source == "project" && file.is_null()) {
            file = json!({"skipWebFetchPreflight": true});
        }
        if source == ruled {
            for key in ["allow", "deny", "ask", "additionalDirectories"] {
                let texts: Vec<_> = row.texts(key).collect();
                if !texts.is_empty() {
                    file["permissions"][key] = json!(texts);
                }
            }
        }
        files.insert(source, (!file.is_null()).then(|| file.to_string()));
    }
    files
}

fn parsed(text: Option<&str>) -> Option<Value> {
    text.map(|text| serde_json::from_str(text).unwrap())
}
