//! Files that git would pass through a program (`filter=NAME` in the attributes, as for LFS). It is not run, so of such a
//! file it is not known whether it has changed.
//!
//! Where a program has evidently been at work, a difference between the folder and what is recorded means nothing: the
//! file is named as filtered, and not compared. Elsewhere it is compared as it is and named too, because attributes
//! alone must not hide a change from a person.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
};

use super::{ProjectError, git::Git, large::quoted};

/// Files that differ from the index and that a program would filter.
#[derive(Debug, Default)]
pub(super) struct Filtered {
    files: Vec<FilteredFile>,
}

#[derive(Debug, PartialEq, Eq)]
struct FilteredFile {
    /// Its path from the folder of all files.
    name: Vec<u8>,
    filter: String,
    /// Whether it is left out of the comparison.
    is_aside: bool,
}

impl Filtered {
    /// Finds them among the changes that are not staged. From now on git takes those for unchanged that are not compared.
    pub(super) async fn set_aside(git: &Git) -> Result<Self, ProjectError> {
        let compare = ["diff", "--raw", "-z", "--no-abbrev", "--no-renames"];
        let compare = [&compare[..], LEAVE_SUBMODULES, &["--", "."]].concat();
        let raw = git.run(&compare, &[], MOST_BYTES).await?;
        let objects = modified(&raw.bytes);
        if objects.is_empty() {
            return Ok(Self::default());
        }
        let names = joined(objects.iter().map(|(name, _)| *name));
        let check = ["check-attr", "-z", "--stdin", "filter"];
        let attributes = git.run_at_top(&check, &names, MOST_BYTES).await?;
        let mut files = named(&attributes.bytes);
        if files.is_empty() {
            return Ok(Self::default());
        }
        let objects: HashMap<&[u8], &str> = objects.into_iter().collect();
        let objects: Vec<&str> = files
            .iter()
            .map(|file| objects.get(&*file.name).copied().unwrap_or_default())
            .collect();
        let blobs = blobs(git, &objects).await?;
        let entries = index_entries(git, &files).await?;
        for (number, file) in files.iter_mut().enumerate() {
            let Some(blob) = blobs.get(number) else { break };
            let entry = entries.get(&file.name);
            file.is_aside =
                blob.is_pointer || entry.is_some_and(|entry| entry.is_of(git, file, blob));
        }
        let aside = files.iter().filter(|file| file.is_aside);
        let aside = joined(aside.map(|file| &*file.name));
        if !aside.is_empty() {
            git.leave_alone(&aside).await?;
        }
        Ok(Self { files })
    }

    /// Lines that readers of diffs skip, as they do with the one about a missing newline.
    pub(super) fn to_diff(&self, git: &Git) -> String {
        let mut diff = String::new();
        for file in &self.files {
            let name = quoted("", &git.name_from_here(&file.name));
            let filter = quoted("", &file.filter);
            let compared = if file.is_aside {
                "so not compared"
            } else {
                "which is not run, so compared as it is"
            };
            diff.push_str(&format!("\\ Filtered by {filter}, {compared}: {name}\n"));
        }
        diff
    }
}

/// A recorded content.
#[derive(Debug, Default, PartialEq, Eq)]
struct Blob {
    bytes: u64,
    /// Whether it stands for a content that is kept elsewhere.
    is_pointer: bool,
}

/// The contents of these names, as far as they are needed.
async fn blobs(git: &Git, objects: &[&str]) -> Result<Vec<Blob>, ProjectError> {
    let lines = |objects: &[&str]| objects.join("\n") + "\n";
    let check = ["cat-file", "--batch-check=%(objectsize)"];
    let sizes = git
        .run(&check, lines(objects).as_bytes(), MOST_BYTES)
        .await?;
    let sizes = String::from_utf8_lossy(&sizes.bytes).into_owned();
    let mut blobs: Vec<Blob> = sizes
        .lines()
        .map(|size| Blob {
            bytes: size.parse().unwrap_or(0),
            is_pointer: false,
        })
        .collect();
    let small: Vec<usize> = (0..objects.len().min(blobs.len()))
        .filter(|number| (1..=LARGEST_POINTER).contains(&blobs[*number].bytes))
        .collect();
    let wanted: Vec<&str> = small.iter().map(|number| objects[*number]).collect();
    if wanted.is_empty() {
        return Ok(blobs);
    }
    let read = ["cat-file", "--batch=%(objectsize)"];
    let contents = git
        .run(&read, lines(&wanted).as_bytes(), MOST_BYTES)
        .await?;
    let mut rest = &*contents.bytes;
    for number in small {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            break;
        };
        let content = &rest[end + 1..];
        blobs[number].is_pointer = content.starts_with(POINTER);
        let bytes = usize::try_from(blobs[number].bytes).unwrap_or(usize::MAX);
        rest = content.get(bytes.saturating_add(1)..).unwrap_or_default();
    }
    Ok(blobs)
}

/// The state of the file in which git saw it last.
#[derive(Debug, Default, PartialEq, Eq)]
struct IndexEntry {
    modified: (i64, i64),
    bytes: u64,
}

impl IndexEntry {
    /// Whether git wrote or read this file when another content was recorded, or saw it as it is now.
    fn is_of(&self, git: &Git, file: &FilteredFile, blob: &Blob) -> bool {
        // The index has zero for a file that git has not seen, or that was changed in the moment of the look.
        if self.bytes == 0 {
            return false;
        }
        let path = git.work_tree().join(OsStr::from_bytes(&file.name));
        let is_as_seen = fs::symlink_metadata(path).is_ok_and(|now| {
            (now.mtime(), now.mtime_nsec()) == self.modified && now.len() == self.bytes
        });
        is_as_seen || self.bytes != blob.bytes
    }
}

/// The entries of these files, as far as git tells.
async fn index_entries(
    git: &Git,
    files: &[FilteredFile],
) -> Result<HashMap<Vec<u8>, IndexEntry>, ProjectError> {
    let mut list: Vec<&OsStr> = ["ls-files", "--debug", "-z", "--"].map(OsStr::new).into();
    let mut bytes = 0;
    for file in files {
        bytes += file.name.len();
        if bytes > MOST_ARGUMENTS {
            break;
        }
        list.push(OsStr::from_bytes(&file.name));
    }
    let listed = git.run_at_top(&list, &[], MOST_BYTES).await?;
    Ok(entries(&listed.bytes))
}

/// Reads `<path>\0  ctime: …\n  mtime: <seconds>:<nanoseconds>\n…  size: <bytes>\tflags: 0\n<path>\0…`.
fn entries(listed: &[u8]) -> HashMap<Vec<u8>, IndexEntry> {
    let mut entries = HashMap::new();
    let mut rest = listed;
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let name = &rest[..end];
        rest = &rest[end + 1..];
        let mut entry = IndexEntry::default();
        while rest.starts_with(b"  ")
            && let Some(end) = rest.iter().position(|byte| *byte == b'\n')
        {
            let line = String::from_utf8_lossy(&rest[2..end]).into_owned();
            rest = &rest[end + 1..];
            if let Some(time) = line.strip_prefix("mtime: ") {
                let time = time.split_once(':');
                let time = time.and_then(|(s, ns)| Some((s.parse().ok()?, ns.parse().ok()?)));
                entry.modified = time.unwrap_or_default();
            } else if let Some(size) = line.strip_prefix("size: ") {
                let size = size.split('\t').next().and_then(|size| size.parse().ok());
                entry.bytes = size.unwrap_or_default();
            }
        }
        entries.insert(name.to_vec(), entry);
    }
    entries
}

/// The names in the lines `:100644 100755 <old> <new> M\0<path>\0…` of files that are files before and after, with what is
/// recorded of them.
fn modified(raw: &[u8]) -> Vec<(&[u8], &str)> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut names = Vec::new();
    while let (Some(head), Some(name)) = (fields.next(), fields.next()) {
        let head = std::str::from_utf8(head).unwrap_or_default();
        let mut words = head.split(' ');
        let (old, new, object) = (words.next(), words.next(), words.next());
        let was_file = old.is_some_and(|mode| mode.starts_with(":100"));
        let is_file = new.is_some_and(|mode| mode.starts_with("100"));
        if let Some(object) = object
            && was_file
            && is_file
            && head.ends_with(" M")
        {
            names.push((name, object));
        }
    }
    names
}

/// Files with a filter by a name, from `<path>\0filter\0<value>\0…`.
fn named(attributes: &[u8]) -> Vec<FilteredFile> {
    let mut fields = attributes.split(|byte| *byte == 0);
    let mut files = Vec::new();
    while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        if !matches!(value, b"unspecified" | b"unset" | b"set") {
            files.push(FilteredFile {
                name: path.to_vec(),
                filter: String::from_utf8_lossy(value).into_owned(),
                is_aside: false,
            });
        }
    }
    files
}

/// Names with a zero byte behind each.
fn joined<'a>(names: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    names.flat_map(|name| [name, b"\0"].concat()).collect()
}

/// git is not to look into submodules, whatever `.gitmodules` says of them.
pub(super) const LEAVE_SUBMODULES: &[&str] = &["--ignore-submodules=dirty", "--submodule=short"];

/// How a file begins that LFS has put in place of another.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// LFS makes none that are larger.
const LARGEST_POINTER: u64 = 1_024;

const MOST_BYTES: u64 = 4 << 20;
const MOST_ARGUMENTS: usize = 100 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_stay_files_can_be_filtered() {
        let raw =
            b":100644 100755 1 0 M\0a\xff\0:100644 000000 2 0 D\0b\0:120000 100644 3 0 M\0c\0\
                    :100644 100644 4 0 M\0d\0:1";
        assert_eq!(modified(raw), [(&b"a\xff"[..], "1"), (b"d", "4")]);
        assert!(modified(b"").is_empty());
    }

    #[test]
    fn a_filter_has_a_name() {
        let attributes = b"a\0filter\0lfs\0b\0filter\0unspecified\0c\0filter\0unset\0d\xff\0filter\0x\xff\0e\0fil";
        let files = named(attributes);
        let files: Vec<_> = files
            .iter()
            .map(|file| (&*file.name, &*file.filter))
            .collect();
        assert_eq!(files, [(&b"a"[..], "lfs"), (b"d\xff", "x\u{fffd}")]);
    }

    #[test]
    fn the_index_tells_when_it_saw_a_file() {
        let listed = b"a\nb\0  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: 0\n\
                       c\0  mtime: x\nd";
        let expected = [
            (
                b"a\nb".to_vec(),
                IndexEntry {
                    modified: (3, 4),
                    bytes: 9,
                },
            ),
            (b"c".to_vec(), IndexEntry::default()),
        ];
        assert_eq!(entries(listed), expected.into());
    }
}
