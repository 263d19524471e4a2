//! Which files a project has, and what is in a folder.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    path::{Path, PathBuf},
    time::{Duration, Instant, UNIX_EPOCH},
};

use ignore::WalkBuilder;
use towline_protocol::{
    Map, Number, Text,
    dialect::pocket::{DirectoryListing, FileList, ListDirectory, ListFiles, PathEntry},
};

use super::{ProjectError, Projects};
use crate::access::Roots;

impl Projects {
    /// The files of a project, by their paths from there: those that git would see, and beside them those that it ignores,
    /// but not what is in folders that it ignores.
    pub async fn list_files(&self, request: &ListFiles) -> FileList {
        let list = self.files(request).await;
        let list = list.unwrap_or_else(|error| FileList {
            error: Some(error.to_string().into()),
            ..FileList::default()
        });
        FileList {
            project_path: Some(request.project_path.clone()),
            request_id: request.request_id.clone(),
            ..list
        }
    }

    /// The same without what the request says itself.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub(crate) async fn files(&self, request: &ListFiles) -> Result<FileList, ProjectError> {
        let project = request.project_path.to_string();
        let time = self.time;
        let listed = self.blocking(move |roots| {
            let project = roots.existing(Path::new(&project))?;
            // A walk cannot be cancelled from outside, so it has an end of its own.
            list(roots, &project, Instant::now() + time.mul_f32(0.8))
        });
        listed.await
    }

    /// What is in a folder. Without a path: the folders that may be used.
    ///
    /// # Errors
    /// When it cannot be shown.
    pub async fn list_directory(
        &self,
        request: &ListDirectory,
    ) -> Result<DirectoryListing, ProjectError> {
        let path = request.path.to_string();
        let wanted = Wanted {
            hidden: request.include_hidden == Some(true),
            files: request.include_files == Some(true),
        };
        let listing = self.blocking(move |roots| {
            if path.is_empty() {
                let directories = roots
                    .folders()
                    .iter()
                    .filter_map(|folder| whole_path(folder));
                return Ok(DirectoryListing {
                    directories: directories.collect(),
                    files: wanted.files.then(Vec::new),
                    ..DirectoryListing::default()
                });
            }
            entries(roots, &roots.existing(Path::new(&path))?, wanted)
        });
        Ok(DirectoryListing {
            request_id: request.request_id.clone(),
            ..listing.await?
        })
    }
}

#[derive(Clone, Copy)]
struct Wanted {
    hidden: bool,
    files: bool,
}

/// A file of a list.
struct Listed {
    ignored: bool,
    modified: Option<u64>,
}

fn list(roots: &Roots, project: &Path, until: Instant) -> Result<FileList, ProjectError> {
    if !project.is_dir() {
        return Err(ProjectError::Unusable(format!(
            "{} is no folder",
            project.display()
        )));
    }
    let mut files = BTreeMap::new();
    let mut folders = Vec::new();
    let mut total = 0;
    let mut cut = false;
    let walk = WalkBuilder::new(project)
        .hidden(false)
        .ignore(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    // What cannot be read is left out: a folder of somebody else is no reason to show nothing.
    for entry in walk.filter_map(Result::ok) {
        if total >= MOST_SEEN || Instant::now() > until {
            cut = true;
            break;
        }
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            folders.push(entry.into_path());
        } else if let Some(metadata) = file(roots, entry.path()) {
            total += 1;
            note(
                &mut files,
                project,
                entry.path(),
                Listed {
                    ignored: false,
                    modified: modified(&metadata),
                },
            );
        }
    }
    for folder in folders {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            if total >= MOST_SEEN || Instant::now() > until {
                cut = true;
                break;
            }
            let path = entry.path();
            let known = path
                .strip_prefix(project)
                .is_ok_and(|path| files.contains_key(path));
            if !known
                && entry.file_name() != ".git"
                && let Some(metadata) = file(roots, &path)
            {
                total += 1;
                note(
                    &mut files,
                    project,
                    &path,
                    Listed {
                        ignored: true,
                        modified: modified(&metadata),
                    },
                );
            }
        }
    }
    Ok(answer(&files, total, cut))
}

fn note(files: &mut BTreeMap<PathBuf, Listed>, project: &Path, path: &Path, listed: Listed) {
    if let Ok(path) = path.strip_prefix(project) {
        files.insert(path.to_owned(), listed);
    }
}

fn answer(files: &BTreeMap<PathBuf, Listed>, total: u64, cut: bool) -> FileList {
    let mut list = FileList::default();
    let mut ignored = Vec::new();
    let mut modified_at = Vec::new();
    // A name that is not UTF-8 could not be asked for.
    let named = files
        .iter()
        .filter_map(|(path, listed)| Some((path.to_str()?, listed)));
    for (path, listed) in named.take(MOST_LISTED) {
        let path = Text::from(path);
        ignored.push(listed.ignored);
        if let Some(modified) = listed.modified {
            modified_at.push((path.clone(), Number::from(modified)));
        }
        list.files.push(path);
    }
    FileList {
        truncated: Some(cut || list.files.len() < files.len()),
        ignored: Some(ignored),
        modified_at: Some(modified_at.into_iter().collect::<Map<_>>()),
        total_files: Some(total),
        ..list
    }
}

/// Whether it is a file that may be shown, and what is known of it. A link is what it leads to.
fn file(roots: &Roots, path: &Path) -> Option<Metadata> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let metadata = fs::metadata(roots.existing(path).ok()?).ok()?;
        return metadata.is_file().then_some(metadata);
    }
    metadata.is_file().then_some(metadata)
}

fn modified(metadata: &Metadata) -> Option<u64> {
    let since: Duration = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

fn entries(roots: &Roots, folder: &Path, wanted: Wanted) -> Result<DirectoryListing, ProjectError> {
    let unreadable = |error| ProjectError::Unusable(format!("{}: {error}", folder.display()));
    let mut directories = BTreeMap::new();
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)?.take(MOST_ENTRIES) {
        let Ok(entry) = entry else { continue };
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.starts_with('.') && !wanted.hidden {
            continue;
        }
        // What leads outside is not offered, since it could not be opened.
        let Ok(real) = roots.existing(&entry.path()) else {
            continue;
        };
        let shown = entry.path().to_str().map(|path| PathEntry {
            name: Text::from(name.as_str()),
            path: path.into(),
            ..PathEntry::default()
        });
        let Some(shown) = shown else { continue };
        if real.is_dir() {
            directories.insert(name, shown);
        } else if wanted.files {
            files.insert(name, shown);
        }
    }
    Ok(DirectoryListing {
        path: folder.to_str().unwrap_or_default().into(),
        directories: directories.into_values().collect(),
        files: wanted.files.then(|| files.into_values().collect()),
        ..DirectoryListing::default()
    })
}

fn whole_path(folder: &Path) -> Option<PathEntry> {
    let path = folder.to_str()?;
    Some(PathEntry {
        name: path.into(),
        path: path.into(),
        ..PathEntry::default()
    })
}

const MOST_LISTED: usize = 20_000;
const MOST_SEEN: u64 = 100_000;
const MOST_ENTRIES: usize = 10_000;
