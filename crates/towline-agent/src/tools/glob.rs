//! `Glob`: files by their names.

use std::{
    path::{Component, Path, PathBuf},
    time::Instant,
};

use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    search::{self, Patience},
};

/// Finds files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// What their paths look like, such as `**/*.rs`
    pattern: String,
    /// The directory to look in; where the shell is if left out
    path: Option<PathBuf>,
    /// How many to show, at most 1000; 100 if left out
    limit: Option<f64>,
}

impl Tool for Glob {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Finds files by a pattern of their paths, such as `**/*.rs` or `src/**/*.{ts,tsx}`. \
        The oldest come first. To search in files use Grep.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.find(place, interrupt)).await
    }
}

impl Glob {
    fn find(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let begin = Instant::now();
        let limit = match self.limit {
            None => 100,
            Some(limit) if limit >= 1.0 => limit.min(1000.0) as usize,
            Some(limit) => {
                return Err(Outcome::misuse(format!(
                    "limit must be 1 or more, got {limit}."
                )));
            }
        };
        let (root, pattern) = self.root(place)?;
        let mut walk = WalkBuilder::new(&root);
        // Names that nobody asked for are not in the way here, so nothing is left out.
        walk.standard_filters(false)
            .overrides(search::globs(&root, [pattern.as_str()])?);
        let patience = Patience::new(interrupt);
        let Some((mut found, complete)) = search::files(&walk, &patience) else {
            return Err(patience.in_words());
        };
        found.sort();
        let total = found.len();
        found.truncate(limit);
        let names: Vec<String> = found
            .iter()
            .map(|found| search::shown(place, &found.path))
            .collect();
        let mut words = if names.is_empty() {
            "No files found".to_owned()
        } else {
            names.join("\n")
        };
        if total > names.len() {
            let (shown, more) = (names.len(), total - names.len());
            words.push_str(&format!(
                "\n(Showing {shown} of {total} matching files; {more} more are not listed. Narrow the pattern or path to see \
                 the rest.)"
            ));
        }
        Ok(Outcome::new(
            words.as_str(),
            json!({
                "filenames": names,
                "durationMs": u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
                "numFiles": names.len(),
                "truncated": total > names.len(),
                "totalMatches": total,
                "countIsComplete": complete,
            }),
        ))
    }

    /// Where to look, and for what: a pattern that is an absolute path brings its own directory.
    fn root(&self, place: &Place) -> Result<(PathBuf, String), Outcome> {
        let (root, pattern) = if Path::new(&self.pattern).is_absolute() {
            split(&self.pattern)
        } else {
            let root = self.path.as_deref().unwrap_or(Path::new(""));
            (place.absolute(root).into_owned(), self.pattern.clone())
        };
        match std::fs::metadata(&root) {
            Ok(metadata) if metadata.is_dir() => {
                // Without what leads nowhere, such as a dot, so that what is found can be shown from where we are.
                Ok((root.components().collect(), pattern))
            }
            Ok(_) => Err(Outcome::error(format!(
                "Path is not a directory: {}",
                root.display()
            ))),
            Err(_) => Err(Outcome::error(format!(
                "Directory does not exist: {}. Note: your current working directory is {}.",
                root.display(),
                place.current.display()
            ))),
        }
    }
}

/// The directories before the first part with a wildcard, and the rest.
fn split(pattern: &str) -> (PathBuf, String) {
    let parts: Vec<Component<'_>> = Path::new(pattern).components().collect();
    let is_plain = |part: &Component<'_>| {
        !part
            .as_os_str()
            .to_string_lossy()
            .contains(['*', '?', '[', '{', '\\'])
    };
    let plain = parts.iter().take_while(|part| is_plain(part)).count();
    // The last part is what is looked for, wildcard or not.
    let plain = plain.min(parts.len().saturating_sub(1));
    let rest: PathBuf = parts[plain..].iter().collect();
    // In its directory alone, as it stands there.
    let rest = format!("/{}", rest.to_string_lossy());
    (parts[..plain].iter().collect(), rest)
}

#[cfg(test)]
mod tests;
