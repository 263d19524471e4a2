//! A file that is not there: what to say, and which one may be meant.

use std::path::Path;

use towline_files::{Directory, Kind, RealPath};

use super::super::Place;

/// What the model reads when a file is not there.
pub(in crate::tools) fn does_not_exist(place: &Place, path: &RealPath) -> String {
    let current = place.current.display();
    let mut text =
        format!("File does not exist. Note: your current working directory is {current}.");
    if let Some(name) = similar_name(path) {
        text.push_str(&format!(" Did you mean {name}?"));
    }
    text
}

/// The file beside it whose name is nearest.
fn similar_name(path: &RealPath) -> Option<String> {
    let (folder, wanted) = (
        Directory::open(&path.folder()?).ok()?,
        path.file_name()?.to_str()?,
    );
    let stem = path.file_stem()?.to_str()?;
    let mut best: Option<(f64, String)> = None;
    for entry in folder.entries().ok()?.take(MOST).flatten() {
        let Ok(name) = entry.name.into_string() else {
            continue;
        };
        if entry.kind == Kind::Directory {
            continue;
        }
        let same_stem = Path::new(&name)
            .file_stem()
            .is_some_and(|other| other == stem);
        let likeness = if same_stem {
            1.0
        } else {
            strsim::normalized_levenshtein(&name, wanted)
        };
        let better = match &best {
            // Of equals the first in the alphabet, so that the answer does not depend on the file system.
            Some((most, chosen)) => likeness > *most || (likeness == *most && name < *chosen),
            None => likeness >= ALIKE,
        };
        if better {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}

/// How many names are looked at.
const MOST: usize = 10_000;

/// How alike names must be.
const ALIKE: f64 = 0.7;
