//! `Edit`: some text in a file in place of other text.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use towline_files::RealPath;

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    file::{self, Change, Extent, Original, Seen, Text},
};

/// Changes a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file, as an absolute path
    file_path: PathBuf,
    /// The text to be replaced, exactly as it stands in the file; empty to make a new file
    old_string: String,
    /// The text to put in its place
    new_string: String,
    /// Whether every occurrence is replaced; else there must be exactly one
    #[serde(default)]
    replace_all: bool,
}

impl Tool for Edit {
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = "Replaces text in a file. The old text must stand in the file exactly as given, \
        with its indentation and without line numbers, and only once unless all occurrences are to be replaced. \
        The file must have been read first, and again when somebody else has changed it.";

    fn normalise(input: &mut Value) {
        if let Value::Object(fields) = input {
            fields.entry("replace_all").or_insert(Value::Bool(false));
        }
    }

    fn check(&self, place: &Place) -> Result<(), Outcome> {
        Prepared::new(place, &self.file_path, &[self.replacement()]).map(drop)
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.edit(place, interrupt)).await
    }
}

impl Edit {
    fn edit(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let prepared = Prepared::new(place, &self.file_path, &[self.replacement()])?;
        let edited = prepared.put(place, interrupt)?;
        let words = if self.replace_all {
            "has been updated. All occurrences were successfully replaced."
        } else {
            "has been updated successfully."
        };
        let mut data = edited.data();
        data["filePath"] = json!(self.file_path);
        data["oldString"] = json!(self.old_string);
        data["newString"] = json!(self.new_string);
        data["replaceAll"] = json!(self.replace_all);
        let path = self.file_path.display();
        Ok(Outcome::new(
            format!("The file {path} {words}{}", edited.note()).as_str(),
            data,
        ))
    }

    fn replacement(&self) -> Replacement<'_> {
        Replacement {
            old: &self.old_string,
            new: &self.new_string,
            all: self.replace_all,
        }
    }
}

/// One text in place of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) all: bool,
}

impl Replacement<'_> {
    /// The changed text, or why it cannot be changed.
    pub(super) fn apply(&self, text: &Text) -> Result<Text, String> {
        self.check(text)?;
        let (shown, old) = (text.shown(), file::unix(self.old));
        if old.is_empty() {
            return Ok(text.with(self.new));
        }
        let places: Vec<_> = shown
            .match_indices(&old)
            .map(|(at, found)| at..at + found.len())
            .collect();
        match places.len() {
            0 => Err(format!(
                "String to replace not found in file.\nString: {}",
                self.old
            )),
            many @ 2.. if !self.all => Err(format!(
                "Found {many} matches of the string to replace, but replace_all is false. To replace all occurrences, set \
                 replace_all to true. To replace only one, give more of the text around it.\nString: {}",
                self.old
            )),
            _ => Ok(text.splice(&places, self.new)),
        }
    }

    /// What is wrong with it whether or not the model knows the file.
    fn check(&self, text: &Text) -> Result<(), String> {
        if self.old == self.new {
            Err("No changes to make: old_string and new_string are exactly the same.".into())
        } else if self.old.is_empty() && !text.shown().is_empty() {
            Err("Cannot create new file - file already exists.".into())
        } else {
            Ok(())
        }
    }
}

/// Changes of one file that can be made, and were not made yet.
#[derive(Debug)]
pub(super) struct Prepared {
    real: RealPath,
    before: Option<Original>,
    text: Text,
    /// How much of the file the model was shown.
    shown: Option<Extent>,
}

/// A file after a change that was made.
#[derive(Debug)]
pub(super) struct Edited {
    old: String,
    new: String,
    shown: Option<Extent>,
}

impl Prepared {
    /// Changes one after the other in one file: all or none. The order of what may be wrong is that of CLI 2.1.325.
    pub(super) fn new(
        place: &Place,
        path: &Path,
        replacements: &[Replacement<'_>],
    ) -> Result<Self, Outcome> {
        let real = place.target()?.real.clone();
        if path
            .extension()
            .is_some_and(|extension| extension == "ipynb")
        {
            return Err(Outcome::misuse(
                "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.",
            ));
        }
        let before = file::original(place, &real)?;
        let creates = replacements
            .first()
            .is_some_and(|first| first.old.is_empty());
        if before.is_none() && !creates {
            return Err(Outcome::misuse(file::does_not_exist(place, &real)));
        }
        let mut text = match &before {
            Some(before) => before.text.clone(),
            None => Text::new(""),
        };
        if let Some(first) = replacements.first() {
            first.check(&text).map_err(Outcome::misuse)?;
        }
        let shown = match before.as_ref().map(|before| before.seen) {
            None => Some(Extent::Whole),
            Some(Seen::Current(extent)) => Some(extent),
            Some(Seen::Never) if place.must_read_first => return Err(file::not_read()),
            Some(Seen::Never) => None,
            // The text to be replaced may stand there still, and mean something else by now.
            Some(Seen::Stale) => return Err(file::modified()),
        };
        for replacement in replacements {
            text = replacement.apply(&text).map_err(Outcome::misuse)?;
        }
        Ok(Self {
            real,
            before,
            text,
            shown,
        })
    }

    /// Makes them.
    pub(super) fn put(self, place: &Place, interrupt: &Interrupt) -> Result<Edited, Outcome> {
        Change {
            real: &self.real,
            text: &self.text,
            before: self.before.as_ref(),
            extent: self.shown.unwrap_or(Extent::Part),
        }
        .put(place, interrupt)?;
        let old = self.before.map(|before| before.text.shown());
        Ok(Edited {
            old: old.unwrap_or_default(),
            new: self.text.shown(),
            shown: self.shown,
        })
    }
}

impl Edited {
    /// What the model must know about what it knows.
    pub(super) fn note(&self) -> &'static str {
        match self.shown {
            Some(Extent::Whole) => file::KNOWN,
            Some(Extent::Part) | None => "",
        }
    }

    /// What is the same for all tools that edit.
    pub(super) fn data(&self) -> Value {
        let mut data = json!({
            "originalFile": self.old,
            "structuredPatch": file::structured_patch(&self.old, &self.new),
            "userModified": false,
        });
        if self.shown != Some(Extent::Whole) {
            data["contentNotInModelContext"] = json!(true);
        }
        data
    }
}

#[cfg(test)]
mod tests;
