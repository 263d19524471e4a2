//! A policy that lets its own rules alone allow something.

use serde_json::Value;
use towline_permission::{Destination, Startup};
use towline_store::SettingsFile;

/// Takes away what anybody else allows, if the policy says so. CLI 2.1.325 then ignores what others deny, too; here
/// that holds all the same.
pub(super) fn heed(startup: &mut Startup, files: &[SettingsFile], notices: &mut Vec<String>) {
    if !files.iter().any(rules_alone) {
        return;
    }
    let mut dropped = startup.allowed_tools.len();
    startup.allowed_tools.clear();
    for (source, settings) in &mut startup.files {
        if *source != Destination::PolicySettings {
            dropped += settings.allow.len();
            settings.allow.clear();
        }
    }
    if dropped > 0 {
        notices.push(format!(
            "the policy lets its own rules alone allow something, so {dropped} others do not count"
        ));
    }
}

fn rules_alone(file: &SettingsFile) -> bool {
    let text = file.text.as_deref().unwrap_or_default();
    let settings: Value = serde_json::from_str(text).unwrap_or_default();
    file.source == Destination::PolicySettings
        && settings["allowManagedPermissionRulesOnly"] == true
}
