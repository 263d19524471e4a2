//! Whether a skill brings tools of its own, which is asked about; one that does not is only a text.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use super::super::settings::Site;

/// Whether the skill of that name brings tools or hooks. One that is not found counts as if it did.
pub(super) fn brings_tools(site: &Site, name: &str, notices: &mut Vec<String>) -> bool {
    let name = name.strip_prefix('/').unwrap_or(name);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let is_name = !name.is_empty() && !name.starts_with('.') && name.chars().all(plain);
    let found = is_name
        .then(|| places(site, name).into_iter().find_map(|path| head(&path)))
        .flatten();
    match found {
        Some(head) => head.iter().any(|line| {
            let key = line.split(':').next().unwrap_or_default();
            matches!(key, "allowed-tools" | "hooks")
        }),
        None => {
            notices.push(format!(
                "no skill `{name}` was found in the project or at home; it counts as one that brings tools"
            ));
            true
        }
    }
}

fn places(site: &Site, name: &str) -> Vec<PathBuf> {
    let project = site.workspace.folder().join(".claude");
    [project.as_path(), site.home.folder()]
        .into_iter()
        .flat_map(|folder| {
            let skill = folder.join("skills").join(name).join("SKILL.md");
            let command = folder.join("commands").join(format!("{name}.md"));
            [skill, command]
        })
        .collect()
}

/// The lines between the `---` at the start of a file; nothing if there is no such file.
fn head(path: &Path) -> Option<Vec<String>> {
    if !path.is_file() {
        return None;
    }
    let file = BufReader::new(File::open(path).ok()?).take(LARGEST);
    let mut lines = file.lines().map_while(Result::ok);
    if lines.next().is_none_or(|first| first.trim_end() != "---") {
        return Some(Vec::new());
    }
    Some(lines.take_while(|line| line.trim_end() != "---").collect())
}

/// More than the head of any skill.
const LARGEST: u64 = 1 << 20;
