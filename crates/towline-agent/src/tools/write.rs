//! `Write`: a file's whole content.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use towline_files::RealPath;

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    file::{self, Change, Extent, Original, Seen, Text},
};

/// Writes a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The file, as an absolute path
    file_path: PathBuf,
    /// Everything it is to hold
    content: String,
}

impl Tool for Write {
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = "Writes a file, in place of what it held before. Directories above it are made. \
        A file that exists must have been read first. To change a part of a file use Edit.";

    fn check(&self, place: &Place) -> Result<(), Outcome> {
        self.before(place, &place.target()?.real).map(drop)
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.write(place, interrupt)).await
    }
}

impl Write {
    fn write(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let real = &place.target()?.real;
        let before = self.before(place, real)?;
        let text = match &before {
            Some(before) => before.text.with(&self.content),
            None => Text::new(&self.content),
        };
        Change {
            real,
            text: &text,
            before: before.as_ref(),
            extent: Extent::Whole,
        }
        .put(place, interrupt)?;

        let path = self.file_path.display();
        let old = before.map(|before| before.text.shown());
        let (kind, words) = match old {
            None => (
                "create",
                format!("File created successfully at: {path}{}", file::KNOWN),
            ),
            Some(_) => (
                "update",
                format!(
                    "The file {path} has been updated successfully.{}",
                    file::KNOWN
                ),
            ),
        };
        let patch = match &old {
            None => json!([]),
            Some(old) => file::structured_patch(old, &text.shown()),
        };
        Ok(Outcome::new(
            words.as_str(),
            json!({
                "type": kind,
                "filePath": self.file_path,
                "content": self.content,
                "structuredPatch": patch,
                "originalFile": old,
                "userModified": false,
            }),
        ))
    }

    /// What the file holds; an outcome if it must not be overwritten.
    fn before(&self, place: &Place, real: &RealPath) -> Result<Option<Original>, Outcome> {
        let before = file::original(place, real)?;
        match before.as_ref().map(|before| before.seen) {
            Some(Seen::Never) if place.must_read_first => Err(file::not_read()),
            // Nobody would ever see again what is lost here.
            Some(Seen::Stale) => Err(file::modified()),
            _ => Ok(before),
        }
    }
}

#[cfg(test)]
mod tests;
