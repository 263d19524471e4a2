//! Cells replaced, inserted and deleted.

use serde_json::{Value, json};

use crate::tools::{Outcome, tried::Tried};

fn notebook() -> String {
    let notebook = json!({
        "cells": [
            {"cell_type": "code", "id": "c1", "metadata": {}, "source": ["print(1)\n"], "execution_count": 1,
                "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]},
            {"cell_type": "markdown", "id": "c2", "metadata": {}, "source": "# T"},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    format!("{notebook}\n")
}

async fn edit(tried: &Tried, fields: Value) -> Outcome {
    let mut input = json!({"notebook_path": tried.path("nb.ipynb"), "new_source": "print(2)"});
    for (name, value) in fields.as_object().unwrap() {
        input[name] = value.clone();
    }
    tried.call("NotebookEdit", input).await
}

fn cells(tried: &Tried) -> Value {
    let notebook: Value = serde_json::from_str(&tried.content("nb.ipynb")).unwrap();
    notebook["cells"].clone()
}

#[tokio::test]
async fn cells_are_replaced_inserted_and_deleted() {
    let tried = Tried::new(&[("nb.ipynb", &notebook())]);
    tried.read("nb.ipynb").await;
    let replaced = edit(&tried, json!({"cell_id": "c1"})).await;
    assert_eq!(replaced.content.text(), "Updated cell c1 with print(2)");
    assert_eq!(replaced.data["old_source"], "print(1)\n");
    assert_eq!(replaced.data["original_file"], notebook());
    assert_eq!(replaced.data["updated_file"], tried.content("nb.ipynb"));
    assert_eq!(
        cells(&tried)[0],
        json!({"cell_type": "code", "id": "c1", "metadata": {}, "source": "print(2)", "execution_count": null, "outputs": []})
    );
    assert!(
        tried
            .content("nb.ipynb")
            .starts_with("{\n \"cells\": [\n  {\n   \"cell_type\"")
    );
    assert!(tried.content("nb.ipynb").ends_with("}\n"));

    let insert = json!({"cell_id": "c1", "new_source": "# hi", "cell_type": "markdown", "edit_mode": "insert"});
    let inserted = edit(&tried, insert).await;
    let id = inserted.data["cell_id"].as_str().unwrap();
    assert_eq!(
        inserted.content.text().as_str(),
        format!("Inserted cell {id} with # hi")
    );
    assert_eq!(
        cells(&tried)[1],
        json!({"cell_type": "markdown", "id": id, "metadata": {}, "source": "# hi"})
    );

    let deleted = edit(
        &tried,
        json!({"cell_id": "c2", "new_source": "", "edit_mode": "delete"}),
    )
    .await;
    assert_eq!(deleted.content.text(), "Deleted cell c2");
    assert_eq!(deleted.data["old_source"], "# T");
    assert_eq!(cells(&tried).as_array().unwrap().len(), 2);

    let first = json!({"new_source": "top", "cell_type": "code", "edit_mode": "insert"});
    assert_eq!(edit(&tried, first).await.is_error, None);
    assert_eq!(cells(&tried)[0]["source"], "top");

    let other_kind = json!({"cell_id": "c1", "new_source": "text", "cell_type": "markdown"});
    assert_eq!(edit(&tried, other_kind).await.is_error, None);
    assert_eq!(
        cells(&tried)[1],
        json!({"cell_type": "markdown", "id": "c1", "metadata": {}, "source": "text"})
    );
}

#[tokio::test]
async fn cells_without_an_id_are_called_by_their_place() {
    let old = notebook().replace("\"nbformat_minor\":5", "\"nbformat_minor\":4");
    let tried = Tried::new(&[("nb.ipynb", &old.replace("\"id\":\"c2\",", ""))]);
    tried.read("nb.ipynb").await;
    let replaced = edit(&tried, json!({"cell_id": "cell-1", "new_source": "# U"})).await;
    assert_eq!(replaced.content.text(), "Updated cell cell-1 with # U");
    assert_eq!(cells(&tried)[1]["source"], "# U");
    let insert = json!({"new_source": "top", "cell_type": "code", "edit_mode": "insert"});
    let inserted = edit(&tried, insert).await;
    assert_eq!(inserted.content.text(), "Inserted a new cell with top");
    assert_eq!(inserted.data["cell_id"], Value::Null);
}

#[tokio::test]
async fn what_cannot_be_done_is_said() {
    let mut tried = Tried::new(&[("nb.ipynb", &notebook()), ("a.txt", "")]);
    tried.place.must_read_first = false;
    let unread = edit(&tried, json!({"cell_id": "c1"})).await;
    assert_eq!(
        *unread.data,
        json!("Error: File has not been read yet. Read it first before writing to it.")
    );
    tried.read("nb.ipynb").await;
    for (fields, words) in [
        (
            json!({"cell_id": "zz"}),
            "Error: Cell with ID \"zz\" not found in notebook.",
        ),
        (
            json!({"cell_id": "cell-2"}),
            "Error: Cell with ID \"cell-2\" not found in notebook.",
        ),
        (
            json!({}),
            "Error: Cell ID must be specified when not inserting a new cell.",
        ),
        (
            json!({"edit_mode": "delete"}),
            "Error: Cell ID must be specified when not inserting a new cell.",
        ),
        (
            json!({"edit_mode": "insert"}),
            "Error: Cell type is required when using edit_mode=insert.",
        ),
        (
            json!({"notebook_path": tried.path("a.txt")}),
            "Error: File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.",
        ),
    ] {
        assert_eq!(
            *edit(&tried, fields.clone()).await.data,
            json!(words),
            "{fields}"
        );
    }
    tried.write("nb.ipynb", "{}");
    let changed = edit(&tried, json!({"cell_id": "c1"})).await;
    assert!(
        changed
            .data
            .as_str()
            .unwrap()
            .contains("modified since read"),
        "{changed:?}"
    );
    assert_eq!(tried.content("nb.ipynb"), "{}");
}
