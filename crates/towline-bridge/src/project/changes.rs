//! What has changed in a work tree: the diff, new files included, and the pictures in it.

use std::{path::Path, sync::Arc, time::SystemTime};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use towline_protocol::dialect::pocket::{
    DiffImage, DiffResult, DiffSide, GetDiff, GetDiffImage, ImageChange,
};

use super::{
    ProjectError, Projects,
    files::{self, MOST_MEDIA},
    filtered::{Filtered, LEAVE_SUBMODULES},
    git::{Git, Repository},
    large::LargeFile,
    media, steady,
    submodules::Submodules,
};
use crate::access::Roots;

impl Projects {
    /// What has changed since the last commit, or only what is staged, or only what is not.
    ///
    /// New files that git does not ignore are additions. Nothing in the repository is changed by looking.
    pub async fn diff(&self, request: &GetDiff) -> DiffResult {
        let result = self.difference(request).await;
        let result = result.unwrap_or_else(|error| DiffResult {
            error: Some(error.to_string().into()),
            error_code: error.code(),
            ..DiffResult::default()
        });
        DiffResult {
            project_path: Some(request.project_path.clone()),
            request_id: request.request_id.clone(),
            staged: request.staged,
            ..result
        }
    }

    /// The same without what the request says itself.
    ///
    /// # Errors
    /// When that cannot be told.
    pub(crate) async fn difference(&self, request: &GetDiff) -> Result<DiffResult, ProjectError> {
        let extent = match request.staged {
            None => Extent::All,
            Some(true) => Extent::Staged,
            Some(false) => Extent::Unstaged,
        };
        let (diff, pictures) = self.changes(&request.project_path, extent).await?;
        Ok(DiffResult {
            diff: diff.into(),
            image_changes: (!pictures.is_empty()).then_some(pictures),
            ..DiffResult::default()
        })
    }

    /// A picture before and after.
    pub async fn diff_image(&self, request: &GetDiffImage) -> DiffImage {
        let mut answer = DiffImage {
            project_path: Some(request.project_path.clone()),
            request_id: request.request_id.clone(),
            file_path: request.file_path.clone(),
            version: request.version.clone(),
            base64: None,
            old_base64: None,
            new_base64: None,
            mime_type: media::picture(Path::new(request.file_path.as_str())).map(Into::into),
            error: None,
            extra: towline_protocol::Extra::default(),
        };
        if let Err(error) = self.versions(request, &mut answer).await {
            answer.error = Some(error.to_string().into());
        }
        answer
    }

    async fn changes(
        &self,
        project: &str,
        extent: Extent,
    ) -> Result<(String, Vec<ImageChange>), ProjectError> {
        let project = self.project(project).await?;
        let _turn = self.turn().await?;
        for _ in 0..MOST_LOOKS {
            let begun = SystemTime::now();
            let Looked {
                changes,
                names,
                repository,
            } = self.look(&project, extent).await?;
            let (roots, project) = (Arc::clone(&self.roots), project.clone());
            let check = tokio::task::spawn_blocking(move || {
                let mut folders = steady::folders(&roots, &project, &names);
                folders.extend(steady::of_repository(&repository));
                steady::are_steady(&folders, begun)
            });
            let checked = tokio::time::timeout(self.time, check).await;
            if matches!(checked, Ok(Ok(true))) {
                return Ok(changes);
            }
        }
        Err(ProjectError::Unusable(
            "folders of the project were changed while it was looked at; try again".to_owned(),
        ))
    }

    /// One look, which counts if the folders stayed as they were.
    async fn look(&self, project: &Path, extent: Extent) -> Result<Looked, ProjectError> {
        let git = Git::at(project, &self.roots, self.time).await?;
        let from = match extent {
            Extent::Staged => Some("--cached".to_owned()),
            Extent::Unstaged => None,
            Extent::All => Some(last_commit(&git).await?),
        };
        let mut aside = Aside::default();
        if !matches!(extent, Extent::Staged) {
            aside.fill(&git, &self.roots, extent).await?;
        }
        let compare = |form: &[&str]| -> Vec<String> {
            let words = ["diff"]
                .iter()
                .chain(DIFF)
                .chain(LEAVE_SUBMODULES)
                .chain(form)
                .map(|word| (*word).to_owned());
            words
                .chain(from.clone())
                .chain(["--".to_owned(), ".".to_owned()])
                .collect()
        };
        let output = git.run(&compare(PATCH), &[], MOST_DIFF).await?;
        let mut diff = String::from_utf8_lossy(&output.bytes).into_owned();
        // Readers of diffs skip lines that begin so, as they do with the one about a missing newline.
        if output.truncated {
            diff.truncate(diff.rfind('\n').map_or(0, |end| end + 1));
            diff.push_str("\\ There is more; only the beginning is shown\n");
        }
        diff.push_str(&aside.to_diff(&git));
        let raw = git.run(&compare(RAW), &[], MOST_DIFF).await?;
        let pictures = self.pictures(&git, project, &raw.bytes).await?;
        let known = ["ls-files", "--cached", "-z", "--", "."];
        let mut names = git.run(&known, &[], MOST_KNOWN).await?.bytes;
        names.extend(aside.large.iter().flat_map(LargeFile::record));
        Ok(Looked {
            changes: (diff, pictures),
            names,
            repository: git.repository().clone(),
        })
    }

    async fn pictures(
        &self,
        git: &Git,
        project: &Path,
        raw: &[u8],
    ) -> Result<Vec<ImageChange>, ProjectError> {
        let changes: Vec<_> = changed_pictures(raw).take(MOST_PICTURES).collect();
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let objects = changes
            .iter()
            .flat_map(|change| [&*change.old, &*change.new]);
        let wanted: String = objects.flat_map(|object| [object, "\n"]).collect();
        let sizes = git
            .run(
                &["cat-file", "--batch-check=%(objectsize)"],
                wanted.as_bytes(),
                MOST_DIFF,
            )
            .await?;
        let sizes = String::from_utf8_lossy(&sizes.bytes).into_owned();
        // What is no object, such as a file that is not staged, has words for a size.
        let sizes: Vec<Option<u64>> = sizes.lines().map(|size| size.parse().ok()).collect();
        let sizes = |number: usize| sizes.get(number).copied().flatten();
        let mut pictures = Vec::new();
        for (number, change) in changes.into_iter().enumerate() {
            let path = self.roots.in_project(project, Path::new(&change.path));
            let on_disk = || Some(std::fs::metadata(path.as_ref().ok()?).ok()?.len());
            let deleted = change.status == 'D';
            let old_size = sizes(2 * number);
            let new_size = if deleted {
                None
            } else {
                sizes(2 * number + 1).or_else(on_disk)
            };
            let size = old_size.max(new_size).unwrap_or(0);
            pictures.push(ImageChange {
                is_new: Some(change.status == 'A'),
                is_deleted: Some(deleted),
                is_svg: Some(media::is_svg(Path::new(&change.path))),
                old_size,
                new_size,
                mime_type: media::picture(Path::new(&change.path)).map(Into::into),
                loadable: Some(size <= MOST_MEDIA),
                auto_display: Some(size <= SMALL_PICTURE),
                file_path: change.path.into(),
                ..ImageChange::default()
            });
        }
        Ok(pictures)
    }

    async fn versions(
        &self,
        request: &GetDiffImage,
        answer: &mut DiffImage,
    ) -> Result<(), ProjectError> {
        if answer.mime_type.is_none() {
            return Err(ProjectError::Unusable(format!(
                "{} is no picture",
                request.file_path
            )));
        }
        let project = self.project(&request.project_path).await?;
        let none = |which: &str| {
            ProjectError::Unusable(format!("{} has no {which} version", request.file_path))
        };
        match &request.version {
            DiffSide::Old => {
                let old = self.old_version(&project, &request.file_path).await?;
                answer.base64 = Some(old.ok_or_else(|| none("earlier"))?.into());
            }
            DiffSide::New => {
                let new = self.new_version(&project, &request.file_path).await?;
                answer.base64 = Some(new.ok_or_else(|| none("present"))?.into());
            }
            DiffSide::Both => {
                answer.old_base64 = self
                    .old_version(&project, &request.file_path)
                    .await?
                    .map(Into::into);
                answer.new_base64 = self
                    .new_version(&project, &request.file_path)
                    .await?
                    .map(Into::into);
            }
            DiffSide::Unknown(version) => {
                let problem = format!("there is no version {version:?}: ask for old, new or both");
                return Err(ProjectError::Unusable(problem));
            }
        }
        Ok(())
    }

    /// That of the last commit, else the staged one.
    async fn old_version(
        &self,
        project: &Path,
        file: &str,
    ) -> Result<Option<String>, ProjectError> {
        let path = self.roots.in_project(project, Path::new(file))?;
        let below = path.strip_prefix(project).ok().and_then(Path::to_str);
        let Some(below) = below else { return Ok(None) };
        let _turn = self.turn().await?;
        let git = Git::at(project, &self.roots, self.time).await?;
        for place in ["HEAD:./", ":./"] {
            let object = git
                .text(&[
                    "rev-parse",
                    "--verify",
                    "--quiet",
                    &format!("{place}{below}"),
                ])
                .await;
            let Ok(object) = object else { continue };
            let output = git
                .run(&["cat-file", "blob", &object], &[], MOST_MEDIA)
                .await?;
            if output.truncated {
                return Err(ProjectError::Unusable(format!(
                    "{file} is too large: more than {MOST_MEDIA} bytes"
                )));
            }
            return Ok(Some(STANDARD.encode(output.bytes)));
        }
        Ok(None)
    }

    async fn new_version(
        &self,
        project: &Path,
        file: &str,
    ) -> Result<Option<String>, ProjectError> {
        let project = project.to_owned();
        let file = file.to_owned();
        self.blocking(move |roots| {
            let path = roots.in_project(&project, Path::new(&file))?;
            if !path.exists() {
                return Ok(None);
            }
            let (open, size) = files::open(&path)?;
            Ok(Some(STANDARD.encode(files::read_whole(open, size, &path)?)))
        })
        .await
    }
}

/// The outcome of one look at the changes.
struct Looked {
    changes: (String, Vec<ImageChange>),
    /// All files that git may have looked at, each with a zero byte at its end.
    names: Vec<u8>,
    repository: Repository,
}

/// Which changes are meant.
#[derive(Clone, Copy, Debug)]
enum Extent {
    All,
    Staged,
    Unstaged,
}

/// Files that git does not compare by itself.
#[derive(Debug, Default)]
struct Aside {
    submodules: Submodules,
    filtered: Filtered,
    /// New files that git does not know: it would read all of them.
    large: Vec<LargeFile>,
    left_out: bool,
}

impl Aside {
    /// Finds them, and prepares the copy of the index: it knows the new files, so that git itself writes them as additions.
    async fn fill(
        &mut self,
        git: &Git,
        roots: &Arc<Roots>,
        extent: Extent,
    ) -> Result<(), ProjectError> {
        self.submodules = Submodules::set_aside(git, roots).await?;
        if matches!(extent, Extent::All) {
            self.submodules.stage(git).await?;
        }
        self.add_new_files(git).await?;
        self.filtered = Filtered::set_aside(git).await?;
        Ok(())
    }

    async fn add_new_files(&mut self, git: &Git) -> Result<(), ProjectError> {
        let new = [
            "ls-files",
            "--others",
            "--exclude-standard",
            "-z",
            "--",
            ".",
        ];
        let new = git.run(&new, &[], MOST_NAMES).await?;
        let mut names: Vec<&[u8]> = new.bytes.split(|byte| *byte == 0).collect();
        // What stands behind the last zero is nothing, or a name that was cut.
        names.pop();
        self.left_out = new.truncated || names.len() > MOST_NEW_FILES;
        names.truncate(MOST_NEW_FILES);
        // A repository inside of this one is named with a slash at its end.
        names.retain(|name| !name.ends_with(b"/"));
        let names = names.into_iter().map(<[u8]>::to_vec).collect();
        let (names, large) = LargeFile::apart(git.directory().to_owned(), names).await?;
        self.large = large;
        if !names.is_empty() {
            let add = [
                "add",
                "--intent-to-add",
                "--sparse",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
            ];
            git.run(&add, &names.join(&0), MOST_NAMES).await?;
        }
        Ok(())
    }

    /// The part of a diff about them.
    fn to_diff(&self, git: &Git) -> String {
        let mut diff = self.filtered.to_diff(git);
        diff.push_str(&self.submodules.to_diff(git));
        diff.extend(self.large.iter().map(LargeFile::to_diff));
        if self.left_out {
            diff.push_str("\\ There are more new files than are shown\n");
        }
        if self.submodules.left_out() {
            diff.push_str("\\ There are more submodules than were looked at\n");
        }
        diff
    }
}

/// The last commit; before the first one, the empty tree.
async fn last_commit(git: &Git) -> Result<String, ProjectError> {
    match git
        .text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .await
    {
        Ok(commit) => Ok(commit),
        Err(ProjectError::Unusable(_)) => {
            git.text(&["hash-object", "-t", "tree", "/dev/null"]).await
        }
        Err(error) => Err(error),
    }
}

/// A line of `git diff --raw`.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: String,
    old: String,
    new: String,
    status: char,
}

/// The pictures among `:100644 100644 <old> <new> M\0<path>\0…`.
fn changed_pictures(raw: &[u8]) -> impl Iterator<Item = Change> {
    let mut fields = raw.split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let head = std::str::from_utf8(fields.next()?).ok()?.to_owned();
        let path = fields.next()?.to_owned();
        Some((head, path))
    })
    .filter_map(|(head, path)| {
        let path = String::from_utf8(path).ok()?;
        media::picture(Path::new(&path))?;
        let mut words = head.split(' ').skip(2);
        Some(Change {
            path,
            old: words.next()?.to_owned(),
            new: words.next()?.to_owned(),
            status: words.next()?.chars().next()?,
        })
    })
}

const DIFF: &[&str] = &["--no-color", "--relative"];
const PATCH: &[&str] = &[
    "--find-renames",
    "--unified=3",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];
const RAW: &[&str] = &["--raw", "-z", "--no-abbrev", "--no-renames"];

const MOST_DIFF: u64 = 4 << 20;
const MOST_NAMES: u64 = 1 << 20;
const MOST_KNOWN: u64 = 64 << 20;
/// How often a look is tried whose folders change meanwhile.
const MOST_LOOKS: usize = 3;
const MOST_NEW_FILES: usize = 1_000;
const MOST_PICTURES: usize = 100;
const SMALL_PICTURE: u64 = 256 << 10;
