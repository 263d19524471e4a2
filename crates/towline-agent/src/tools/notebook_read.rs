//! `NotebookRead`: the cells of a notebook with what they gave (document 001 §3.3). `Read` shows notebooks too.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Outcome, Place, Tool, blocking::blocking_at, read};

/// Reads a notebook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotebookRead {
    /// The notebook, as an absolute path
    notebook_path: PathBuf,
}

impl Tool for NotebookRead {
    const NAME: &'static str = "NotebookRead";
    const DESCRIPTION: &'static str =
        "Reads a Jupyter notebook (.ipynb): all cells with their outputs.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, _| {
            match self.notebook_path.extension() {
                Some(extension) if extension == "ipynb" => {
                    read::notebook(place, &self.notebook_path)
                }
                _ => Err(Outcome::misuse(
                    "File must be a Jupyter notebook (.ipynb file). For other files use Read.",
                )),
            }
        })
        .await
    }
}
