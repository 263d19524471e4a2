//! Where the settings are, and what they add up to.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Args;
use towline_permission::{Destination, Places, Settings};
use towline_store::{Home, SettingsFile, Workspace, managed_folder};

/// Where to look for settings.
#[derive(Debug, Args)]
pub(crate) struct Where {
    /// The folder that the agent works in; the current one by default.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Take the organisation's policy from this folder instead of the machine's own, to try one before it is rolled out.
    #[arg(long, value_name = "DIR")]
    managed: Option<PathBuf>,
}

/// Where an agent works, and where its user's configuration is.
pub(crate) struct Site {
    pub(crate) home: Home,
    pub(crate) workspace: Workspace,
    managed: PathBuf,
}

impl Where {
    pub(crate) fn site(&self) -> anyhow::Result<Site> {
        let folder = match &self.cwd {
            Some(folder) => folder.clone(),
            None => env::current_dir().context("cannot tell the current folder")?,
        };
        let managed = self.managed.as_deref().unwrap_or(managed_folder());
        if self.managed.is_some() && !managed.is_dir() {
            bail!("`{}` is not a folder", managed.display());
        }
        Ok(Site {
            home: Home::from_env().context("cannot tell where the settings are")?,
            workspace: Workspace::at(&folder)?,
            managed: managed.to_owned(),
        })
    }
}

impl Site {
    /// The settings files that an agent would read here.
    pub(crate) fn files(&self) -> Vec<SettingsFile> {
        self.home.settings(&self.workspace, &self.managed)
    }

    /// The places that rules and paths are relative to. `flag` is what was given as settings on the command line.
    pub(crate) fn places(&self, flag: Option<&SettingsFile>) -> anyhow::Result<Places> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        let home = home.context("cannot tell the home folder: set HOME to an absolute path")?;
        let folder_of_flag = flag
            .and_then(|flag| flag.path.as_deref())
            .and_then(Path::parent)
            .map(|folder| text(&real(folder)));
        let project = text(self.workspace.folder())?;
        Ok(Places {
            current: project.clone(),
            project,
            home: text(&real(&home))?,
            config: text(&real(self.home.folder()))?,
            flag_settings: folder_of_flag.transpose()?,
        })
    }

    /// Whose settings a file holds that somebody names.
    pub(crate) fn source_of(&self, path: &Path) -> Destination {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        let is_user = name == "settings.json" && real(folder) == real(self.home.folder());
        if is_user {
            Destination::UserSettings
        } else if name == "settings.local.json" {
            Destination::LocalSettings
        } else if name == "managed-settings.json" || folder.ends_with("managed-settings.d") {
            Destination::PolicySettings
        } else {
            Destination::ProjectSettings
        }
    }
}

/// What the files say. An agent does not start with a policy that it cannot read; with any other file it does.
pub(crate) fn read(
    files: &[SettingsFile],
    notices: &mut Vec<String>,
) -> anyhow::Result<Vec<(Destination, Settings)>> {
    let mut read = Vec::new();
    for file in files {
        let text = match &file.text {
            Ok(text) => text,
            Err(error) if file.source == Destination::PolicySettings => {
                bail!("{error}; no agent starts with a policy that cannot be read")
            }
            Err(error) => {
                notices.push(format!("{error}; the file is left out"));
                continue;
            }
        };
        let settings = Settings::read(text);
        for problem in &settings.problems {
            let place = shown(file);
            if file.source == Destination::PolicySettings && problem.key.is_empty() {
                bail!("{place}: {problem}; no agent starts with such a policy");
            }
            notices.push(format!("{place}: {problem}"));
        }
        read.push((file.source.clone(), settings));
    }
    Ok(read)
}

/// Whether the person trusts the project.
pub(crate) fn accepted(home: &Home, workspace: &Workspace, notices: &mut Vec<String>) -> bool {
    home.trusts(workspace).unwrap_or_else(|error| {
        notices.push(format!("{error}; the project counts as not trusted"));
        false
    })
}

/// Saved answers of the person for the project, of the sources that count.
pub(crate) fn saved(
    home: &Home,
    workspace: &Workspace,
    sources: &[Destination],
    notices: &mut Vec<String>,
) -> Vec<(Destination, Settings)> {
    let saved = home.saved_answers(workspace).unwrap_or_else(|error| {
        notices.push(format!("{error}; no answer that was saved counts"));
        Vec::new()
    });
    saved
        .into_iter()
        .filter(|(source, _)| sources.contains(source))
        .map(|(source, text)| (source, Settings::read(&text)))
        .collect()
}

/// Where a settings file is, for a person.
pub(crate) fn shown(file: &SettingsFile) -> String {
    match &file.path {
        Some(path) => path.display().to_string(),
        None => "--settings".to_owned(),
    }
}

/// The path that a rule would be compared with.
pub(crate) fn real(path: &Path) -> PathBuf {
    let real = path.canonicalize().or_else(|_| std::path::absolute(path));
    real.unwrap_or_else(|_| path.to_owned())
}

/// A path as rules see it.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!(
            "`{}` is not UTF-8, and no rule could be about it",
            path.display()
        );
    };
    Ok(text.to_owned())
}
