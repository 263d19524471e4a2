//! Files that git would pass through a program (`filter=NAME` in the attributes, as for LFS): what the program would make
//! of them is not known here, because it is not run.

use super::{ProjectError, git::Git, large::quoted};

/// Changed files that a program would filter. They are not compared.
#[derive(Debug, Default)]
pub(super) struct Filtered {
    files: Vec<(Vec<u8>, String)>,
}

impl Filtered {
    /// Finds them among the changes that are not staged, and has git leave them alone from now on.
    ///
    /// One that is unchanged since git wrote it is none of them: git sees that by its time and size.
    pub(super) async fn set_aside(git: &Git) -> Result<Self, ProjectError> {
        let compare = ["diff", "--raw", "-z", "--no-abbrev", "--no-renames"];
        let compare: Vec<_> = compare
            .iter()
            .chain(LEAVE_SUBMODULES)
            .chain(&["--", "."])
            .collect();
        let raw = git.run(&compare, &[], MOST_BYTES).await?;
        let names = modified(&raw.bytes);
        if names.is_empty() {
            return Ok(Self::default());
        }
        let names: Vec<u8> = names
            .into_iter()
            .flat_map(|name| [name, b"\0"])
            .flatten()
            .copied()
            .collect();
        let check = ["check-attr", "-z", "--stdin", "filter"];
        let attributes = git.run_at_top(&check, &names, MOST_BYTES).await?;
        let files = named(&attributes.bytes);
        if !files.is_empty() {
            let names: Vec<u8> = files
                .iter()
                .flat_map(|(name, _)| [&**name, b"\0"])
                .flatten()
                .copied()
                .collect();
            git.leave_alone(&names).await?;
        }
        Ok(Self { files })
    }

    /// Lines that readers of diffs skip, as they do with the one about a missing newline: nothing is known of a change.
    pub(super) fn to_diff(&self, git: &Git) -> String {
        let mut diff = String::new();
        for (name, filter) in &self.files {
            let name = git.name_from_here(name);
            let (name, filter) = (quoted("", &name), quoted("", filter));
            diff.push_str(&format!(
                "\\ Filtered by {filter}, so not compared: {name}\n"
            ));
        }
        diff
    }
}

/// The names in the lines `:100644 100755 <old> <new> M\0<path>\0…` of files that are files before and after.
fn modified(raw: &[u8]) -> Vec<&[u8]> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut names = Vec::new();
    while let (Some(head), Some(name)) = (fields.next(), fields.next()) {
        let mut words = head.split(|byte| *byte == b' ');
        let (old, new) = (words.next(), words.next());
        let was_file = old.is_some_and(|mode| mode.starts_with(b":100"));
        let is_file = new.is_some_and(|mode| mode.starts_with(b"100"));
        if was_file && is_file && head.ends_with(b" M") {
            names.push(name);
        }
    }
    names
}

/// Files with a filter by a name, from `<path>\0filter\0<value>\0…`.
fn named(attributes: &[u8]) -> Vec<(Vec<u8>, String)> {
    let mut fields = attributes.split(|byte| *byte == 0);
    let mut files = Vec::new();
    while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        if !matches!(value, b"unspecified" | b"unset" | b"set") {
            files.push((path.to_vec(), String::from_utf8_lossy(value).into_owned()));
        }
    }
    files
}

/// git is not to look into submodules, whatever `.gitmodules` says of them.
pub(super) const LEAVE_SUBMODULES: &[&str] = &["--ignore-submodules=dirty", "--submodule=short"];

const MOST_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_stay_files_can_be_filtered() {
        let raw = b":100644 100755 1 0 M\0a\xff\0:100644 000000 1 0 D\0b\0:120000 100644 1 0 M\0c\0:100644 100644 1 0 M\0d\0:1";
        assert_eq!(modified(raw), [&b"a\xff"[..], b"d"]);
        assert!(modified(b"").is_empty());
    }

    #[test]
    fn a_filter_has_a_name() {
        let attributes = b"a\0filter\0lfs\0b\0filter\0unspecified\0c\0filter\0unset\0d\xff\0filter\0x\xff\0e\0fil";
        assert_eq!(
            named(attributes),
            [
                (b"a".to_vec(), "lfs".to_owned()),
                (b"d\xff".to_vec(), "x\u{fffd}".to_owned())
            ]
        );
    }
}
