//! `MultiEdit`: several edits of one file, one after the other, all or none (document 001 §2.7).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    edit::{Prepared, Replacement},
};

/// Changes a file in several places.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MultiEdit {
    /// The file, as an absolute path
    file_path: PathBuf,
    /// The edits, in order; each sees what the ones before it have made
    edits: Vec<OneEdit>,
}

/// One of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneEdit {
    /// The text to be replaced, exactly as it stands in the file; empty or left out to make a new file
    #[serde(default)]
    old_string: String,
    /// The text to put in its place; left out to delete
    #[serde(default)]
    new_string: String,
    /// Whether every occurrence is replaced; else there must be exactly one
    #[serde(default)]
    replace_all: bool,
}

impl Tool for MultiEdit {
    const NAME: &'static str = "MultiEdit";
    const DESCRIPTION: &'static str = "Makes several edits in one file, one after the other. All are made, or none. \
        Each follows the rules of Edit.";

    fn normalise(input: &mut Value) {
        for edit in input["edits"].as_array_mut().into_iter().flatten() {
            if let Value::Object(fields) = edit {
                fields.entry("replace_all").or_insert(Value::Bool(false));
            }
        }
    }

    fn check(&self, place: &Place) -> Result<(), Outcome> {
        self.prepared(place).map(drop)
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.edit(place, interrupt)).await
    }
}

impl MultiEdit {
    fn edit(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let edited = self.prepared(place)?.put(place, interrupt)?;
        let (many, path) = (self.edits.len(), self.file_path.display());
        let plural = if many == 1 { "" } else { "s" };
        let edits = self.edits.iter().map(|edit| {
            json!({
                "old_string": edit.old_string,
                "new_string": edit.new_string,
                "replace_all": edit.replace_all,
            })
        });
        let mut data = edited.data();
        data["filePath"] = json!(self.file_path);
        data["edits"] = edits.collect();
        Ok(Outcome::new(
            format!("Applied {many} edit{plural} to {path}{}", edited.note()).as_str(),
            data,
        ))
    }

    fn prepared(&self, place: &Place) -> Result<Prepared, Outcome> {
        if self.edits.is_empty() {
            return Err(Outcome::misuse("No changes to make: `edits` is empty."));
        }
        let replacements: Vec<Replacement<'_>> =
            self.edits.iter().map(OneEdit::replacement).collect();
        Prepared::new(place, &self.file_path, &replacements)
    }
}

impl OneEdit {
    fn replacement(&self) -> Replacement<'_> {
        Replacement {
            old: &self.old_string,
            new: &self.new_string,
            all: self.replace_all,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tools::tried::Tried;

    #[tokio::test]
    async fn all_edits_are_made_or_none() {
        let tried = Tried::new(&[("a.txt", "one two two\n")]);
        tried.read("a.txt").await;
        let edit = |edits| json!({"file_path": tried.path("a.txt"), "edits": edits});

        let made = tried
            .call(
                "MultiEdit",
                edit(json!([
                    {"old_string": "one", "new_string": "1"},
                    {"old_string": "1 two", "new_string": "1 2"},
                    {"old_string": "two"},
                ])),
            )
            .await;
        assert_eq!(made.is_error, None, "{made:?}");
        assert_eq!(tried.content("a.txt"), "1 2 \n");
        assert_eq!(made.data["originalFile"], "one two two\n");
        assert_eq!(
            made.data["structuredPatch"],
            json!([{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-one two two", "+1 2 "]}])
        );

        let failed = tried
            .call(
                "MultiEdit",
                edit(json!([
                    {"old_string": "1", "new_string": "one"},
                    {"old_string": "missing", "new_string": "x"},
                ])),
            )
            .await;
        assert_eq!(
            *failed.data,
            json!("Error: String to replace not found in file.\nString: missing")
        );
        assert_eq!(tried.content("a.txt"), "1 2 \n");
    }

    #[tokio::test]
    async fn a_new_file_begins_with_an_edit_of_nothing() {
        let tried = Tried::new(&[]);
        let edits = json!([{"new_string": "one\n"}, {"old_string": "one", "new_string": "two"}]);
        let made = tried
            .call(
                "MultiEdit",
                json!({"file_path": tried.path("sub/a.txt"), "edits": edits}),
            )
            .await;
        assert_eq!(made.is_error, None, "{made:?}");
        assert_eq!(tried.content("sub/a.txt"), "two\n");
        let none = json!({"file_path": tried.path("sub/a.txt"), "edits": []});
        assert_eq!(
            *tried.call("MultiEdit", none).await.data,
            json!("Error: No changes to make: `edits` is empty.")
        );
    }
}
