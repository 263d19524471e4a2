//! New files that are too large to be shown in a diff: what stands there in place of them.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use tokio::task;

use super::{
    ProjectError,
    files::{MOST_MEDIA, MOST_TEXT},
    media,
};

/// A new file that is not looked into.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LargeFile {
    /// Its path from the project, as git says it.
    name: String,
    bytes: u64,
}

impl LargeFile {
    /// The names of the other files, and those that are too large.
    pub(super) async fn apart(
        project: PathBuf,
        names: Vec<Vec<u8>>,
    ) -> Result<(Vec<Vec<u8>>, Vec<Self>), ProjectError> {
        let looked = task::spawn_blocking(move || {
            let mut large = Vec::new();
            let others = names.into_iter().filter(|name| {
                let found = Self::of(&project, name);
                let is_other = found.is_none();
                large.extend(found);
                is_other
            });
            (others.collect(), large)
        });
        let broken = |_| ProjectError::Unusable("the look at the files broke off".to_owned());
        looked.await.map_err(broken)
    }

    /// The file of this name, if it is too large. A picture is shown as one, and may be larger than a text.
    fn of(project: &Path, name: &[u8]) -> Option<Self> {
        let path = Path::new(OsStr::from_bytes(name));
        // A link is as long as the path in it.
        let found = fs::symlink_metadata(project.join(path)).ok()?;
        let most = match media::picture(path) {
            Some(_) => MOST_MEDIA,
            None => MOST_TEXT,
        };
        (found.len() > most).then(|| Self {
            name: String::from_utf8_lossy(name).into_owned(),
            bytes: found.len(),
        })
    }

    /// Its name with a zero byte at the end, as git lists names.
    pub(super) fn record(&self) -> Vec<u8> {
        [self.name.as_bytes(), b"\0"].concat()
    }

    /// What a diff says of it: that it is new, and in a line that readers of diffs skip why there is no more.
    pub(super) fn to_diff(&self) -> String {
        let (old, new) = (quoted("a/", &self.name), quoted("b/", &self.name));
        let bytes = self.bytes;
        format!(
            "diff --git {old} {new}\nnew file mode 100644\n\\ Too large to be shown: {bytes} bytes\n"
        )
    }
}

/// A name as git writes it: in quotes if there is something in it that could be taken for more than a name.
pub(super) fn quoted(prefix: &str, name: &str) -> String {
    let is_plain = |letter: char| !letter.is_ascii_control() && !matches!(letter, '"' | '\\');
    if name.chars().all(is_plain) {
        return format!("{prefix}{name}");
    }
    let mut quoted = format!("\"{prefix}");
    for letter in name.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if letter.is_ascii_control() => {
                quoted.push_str(&format!("\\{:03o}", u32::from(letter)));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pretend_to_be_a_line_of_the_diff() {
        for (name, expected) in [
            ("new é", "a/new é"),
            ("x\n+y", r#""a/x\n+y""#),
            ("a\"\\\t\u{1}", r#""a/a\"\\\t\001""#),
        ] {
            assert_eq!(quoted("a/", name), expected);
        }
    }
}
