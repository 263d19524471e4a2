//! `Glob`: files by their names.

use std::{path::PathBuf, time::Instant};

use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use towline_files::Kind;
use towline_permission::glob_start;

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    search::{self, Found, Patience},
};

/// Finds files.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// What their paths look like, such as `**/*.rs`
    pattern: String,
    /// The directory to look in; where the shell is if left out
    #[serde(rename = "path")]
    _path: Option<PathBuf>,
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
        let patience = Patience::new(interrupt);
        let Some((mut found, complete)) = self.matches(place, &patience)? else {
            return Err(patience.in_words());
        };
        found.sort_by(|one, other| {
            let path = |found: &Found| (found.modified, found.real.as_path().to_owned());
            path(one).cmp(&path(other))
        });
        let total = found.len();
        found.truncate(limit);
        let names: Vec<String> = found
            .iter()
            .map(|found| search::shown(place, &found.words))
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

    /// The files that match. The search begins at the target, which is where the pattern's first special name is.
    fn matches(
        &self,
        place: &Place,
        patience: &Patience,
    ) -> Result<Option<(Vec<Found>, bool)>, Outcome> {
        let nothing = Ok(Some((Vec::new(), true)));
        let Some(start) = glob_start(&self.pattern) else {
            // It climbs behind a special name, and no file has a path with `..` in it.
            return nothing;
        };
        let target = place.target()?;
        let rest = self.pattern[start.len()..].trim_start_matches('/');
        // A pattern that is a path, or begins with one, is meant as it stands there.
        let pattern = if start.is_empty() {
            rest.to_owned()
        } else {
            format!("/{rest}")
        };
        let overrides = search::globs(&target.real, [pattern.as_str()])?;
        let is_given = start.is_empty() || self.pattern.starts_with('/') && !rest.is_empty();
        match towline_files::status(&target.real) {
            // The walk would take any file that it is given.
            Ok(status) if (status.kind == Kind::Directory) != rest.is_empty() => {}
            Err(_) if is_given => {
                return Err(Outcome::error(format!(
                    "Directory does not exist: {}. Note: your current working directory is {}.",
                    target.words.display(),
                    place.current.display()
                )));
            }
            Ok(_) if is_given => {
                return Err(Outcome::error(format!(
                    "Path is not a directory: {}",
                    target.words.display()
                )));
            }
            _ => return nothing,
        }
        let mut walk = WalkBuilder::new(&target.real);
        // The pattern tells which files: hidden and ignored ones count.
        walk.standard_filters(false);
        if !rest.is_empty() {
            walk.overrides(overrides);
        }
        Ok(search::files(place, target, &walk, patience))
    }
}

#[cfg(test)]
mod tests;
