//! The person's own state of a folder: that it is trusted, and what answers saved there. Files of the
//! configuration folder, which no repository brings along.
//!
//! `hasTrustDialogAccepted` stands where CLI 2.1.325 has it, so that a folder is trusted for both or for neither. Saved
//! answers have a file of their own: in the repository's settings file anything that a `git pull` writes would look saved.

use std::path::{Path, PathBuf};

use towline_protocol::{Destination, Json, Map, Wire};

use crate::{
    error::{Error, Result},
    home::Home,
    replace,
    settings::read_bounded,
    workspace::{LARGEST_STATE, Workspace},
};

/// Where an answer is kept for a folder: the folder, and the name of what the answer changes.
struct Kept {
    folder: String,
    name: &'static str,
}

impl Home {
    /// Records that a person trusts a workspace. Everything else in the file stays.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// let other = Workspace::at(home.folder())?;
    /// home.trust(&other)?;
    /// assert!(home.trusts(&other)?);
    /// home.distrust(&other)?;
    /// assert!(!home.trusts(&other)?);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the folder's path is not UTF-8, or the state cannot be read or written. Then it is as it was.
    pub fn trust(&self, workspace: &Workspace) -> Result<()> {
        self.set_trust(workspace, "true")
    }

    /// Records that a person does not trust a workspace any more.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// assert!(home.trusts(&workspace)?);
    /// home.distrust(&workspace)?;
    /// assert!(!home.trusts(&workspace)?);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`trust`](Self::trust).
    pub fn distrust(&self, workspace: &Workspace) -> Result<()> {
        self.set_trust(workspace, "false")
    }

    fn set_trust(&self, workspace: &Workspace, value: &'static str) -> Result<()> {
        let folder = name_of(workspace.trusted_as())?;
        let path = self.state_file();
        let value = Json::new(value).map_err(unreadable(path))?;
        replace::change(path, LARGEST_STATE, |text| {
            change_at(path, text, &[PROJECTS, &folder, TRUSTED], &|_| {
                Ok(value.clone())
            })
        })
    }

    /// The saved answers of the person for a workspace: settings as text, with the file that each was meant for.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// use towline_protocol::Destination;
    ///
    /// let local = Destination::LocalSettings;
    /// home.save_answer(&workspace, &local, |before| {
    ///     assert_eq!(before, "");
    ///     Ok(r#"{"permissions": {"allow": ["Bash(make)"]}}"#.to_owned())
    /// })?;
    /// let saved = home.saved_answers(&workspace)?;
    /// assert_eq!(saved.len(), 1);
    /// assert_eq!(saved[0].0, local);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file that has them cannot be read. Then none of them counts.
    pub fn saved_answers(&self, workspace: &Workspace) -> Result<Vec<(Destination, String)>> {
        let path = self.answers_file();
        let Some(text) = read_bounded(&path, LARGEST_ANSWERS)? else {
            return Ok(Vec::new());
        };
        let mut saved = Vec::new();
        for destination in [Destination::ProjectSettings, Destination::LocalSettings] {
            let Some(Kept { folder, name }) = kept(workspace, &destination)? else {
                continue;
            };
            let mut value = Json::new(text.as_str()).map_err(unreadable(&path))?;
            let mut is_there = true;
            for key in [PROJECTS, &folder, name] {
                let object = Map::<Json>::from_json(value.text().clone());
                match object.map_err(unreadable(&path))?.get(key) {
                    Some(inner) => value = inner.clone(),
                    None => {
                        is_there = false;
                        break;
                    }
                }
            }
            if is_there {
                saved.push((destination, value.to_string()));
            }
        }
        Ok(saved)
    }

    /// Saves an answer for a workspace: `change` gets what is saved so far as the text of a settings file (empty, if there
    /// is nothing) and gives the new text. It does nothing for a destination that is no file of the project.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// use towline_protocol::Destination;
    ///
    /// let user = Destination::UserSettings;
    /// home.save_answer(&workspace, &user, |_| unreachable!("the person's own file has it"))?;
    /// assert_eq!(home.saved_answers(&workspace)?, []);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the folder's path is not UTF-8, `change` fails, or the file cannot be read or written. Then it is as it was.
    pub fn save_answer(
        &self,
        workspace: &Workspace,
        destination: &Destination,
        change: impl Fn(&str) -> std::result::Result<String, String>,
    ) -> Result<()> {
        let Some(Kept { folder, name }) = kept(workspace, destination)? else {
            return Ok(());
        };
        let path = self.answers_file();
        replace::change(&path, LARGEST_ANSWERS, |text| {
            change_at(&path, text, &[PROJECTS, &folder, name], &|before| {
                let before = before.map_or("", Json::as_str);
                let after = change(before).map_err(|problem| Error::Unusable {
                    path: path.clone(),
                    problem,
                })?;
                Json::new(after).map_err(unreadable(&path))
            })
        })
    }

    fn answers_file(&self) -> PathBuf {
        self.folder().join(ANSWERS)
    }
}

/// Under which folder and name an answer is saved; nothing for what is no file of the project.
fn kept(workspace: &Workspace, destination: &Destination) -> Result<Option<Kept>> {
    let (folder, name) = match destination {
        Destination::LocalSettings => (workspace.trusted_as(), "localSettings"),
        Destination::ProjectSettings => (workspace.folder(), "projectSettings"),
        _ => return Ok(None),
    };
    let folder = name_of(folder)?;
    Ok(Some(Kept { folder, name }))
}

/// A folder as a key. Two folders must not share one, as they would if the bytes that are no UTF-8 were replaced.
fn name_of(folder: &Path) -> Result<String> {
    let name = folder.to_str().ok_or_else(|| Error::Unusable {
        path: folder.to_owned(),
        problem: "its path is not UTF-8, so that nothing can be recorded of it".to_owned(),
    })?;
    Ok(name.to_owned())
}

/// Makes a value that is there, or not there yet, into another one.
type Change<'c> = dyn Fn(Option<&Json>) -> Result<Json> + 'c;

/// The text of a state file with one value in it changed, laid out as the real CLI does; all else stays, in its order.
fn change_at(path: &Path, text: &str, keys: &[&str], change: &Change<'_>) -> Result<String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let whole = Json::new(text).map_err(unreadable(path))?;
    let changed = change_in(path, Some(&whole), keys, change)?;
    Ok(changed.pretty() + "\n")
}

fn change_in(
    path: &Path,
    value: Option<&Json>,
    keys: &[&str],
    change: &Change<'_>,
) -> Result<Json> {
    let Some((key, inner)) = keys.split_first() else {
        return change(value);
    };
    let mut object = match value {
        Some(value) => Map::<Json>::from_json(value.text().clone()).map_err(unreadable(path))?,
        None => Map::new(),
    };
    let changed = change_in(path, object.get(key), inner, change)?;
    object.insert(*key, changed);
    Ok(object.to_json())
}

fn unreadable<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> Error {
    move |error| Error::Unusable {
        path: path.to_owned(),
        problem: format!("not the JSON that it should be: {error}"),
    }
}

const PROJECTS: &str = "projects";
const TRUSTED: &str = "hasTrustDialogAccepted";
const ANSWERS: &str = "towline-answers.json";
/// Far more rules than a person answers with.
const LARGEST_ANSWERS: u64 = 16 << 20;
