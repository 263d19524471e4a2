//! Which files a project has, and what is in a folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, UNIX_EPOCH},
};

use ignore::{Walk, WalkBuilder, gitignore::Gitignore};
use towline_files::{Directory, Ignored, Kind, RealPath, Status, Walked, status};
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

fn list(roots: &Roots, project: &RealPath, until: Instant) -> Result<FileList, ProjectError> {
    if !status(project).is_ok_and(|status| status.kind == Kind::Directory) {
        return Err(ProjectError::Unusable(format!(
            "{} is no folder",
            project.display()
        )));
    }
    let mut files = BTreeMap::new();
    let mut folders = Vec::new();
    let mut total = 0;
    let mut cut = false;
    let mut walked = Walked::new(project.clone());
    // What cannot be read is left out: a folder of somebody else is no reason to show nothing.
    for entry in walk(project, until).filter_map(Result::ok) {
        if total >= MOST_SEEN || Instant::now() > until {
            cut = true;
            break;
        }
        let Ok((real, found)) = walked.look(entry.path()) else {
            continue;
        };
        if found.kind == Kind::Directory {
            folders.push(real);
        } else if let Some(found) = file(roots, &real, found) {
            total += 1;
            note(
                &mut files,
                project,
                &real,
                Listed {
                    ignored: false,
                    modified: modified(&found),
                },
            );
        }
    }
    for folder in folders {
        let Ok(directory) = Directory::open(&folder) else {
            continue;
        };
        for entry in directory.entries().into_iter().flatten().flatten() {
            if total >= MOST_SEEN || Instant::now() > until {
                cut = true;
                break;
            }
            let Some(path) = folder.below(Path::new(&entry.name)) else {
                continue;
            };
            let known = path
                .strip_prefix(project)
                .is_ok_and(|path| files.contains_key(path));
            if !known
                && entry.name != ".git"
                && let Ok(found) = directory.status(&entry.name)
                && let Some(found) = file(roots, &path, found)
            {
                total += 1;
                note(
                    &mut files,
                    project,
                    &path,
                    Listed {
                        ignored: true,
                        modified: modified(&found),
                    },
                );
            }
        }
    }
    Ok(answer(&files, total, cut))
}

/// A walk over what git would see. The walker itself reads no ignore file: one of a repository can be a link or a pipe.
fn walk(project: &RealPath, until: Instant) -> Walk {
    let ignored = Mutex::new(Ignored::default().with_everywhere(Gitignore::global().0));
    WalkBuilder::new(project)
        .standard_filters(false)
        .filter_entry(move |entry| {
            if entry.file_name() == ".git" || Instant::now() > until {
                return false;
            }
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let mut ignored = ignored.lock().unwrap_or_else(PoisonError::into_inner);
            !ignored.look(entry.path(), is_directory).is_ignore()
        })
        .build()
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

/// The status of a file that may be shown. A link is followed if that stays inside.
fn file(roots: &Roots, path: &Path, found: Status) -> Option<Status> {
    let found = match found.kind {
        Kind::Link => status(&roots.existing(path).ok()?).ok()?,
        _ => found,
    };
    (found.kind == Kind::File).then_some(found)
}

fn modified(found: &Status) -> Option<u64> {
    let since: Duration = found.modified.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

fn entries(
    roots: &Roots,
    folder: &RealPath,
    wanted: Wanted,
) -> Result<DirectoryListing, ProjectError> {
    let unreadable =
        |error: std::io::Error| ProjectError::Unusable(format!("{}: {error}", folder.display()));
    let mut directories = BTreeMap::new();
    let mut files = BTreeMap::new();
    let directory = Directory::open(folder).map_err(unreadable)?;
    let listed = directory.entries().map_err(unreadable)?;
    for entry in listed.take(MOST_ENTRIES).flatten() {
        let Ok(name) = entry.name.into_string() else {
            continue;
        };
        if name.starts_with('.') && !wanted.hidden {
            continue;
        }
        // What leads outside is not offered, since it could not be opened.
        let path = folder.join(&name);
        let led_to = || status(&roots.existing(&path).ok()?).ok();
        let kind = match entry.kind {
            Kind::Link => led_to().map(|found| found.kind),
            kind => Some(kind),
        };
        let Some(kind) = kind else { continue };
        let shown = path.to_str().map(|path| PathEntry {
            name: Text::from(name.as_str()),
            path: path.into(),
            ..PathEntry::default()
        });
        let Some(shown) = shown else { continue };
        if kind == Kind::Directory {
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
