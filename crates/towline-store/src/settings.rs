//! Settings files: which there are, their texts, and how a changed one is written back. What a text says is not read
//! here.

use std::{
    fs::{self, File, OpenOptions},
    io::Read,
    path::{Path, PathBuf},
};

use towline_protocol::Destination;

use crate::{
    error::{Error, Result},
    home::Home,
    plain::is_absence,
    replace::{Replaced, replace},
    workspace::Workspace,
};

/// A settings file, or what was given in place of one.
///
/// ```
/// # towline_testkit::in_home!(|home, project, workspace| {
/// use towline_protocol::Destination;
///
/// let SettingsFile { source, path, text } = home.settings(&workspace, managed_folder()).remove(0);
/// assert_eq!(source, Destination::ProjectSettings);
/// assert_eq!(path, Some(project.join(".claude/settings.json")));
/// assert_eq!(text?, r#"{"model": "opus"}"#);
/// # });
/// ```
#[derive(Debug)]
pub struct SettingsFile {
    /// Whose settings they are.
    pub source: Destination,
    /// Where the file is; nothing for JSON on the command line.
    pub path: Option<PathBuf>,
    /// What is in it, or why that cannot be read. A file that is not there yet is empty.
    pub text: Result<String>,
}

impl Home {
    /// The settings files that an agent in a workspace reads, those that are there. Later ones of a source add to the
    /// earlier ones and win over them.
    ///
    /// `managed` is where an organisation puts its policy, [`managed_folder`] on a real machine.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project, workspace| {
    /// use towline_store::managed_folder;
    ///
    /// std::fs::write(project.join(".claude/settings.local.json"), "{}")?;
    /// let files = home.settings(&workspace, managed_folder());
    /// let texts: Vec<_> = files.iter().flat_map(|file| &file.text).take(2).collect();
    /// assert_eq!(texts, [r#"{"model": "opus"}"#, "{}"]);
    /// # });
    /// ```
    pub fn settings(&self, workspace: &Workspace, managed: &Path) -> Vec<SettingsFile> {
        let mut places = vec![(Destination::UserSettings, self.folder().join(SHARED))];
        places.extend(project_files(workspace));
        let mut files: Vec<SettingsFile> = places
            .into_iter()
            .filter_map(|(source, path)| SettingsFile::read(source, path))
            .collect();
        files.extend(managed_files(managed));
        files
    }

    /// The file that a change is to be kept in, whether it is there or not; nothing for what is kept nowhere.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// use towline_protocol::Destination;
    ///
    /// let file = home.settings_file(&workspace, &Destination::UserSettings).unwrap();
    /// assert_eq!(file.path.unwrap(), home.folder().join("settings.json"));
    /// assert_eq!(file.text?, "");
    /// assert!(home.settings_file(&workspace, &Destination::Session).is_none());
    /// # });
    /// ```
    pub fn settings_file(
        &self,
        workspace: &Workspace,
        destination: &Destination,
    ) -> Option<SettingsFile> {
        let path = match destination {
            Destination::UserSettings => self.folder().join(SHARED),
            Destination::ProjectSettings => workspace.folder().join(FOLDER).join(SHARED),
            Destination::LocalSettings => local_of_repository(workspace),
            _ => return None,
        };
        if *destination != Destination::UserSettings && leads_out(workspace, &path) {
            let problem =
                "a link makes it a file outside of the repository, where no answer is saved";
            return Some(SettingsFile {
                source: destination.clone(),
                text: Err(Error::Unusable {
                    path: path.clone(),
                    problem: problem.to_owned(),
                }),
                path: Some(path),
            });
        }
        let file = SettingsFile::read(destination.clone(), path.clone());
        Some(file.unwrap_or(SettingsFile {
            source: destination.clone(),
            path: Some(path),
            text: Ok(String::new()),
        }))
    }
}

impl SettingsFile {
    /// What `--settings` was given: a JSON object, or the path of a file, relative to `base`.
    ///
    /// ```
    /// use towline_store::SettingsFile;
    ///
    /// let given = SettingsFile::flag(r#"{"model": "opus"}"#, "/work".as_ref())?;
    /// assert_eq!((given.path, given.text?), (None, r#"{"model": "opus"}"#.to_owned()));
    /// assert!(SettingsFile::flag("no-such-file.json", "/work".as_ref()).is_err());
    /// # Ok::<(), towline_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(value: &str, base: &Path) -> Result<Self> {
        let source = Destination::FlagSettings;
        if is_object(value) {
            return Ok(Self {
                source,
                path: None,
                text: Ok(value.to_owned()),
            });
        }
        let path = base.join(value);
        Self::read(source, path.clone()).ok_or_else(|| Error::Unusable {
            path,
            problem: if value.trim_start().starts_with('{') {
                "neither a JSON object nor a file that is there".to_owned()
            } else {
                "there is no such file".to_owned()
            },
        })
    }

    /// The file at this place; nothing if there is none.
    ///
    /// ```
    /// # towline_testkit::in_home!(|project| {
    /// use towline_protocol::Destination;
    ///
    /// let path = project.join(".claude/settings.json");
    /// let file = SettingsFile::read(Destination::ProjectSettings, path).unwrap();
    /// assert_eq!(file.text?, r#"{"model": "opus"}"#);
    /// # });
    /// ```
    pub fn read(source: Destination, path: PathBuf) -> Option<Self> {
        let text = read_bounded(&path, LARGEST).transpose()?;
        Some(Self {
            source,
            path: Some(path),
            text,
        })
    }

    /// Puts another text in the place of what was read, in one step: whoever reads the file meanwhile sees the old one
    /// or the new one. Its mode stays, and a link to it stays a link; a new file is for its owner alone.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// use towline_protocol::Destination;
    ///
    /// let file = home.settings_file(&workspace, &Destination::LocalSettings).unwrap();
    /// file.write(r#"{"model": "haiku"}"#)?;
    /// assert_eq!(std::fs::read_to_string(file.path.as_ref().unwrap())?, r#"{"model": "haiku"}"#);
    /// // It is not what was read any more.
    /// assert!(matches!(file.write("{}"), Err(Error::Unusable { .. })));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When it is not a file that is written to, could not be read, was changed by somebody else since it was read, or
    /// the system refuses. Then it is as it was.
    pub fn write(&self, text: &str) -> Result<()> {
        let (Some(path), Ok(before)) = (&self.path, &self.text) else {
            return Err(self.unusable("only a file that could be read is written to"));
        };
        match replace(path, before, text, LARGEST)? {
            Replaced::Yes => Ok(()),
            Replaced::ChangedMeanwhile => {
                Err(self.unusable("somebody else changed it since it was read"))
            }
        }
    }

    fn unusable(&self, problem: &str) -> Error {
        Error::Unusable {
            path: self.path.clone().unwrap_or_else(|| "--settings".into()),
            problem: problem.to_owned(),
        }
    }
}

/// The settings files that a repository can bring, the weakest first.
pub(crate) fn project_files(workspace: &Workspace) -> Vec<(Destination, PathBuf)> {
    let project = workspace.folder().join(FOLDER);
    let mut files = vec![
        (Destination::ProjectSettings, project.join(SHARED)),
        (Destination::LocalSettings, project.join(LOCAL)),
    ];
    let shared = local_of_repository(workspace);
    if files[1].1 != shared {
        files.push((Destination::LocalSettings, shared));
    }
    files
}

/// Whether a link leads from a settings file of the project, or from the folder it is in, out of the repository. A clone
/// could bring one, to have an answer that is meant for the project saved for all of them.
fn leads_out(workspace: &Workspace, path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let Some(real) = path.canonicalize().ok().or(folder) else {
        return false;
    };
    !real.starts_with(workspace.folder()) && !real.starts_with(workspace.trusted_as())
}

/// The local file that counts in all folders and worktrees of a repository. Seen with CLI 2.1.325: it is read after
/// the folder's own and is the one that is written to; the project's file is that of the folder alone.
fn local_of_repository(workspace: &Workspace) -> PathBuf {
    workspace.trusted_as().join(FOLDER).join(LOCAL)
}

/// Where an organisation puts the policy of a machine.
///
/// ```
/// use towline_store::managed_folder;
///
/// let policy = managed_folder().join("managed-settings.json");
/// assert!(policy.is_absolute());
/// ```
pub fn managed_folder() -> &'static Path {
    Path::new(if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else {
        "/etc/claude-code"
    })
}

/// The policy and what was dropped in beside it, in the order of the names (seen with CLI 2.1.325: links count, what is
/// hidden or has another ending does not).
fn managed_files(folder: &Path) -> Vec<SettingsFile> {
    let source = Destination::PolicySettings;
    let main = SettingsFile::read(source.clone(), folder.join(MANAGED));
    let drop_ins = folder.join(DROP_INS);
    let listed =
        match fs::read_dir(&drop_ins).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
            Ok(listed) => listed,
            Err(error) if is_absence(&error) => Vec::new(),
            // A policy that cannot be looked at must not be overlooked.
            Err(error) => {
                let unreadable = SettingsFile {
                    source,
                    text: Err(Error::io("list", &drop_ins)(error)),
                    path: Some(drop_ins),
                };
                return main.into_iter().chain([unreadable]).collect();
            }
        };
    let mut paths: Vec<PathBuf> = listed.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| is_drop_in(path));
    paths.sort();
    let dropped = paths
        .into_iter()
        .filter_map(|path| SettingsFile::read(source.clone(), path));
    main.into_iter().chain(dropped).collect()
}

fn is_drop_in(path: &Path) -> bool {
    let hidden = path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden
        && path
            .extension()
            .is_some_and(|extension| extension == "json")
        && !path.is_dir()
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(text).is_ok()
}

/// The text of a file; nothing if there is none. Links are followed, since people keep their settings elsewhere and
/// link them; a pipe is not waited for.
pub(crate) fn read_bounded(path: &Path, most: u64) -> Result<Option<String>> {
    let file = match open(path) {
        Err(error) if is_absence(&error) => return Ok(None),
        opened => opened.map_err(Error::io("read", path))?,
    };
    let unusable = |problem: String| Error::Unusable {
        path: path.to_owned(),
        problem,
    };
    let metadata = file.metadata().map_err(Error::io("read", path))?;
    if !metadata.is_file() {
        return Err(unusable("it is not a plain file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(Error::io("read", path))?;
    if bytes.len() as u64 > most {
        return Err(unusable(format!("it is larger than {most} bytes")));
    }
    // CLI 2.1.325 does not mind a byte order mark.
    let start = if bytes.starts_with(MARK) {
        MARK.len()
    } else {
        0
    };
    String::from_utf8(bytes.split_off(start))
        .map(Some)
        .map_err(|error| unusable(format!("it is not UTF-8: {error}")))
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

const FOLDER: &str = ".claude";
const SHARED: &str = "settings.json";
const LOCAL: &str = "settings.local.json";
const MANAGED: &str = "managed-settings.json";
const DROP_INS: &str = "managed-settings.d";
const MARK: &[u8] = "\u{feff}".as_bytes();
/// Far more than anybody writes by hand.
pub(crate) const LARGEST: u64 = 4 << 20;
