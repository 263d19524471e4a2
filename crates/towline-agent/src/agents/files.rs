//! Agents in files: `agents/**/*.md` of the user and of the project, a frontmatter and a prompt each.

use std::{
    fs,
    path::{Path, PathBuf},
};

use towline_files::{Kind, RealPath};

use super::{AgentDefinition, frontmatter, is_inherited, tools};
use crate::{config::MemorySources, memory::read_text};

/// Where to look for agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentPlaces<'a> {
    /// The configuration folder.
    pub(crate) config: &'a Path,
    /// The working directory.
    pub(crate) cwd: &'a Path,
    /// Which of them count.
    pub(crate) sources: MemorySources,
}

/// Reads them, the more particular later. A file that is no agent is noted and left out: a bad file of a project must
/// not stop everybody who works on it.
pub(super) fn read(places: &AgentPlaces<'_>) -> Vec<AgentDefinition> {
    let mut agents = Vec::new();
    if places.sources.user {
        read_folder(&places.config.join("agents"), None, 0, &mut agents);
    }
    if places.sources.project {
        for folder in project_folders(places.cwd).into_iter().rev() {
            let Ok(project) = RealPath::resolve(folder) else {
                continue;
            };
            let agents_folder = folder.join(".claude/agents");
            read_folder(&agents_folder, Some(&project), 0, &mut agents);
        }
    }
    agents
}

/// The working directory and those above it, up to the top of the repository.
fn project_folders(cwd: &Path) -> Vec<&Path> {
    let mut folders = Vec::new();
    for folder in cwd.ancestors() {
        folders.push(folder);
        if folder.join(".git").exists() {
            return folders;
        }
    }
    vec![cwd]
}

/// Reads the agents of a folder; those of a project must really be in it.
fn read_folder(
    folder: &Path,
    project: Option<&RealPath>,
    depth: usize,
    agents: &mut Vec<AgentDefinition>,
) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths.take(MOST_FILES).collect();
    paths.sort();
    for path in paths {
        let Ok(real) = RealPath::resolve(&path) else {
            continue;
        };
        let Ok(status) = towline_files::status(&real) else {
            continue;
        };
        if project.is_some_and(|project| !real.starts_with(project)) {
            tracing::warn!(
                "`{}` is left out: a link leads out of the project",
                path.display()
            );
        } else if agents.len() >= MOST_FILES {
            tracing::warn!(
                "`{}` is left out: there are too many agents",
                path.display()
            );
        } else if status.kind == Kind::Directory {
            if depth < DEEPEST {
                read_folder(&path, project, depth + 1, agents);
            }
        } else if status.kind == Kind::File && path.extension().is_some_and(|ending| ending == "md")
        {
            match read_text(&real, MOST_IN_A_FILE).map(|text| definition(&text)) {
                Ok(Ok(agent)) => agents.push(agent),
                Ok(Err(why)) => tracing::warn!("`{}` is no agent: {why}", path.display()),
                Err(error) => tracing::warn!("`{}` is left out: {error}", path.display()),
            }
        }
    }
}

/// The agent that a file defines.
pub(super) fn definition(text: &str) -> Result<AgentDefinition, String> {
    let document = frontmatter::read(text)?;
    let needed = |field: &str| {
        let value = document.text(field).filter(|text| !text.is_empty());
        value.ok_or_else(|| format!("its frontmatter has no `{field}`"))
    };
    let model = document.text("model");
    Ok(AgentDefinition {
        name: needed("name")?,
        description: needed("description")?,
        prompt: document.body.trim().to_owned(),
        tools: tools(document.list("tools")),
        disallowed_tools: tools(document.list("disallowedTools")).unwrap_or_default(),
        model: model.filter(|model| !is_inherited(model)),
    })
}

const MOST_FILES: usize = 200;
const MOST_IN_A_FILE: usize = 256 << 10;
const DEEPEST: usize = 4;
