//! [`Workspace`]: a project as its settings see it, and whether it is trusted.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::value::RawValue;

use crate::{
    error::{Error, Result},
    home::Home,
    settings::read_bounded,
};

/// The folder that an agent works in, and the repository it belongs to.
///
/// ```
/// # towline_testkit::in_home!(|project| {
/// use towline_store::Workspace;
///
/// let workspace = Workspace::at(&project.join("src"))?;
/// assert_eq!(workspace.folder(), project.join("src"));
/// assert_eq!(workspace.trusted_as(), project);
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    folder: PathBuf,
    repository: Option<PathBuf>,
}

impl Workspace {
    /// The workspace in a folder.
    ///
    /// ```
    /// # towline_testkit::in_home!(|project| {
    /// assert_eq!(Workspace::at(&project)?.folder(), project);
    /// assert!(Workspace::at(&project.join("no-such-folder")).is_err());
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn at(folder: &Path) -> Result<Self> {
        let folder = folder
            .canonicalize()
            .map_err(Error::io("find the folder", folder))?;
        if !folder.is_dir() {
            return Err(Error::Unusable {
                path: folder,
                problem: "it is not a folder".to_owned(),
            });
        }
        let repository = folder.ancestors().find_map(repository_at);
        Ok(Self { folder, repository })
    }

    /// The folder, links resolved.
    ///
    /// ```
    /// # towline_testkit::in_home!(|project| {
    /// let workspace = Workspace::at(&project.join("src/.."))?;
    /// assert_eq!(workspace.folder(), project);
    /// # });
    /// ```
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the repository that it is in; for a linked worktree that of the main one, as with CLI 2.1.325.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project| {
    /// assert_eq!(Workspace::at(&project.join("src"))?.repository(), Some(&*project));
    /// assert_eq!(Workspace::at(home.folder())?.repository(), None);
    /// # });
    /// ```
    pub fn repository(&self) -> Option<&Path> {
        self.repository.as_deref()
    }

    /// The folder that a person trusts or does not: that of the repository, else its own.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project| {
    /// assert_eq!(Workspace::at(&project.join("src"))?.trusted_as(), project);
    /// // In no repository.
    /// assert_eq!(Workspace::at(home.folder())?.trusted_as(), home.folder());
    /// # });
    /// ```
    pub fn trusted_as(&self) -> &Path {
        self.repository.as_deref().unwrap_or(&self.folder)
    }
}

impl Home {
    /// Whether a person said that a workspace may be trusted. If not, an agent heeds nothing of what the project's own
    /// file allows.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// assert!(home.trusts(&workspace)?);
    /// assert!(!home.trusts(&Workspace::at(home.folder())?)?);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file that says so cannot be read. Then nothing is trusted.
    pub fn trusts(&self, workspace: &Workspace) -> Result<bool> {
        self.remembers(workspace, "hasTrustDialogAccepted")
    }

    /// Whether a person said that the memory files of a workspace may import files from outside of it.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// assert!(!home.allows_outside_imports(&workspace)?); // it is trusted, which is another matter
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file that says so cannot be read. Then nobody said so.
    pub fn allows_outside_imports(&self, workspace: &Workspace) -> Result<bool> {
        self.remembers(workspace, "hasClaudeMdExternalIncludesApproved")
    }

    fn remembers(&self, workspace: &Workspace, what: &str) -> Result<bool> {
        let path = self.state_file();
        let Some(text) = read_bounded(path, LARGEST_STATE)? else {
            return Ok(false);
        };
        is_true(&text, workspace.trusted_as(), what).map_err(|error| Error::Unusable {
            path: path.to_owned(),
            problem: format!("not the JSON that it should be: {error}"),
        })
    }
}

/// Looks at one project alone: the file holds much else, and can be large.
fn is_true(state: &str, folder: &Path, what: &str) -> serde_json::Result<bool> {
    let state: BTreeMap<String, &RawValue> = serde_json::from_str(state)?;
    let Some(projects) = state.get("projects") else {
        return Ok(false);
    };
    let projects: BTreeMap<String, &RawValue> = serde_json::from_str(projects.get())?;
    // Replacing what is no UTF-8 could make a folder into another one.
    let Some(project) = folder.to_str().and_then(|folder| projects.get(folder)) else {
        return Ok(false);
    };
    let project: BTreeMap<String, &RawValue> = serde_json::from_str(project.get())?;
    let said = project.get(what);
    Ok(said.is_some_and(|said| said.get() == "true"))
}

/// The main folder of the repository whose checkout this folder is.
fn repository_at(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    fs::metadata(&git).ok()?;
    // Only a file in the folder itself can make it a worktree: a link could lead to that of another folder.
    let is_file = fs::symlink_metadata(&git).ok()?.is_file();
    let main = is_file.then(|| main_worktree(folder, &git)).flatten();
    main.or_else(|| Some(folder.to_owned()))
}

/// Follows `.git` of a linked worktree (`gitdir: <main>/.git/worktrees/<name>`) to the main one. A submodule has such a
/// file too, but its folder of git knows no `commondir`, and it is a repository of its own.
///
/// The main repository must know the worktree as its own. Else an unpacked archive could say that it belongs to a
/// repository that is trusted; CLI 2.1.325 does not believe it either.
fn main_worktree(folder: &Path, git: &Path) -> Option<PathBuf> {
    let pointer = read_bounded(git, LARGEST_POINTER).ok()??;
    let own = folder.join(pointer.strip_prefix("gitdir:")?.trim());
    let own = own.canonicalize().ok()?;
    let shared = read_bounded(&own.join("commondir"), LARGEST_POINTER).ok()??;
    let shared = own.join(shared.trim()).canonicalize().ok()?;
    let known = read_bounded(&own.join("gitdir"), LARGEST_POINTER).ok()??;
    // The folder in it may be written with links, but the file must be this very one.
    let known = own.join(known.trim());
    let known = known
        .parent()?
        .canonicalize()
        .ok()?
        .join(known.file_name()?);
    let is_own = own.parent()? == shared.join("worktrees") && known == git;
    // A bare repository has no main worktree.
    (is_own && shared.file_name()? == ".git").then(|| shared.parent().map(Path::to_owned))?
}

/// The file remembers the latest prompts of every project.
pub(crate) const LARGEST_STATE: u64 = 64 << 20;
/// One path.
const LARGEST_POINTER: u64 = 64 << 10;
