//! `NotebookEdit`: one cell of a notebook replaced, inserted or deleted.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use towline_files::RealPath;
use uuid::Uuid;

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    file::{self, Change, Extent, Original, Seen},
    notebook::{Notebook, joined},
};

/// Changes a cell.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotebookEdit {
    /// The notebook, as an absolute path
    notebook_path: PathBuf,
    /// The cell that is changed; a new one is put after it, or first if this is left out
    cell_id: Option<String>,
    /// What the cell is to hold
    new_source: String,
    /// What kind of cell it is to be; needed for a new one
    cell_type: Option<CellType>,
    /// What to do; replace if left out
    edit_mode: Option<EditMode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl Tool for NotebookEdit {
    const NAME: &'static str = "NotebookEdit";
    const DESCRIPTION: &'static str = "Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb), which must \
        have been read first.";

    fn check(&self, place: &Place) -> Result<(), Outcome> {
        let (_, _, mut notebook) = self.open(place)?;
        self.change(&mut notebook)
            .map(drop)
            .map_err(Outcome::misuse)
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.edit(place, interrupt)).await
    }
}

impl NotebookEdit {
    fn edit(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let (real, before, mut notebook) = self.open(place)?;
        let old_text = before.text.shown();
        let changed = self.change(&mut notebook).map_err(Outcome::misuse)?;
        let mut new_text = notebook.to_text();
        if old_text.ends_with('\n') {
            new_text.push('\n');
        }
        Change {
            real: &real,
            text: &before.text.with(&new_text),
            before: Some(&before),
            extent: Extent::Whole,
        }
        .put(place, interrupt)?;

        let mut data = json!({
            "new_source": self.new_source,
            "cell_type": self.cell_type.unwrap_or(CellType::Code),
            "language": notebook.language(),
            "edit_mode": self.mode(),
            "error": "",
            "notebook_path": self.notebook_path,
            "original_file": old_text,
            "updated_file": new_text,
        });
        if let Some(id) = &changed.id {
            data["cell_id"] = json!(id);
        }
        if let Some(old_source) = &changed.old_source {
            data["old_source"] = json!(old_source);
        }
        Ok(Outcome::new(
            self.words(changed.id.as_deref()).as_str(),
            data,
        ))
    }

    /// The notebook, where it is, and what the file holds.
    fn open(&self, place: &Place) -> Result<(RealPath, Original, Notebook), Outcome> {
        self.check_input().map_err(Outcome::misuse)?;
        let real = place.target()?.real.clone();
        if !place.files.knows(&real) {
            return Err(file::not_read());
        }
        let Some(before) = file::original(place, &real)? else {
            return Err(Outcome::misuse(file::does_not_exist(place, &real)));
        };
        if before.seen == Seen::Stale {
            return Err(file::modified());
        }
        let notebook = Notebook::parse(&before.text.shown()).map_err(Outcome::misuse)?;
        Ok((real, before, notebook))
    }

    fn mode(&self) -> EditMode {
        self.edit_mode.unwrap_or_default()
    }

    /// What can be told without the notebook.
    fn check_input(&self) -> Result<(), &'static str> {
        let is_notebook = self
            .notebook_path
            .extension()
            .is_some_and(|extension| extension == "ipynb");
        if !is_notebook {
            Err(
                "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.",
            )
        } else if self.mode() == EditMode::Insert && self.cell_type.is_none() {
            Err("Cell type is required when using edit_mode=insert.")
        } else if self.mode() != EditMode::Insert && self.cell_id.is_none() {
            Err("Cell ID must be specified when not inserting a new cell.")
        } else {
            Ok(())
        }
    }

    fn change(&self, notebook: &mut Notebook) -> Result<Changed, String> {
        let at = match &self.cell_id {
            None => None,
            Some(id) => Some(
                notebook
                    .position(id)
                    .ok_or_else(|| format!("Cell with ID \"{id}\" not found in notebook."))?,
            ),
        };
        match (self.mode(), at) {
            (EditMode::Insert, at) => {
                let id = notebook
                    .has_ids()
                    .then(|| Uuid::new_v4().simple().to_string()[..8].to_owned());
                // In the order in which the real CLI writes them.
                let mut cell = json!({"cell_type": self.cell_type});
                if let Some(id) = &id {
                    cell["id"] = json!(id);
                }
                cell["source"] = json!(self.new_source);
                cell["metadata"] = json!({});
                self.fill(&mut cell);
                notebook.cells_mut().insert(at.map_or(0, |at| at + 1), cell);
                Ok(Changed {
                    id,
                    old_source: None,
                })
            }
            (EditMode::Replace, Some(at)) => {
                let cell = &mut notebook.cells_mut()[at];
                let old_source = joined(&cell["source"]);
                self.fill(cell);
                Ok(Changed {
                    id: self.cell_id.clone(),
                    old_source: Some(old_source),
                })
            }
            (EditMode::Delete, Some(at)) => {
                let cell = notebook.cells_mut().remove(at);
                Ok(Changed {
                    id: self.cell_id.clone(),
                    old_source: Some(joined(&cell["source"])),
                })
            }
            (EditMode::Replace | EditMode::Delete, None) => {
                unreachable!("`check` asks for an id where no cell is inserted")
            }
        }
    }

    /// Puts the new source into a cell. What its old source gave is gone.
    fn fill(&self, cell: &mut Value) {
        let Value::Object(fields) = cell else {
            *cell = json!({"metadata": {}});
            return self.fill(cell);
        };
        fields.insert("source".into(), json!(self.new_source));
        if let Some(kind) = self.cell_type {
            fields.insert("cell_type".into(), json!(kind));
        }
        if fields.get("cell_type").is_some_and(|kind| kind == "code") {
            fields.insert("outputs".into(), json!([]));
            fields.insert("execution_count".into(), Value::Null);
        } else {
            fields.shift_remove("outputs");
            fields.shift_remove("execution_count");
        }
    }

    fn words(&self, id: Option<&str>) -> String {
        let source = &self.new_source;
        match (self.mode(), id) {
            (EditMode::Replace, id) => {
                format!("Updated cell {} with {source}", id.unwrap_or_default())
            }
            (EditMode::Insert, Some(id)) => format!("Inserted cell {id} with {source}"),
            (EditMode::Insert, None) => format!("Inserted a new cell with {source}"),
            (EditMode::Delete, id) => format!("Deleted cell {}", id.unwrap_or_default()),
        }
    }
}

struct Changed {
    id: Option<String>,
    old_source: Option<String>,
}

#[cfg(test)]
mod tests;
