//! An update written into the text of a settings file.

use serde_json::ser::PrettyFormatter;
use towline_protocol::{Behavior, DecodeError, Json, Map, PermissionUpdate, UpdateKind, Wire};

use super::Settings;
use crate::rule::Rule;

impl Settings {
    /// The text of a settings file with an update in it; an empty text is a file that is not there yet.
    ///
    /// It becomes what the real CLI writes: JSON with two blanks a level and a line break at the end. Everything else
    /// in the file stays, in its order.
    ///
    /// ```
    /// use towline_permission::{Behavior, Destination, PermissionUpdate, Settings};
    /// use towline_protocol::RuleValue;
    ///
    /// let update = PermissionUpdate::add_rules(
    ///     vec![RuleValue::content("Bash", "just build")],
    ///     Behavior::Allow,
    ///     Destination::LocalSettings,
    /// );
    /// let text = Settings::write(r#"{"model": "opus"}"#, &update)?;
    /// assert_eq!(
    ///     text,
    ///     "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(just build)\"\n    ]\n  }\n}\n"
    /// );
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// When the text is no object, or a list in it that the update changes is none. Then the file must stay as it is.
    pub fn write(text: &str, update: &PermissionUpdate) -> Result<String, DecodeError> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let mut file = Map::<Json>::from_json(text)?;
        let mut permissions = match file.get("permissions") {
            Some(known) => Map::<Json>::from_json(known.text().clone())?,
            None => Map::new(),
        };
        if let Some(update) = update.standard() {
            change(&mut permissions, &update)?;
        }
        if !permissions.is_empty() || file.get("permissions").is_some() {
            file.insert("permissions", permissions.to_json());
        }
        Ok(pretty(&file.to_json()))
    }
}

fn change(permissions: &mut Map<Json>, update: &PermissionUpdate) -> Result<(), DecodeError> {
    match &update.kind {
        Some(
            kind @ (UpdateKind::AddRules | UpdateKind::ReplaceRules | UpdateKind::RemoveRules),
        ) => {
            let rules = update.rules.iter().flatten();
            let rules: Vec<_> = rules.map(|rule| Rule::from(rule).to_string()).collect();
            let key = update.behavior.as_ref().map_or("allow", Behavior::as_str);
            change_list(permissions, key, kind, &rules)
        }
        Some(kind @ (UpdateKind::AddDirectories | UpdateKind::RemoveDirectories)) => {
            let directories = update.directories.iter().flatten();
            let directories: Vec<_> = directories.map(ToString::to_string).collect();
            change_list(permissions, "additionalDirectories", kind, &directories)
        }
        Some(UpdateKind::SetMode) => {
            if let Some(mode) = &update.mode {
                permissions.insert("defaultMode", mode.to_json());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn change_list(
    permissions: &mut Map<Json>,
    key: &str,
    kind: &UpdateKind,
    texts: &[String],
) -> Result<(), DecodeError> {
    let known = match permissions.get(key) {
        Some(known) => Vec::<Json>::from_json(known.text().clone())?,
        None => Vec::new(),
    };
    let texts: Vec<Json> = texts
        .iter()
        .filter_map(|text| Json::of(text).ok())
        .collect();
    let mut list = match kind {
        UpdateKind::ReplaceRules => Vec::new(),
        UpdateKind::RemoveRules | UpdateKind::RemoveDirectories => known
            .into_iter()
            .filter(|entry| !texts.contains(entry))
            .collect(),
        _ => known,
    };
    if matches!(
        kind,
        UpdateKind::AddRules | UpdateKind::ReplaceRules | UpdateKind::AddDirectories
    ) {
        for text in texts {
            if !list.contains(&text) {
                list.push(text);
            }
        }
    }
    permissions.insert(key, list.to_json());
    Ok(())
}

/// The same JSON with two blanks a level and a line break at the end.
fn pretty(json: &Json) -> String {
    let mut bytes = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(json.as_str());
    let mut writer =
        serde_json::Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"  "));
    // What was just written by us is JSON, and a vector takes every byte.
    let outcome = serde_transcode::transcode(&mut reader, &mut writer);
    debug_assert!(outcome.is_ok());
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_else(|_| json.to_string())
}
