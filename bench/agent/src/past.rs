//! A large session as the real CLI would have written it: turns that read, edit and run something.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
};

use serde_json::{Value, json};

use crate::Result;

/// The session's id.
pub const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Writes turns until the file has so many million bytes, and gives its length.
pub fn write(path: &Path, project: &Path, megabytes: usize) -> Result<u64> {
    fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
    let mut past = Past {
        file: BufWriter::new(File::create(path)?),
        project,
        length: 0,
        records: 0,
        last: None,
        turns: 0,
    };
    while past.length < megabytes as u64 * 1_000_000 {
        past.turn()?;
        past.turns += 1;
    }
    past.file.flush()?;
    Ok(past.length)
}

struct Past<'a> {
    file: BufWriter<File>,
    project: &'a Path,
    length: u64,
    records: u64,
    last: Option<String>,
    /// How many are complete.
    turns: u64,
}

impl Past<'_> {
    fn turn(&mut self) -> Result<()> {
        let turn = self.turns;
        let file = self.project.join("src").join(format!("{turn}.rs"));
        let text = "    let sum = first + second; // as \"before\"\n".repeat(80);
        self.record(json!({
            "type": "user", "promptId": format!("prompt-{turn}"), "permissionMode": "default",
            "promptSource": "sdk", "turnPosition": {"promptIndex": turn, "turnIndex": turn + 1},
            "message": {"role": "user", "content": format!("Change file {turn}.")},
        }))?;
        self.call("Read", json!({"file_path": file}), &text, json!({
            "type": "text",
            "file": {"filePath": file, "content": text, "numLines": 80, "startLine": 1, "totalLines": 80},
        }))?;
        let (old, new) = ("first + second", "second + first");
        let input =
            json!({"file_path": file, "old_string": old, "new_string": new, "replace_all": true});
        // The whole file as it was is in the record, and not told to the model.
        self.call("Edit", input, "The file has been updated.", json!({
            "filePath": file, "oldString": old, "newString": new, "originalFile": text.repeat(6),
            "structuredPatch": [], "userModified": false, "replaceAll": true,
        }))?;
        let output = "test it::works ... ok\n".repeat(40);
        self.call(
            "Bash",
            json!({"command": "cargo test"}),
            &output,
            json!({
                "stdout": output, "stderr": "", "interrupted": false, "isImage": false,
            }),
        )?;
        self.answer(
            &format!("msg_{turn}"),
            json!({"type": "text", "text": "It is changed."}),
        )?;
        Ok(())
    }

    fn call(&mut self, tool: &str, input: Value, result: &str, data: Value) -> Result<()> {
        let turn = self.turns;
        let id = format!("toolu_{tool}_{turn}");
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let call = self.answer(&format!("msg_{tool}_{turn}"), block)?;
        self.record(json!({
            "type": "user", "toolUseResult": data, "sourceToolAssistantUUID": call,
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": result},
            ]},
        }))?;
        Ok(())
    }

    fn answer(&mut self, message: &str, block: Value) -> Result<String> {
        let reason = if block["type"] == "text" {
            "end_turn"
        } else {
            "tool_use"
        };
        self.record(json!({
            "type": "assistant", "requestId": format!("req_{message}"),
            "message": {
                "id": message, "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                "stop_reason": reason, "stop_sequence": null,
                "usage": {"input_tokens": 100, "output_tokens": 10},
            },
        }))
    }

    /// Writes a record behind the last one, and gives its id.
    fn record(&mut self, mut record: Value) -> Result<String> {
        self.records += 1;
        let uuid = format!("00000000-0000-4000-8000-{:012}", self.records);
        let common = json!({
            "uuid": uuid, "parentUuid": self.last, "sessionId": SESSION, "isSidechain": false,
            "timestamp": "2026-01-01T00:00:00.000Z", "userType": "external", "entrypoint": "sdk-cli",
            "cwd": self.project, "version": "2.1.325", "gitBranch": "HEAD",
        });
        if let (Value::Object(record), Value::Object(common)) = (&mut record, common) {
            record.extend(common);
        }
        let line = record.to_string();
        writeln!(self.file, "{line}")?;
        self.length += line.len() as u64 + 1;
        self.last = Some(uuid.clone());
        Ok(uuid)
    }
}

const MODEL: &str = "claude-opus-4-5";
