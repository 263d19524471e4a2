//! Jupyter notebooks: cells and what they gave, as the model sees them and as hosts do.

use serde_json::{Map, Value, json};
use towline_protocol::{Block, Content};

use super::file::size_in_words;

/// A notebook.
#[derive(Clone, Debug)]
pub(super) struct Notebook(Map<String, Value>);

impl Notebook {
    /// Reads the text of a notebook.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            format!("Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): {error}")
        })?;
        match value {
            Value::Object(fields) if fields.get("cells").is_some_and(Value::is_array) => Ok(Self(fields)),
            Value::Object(fields) if fields.contains_key("worksheets") => Err(
                "Notebook file has the old format 3; convert it with `jupyter nbconvert --to notebook` first".into(),
            ),
            _ => Err("Notebook file has no list of cells".into()),
        }
    }

    /// The text of the file, its keys as they stood, with the indentation that Jupyter writes.
    pub(super) fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        serde::Serialize::serialize(&self.0, &mut serializer)
            .expect("JSON in memory can be written");
        String::from_utf8(bytes).expect("JSON is UTF-8")
    }

    /// The language of its code.
    pub(super) fn language(&self) -> &str {
        let metadata = self.0.get("metadata");
        let language = metadata.and_then(|metadata| metadata["language_info"]["name"].as_str());
        language.unwrap_or("python")
    }

    /// Whether cells have ids: since format 4.5.
    pub(super) fn has_ids(&self) -> bool {
        let number = |name: &str| self.0.get(name).and_then(Value::as_u64).unwrap_or(0);
        (number("nbformat"), number("nbformat_minor")) >= (4, 5)
    }

    /// The cells.
    pub(super) fn cells(&self) -> &[Value] {
        self.0
            .get("cells")
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The cells, to be changed.
    pub(super) fn cells_mut(&mut self) -> &mut Vec<Value> {
        match self.0.get_mut("cells") {
            Some(Value::Array(cells)) => cells,
            _ => unreachable!("`parse` takes no notebook without a list of cells"),
        }
    }

    /// Where a cell is: by its id, or by `cell-N`, which is how cells without an id are shown.
    pub(super) fn position(&self, id: &str) -> Option<usize> {
        let by_id = self.cells().iter().position(|cell| cell["id"] == id);
        by_id.or_else(|| {
            let index: usize = id.strip_prefix("cell-")?.parse().ok()?;
            (index < self.cells().len()).then_some(index)
        })
    }

    /// As the model sees it.
    pub(super) fn content(&self) -> Result<Content, String> {
        let mut shown = Shown::default();
        for (index, cell) in self.cells().iter().enumerate() {
            shown.cell(&Cell::new(index, cell, self.language()));
        }
        let size: usize = shown.text_bytes;
        if size > MOST_TEXT {
            return Err(format!(
                "Notebook ({}) exceeds maximum allowed size ({}). Use a shell command to see parts of it, such as `jq '.cells[:20]'`.",
                size_in_words(size as u64),
                size_in_words(MOST_TEXT as u64)
            ));
        }
        if shown.blocks.is_empty() {
            return Ok(Content::from("The notebook has no cells."));
        }
        Ok(Content::Blocks(shown.blocks))
    }

    /// The cells as hosts see them.
    pub(super) fn data(&self) -> Value {
        let cells = self.cells().iter().enumerate();
        cells
            .map(|(index, cell)| Cell::new(index, cell, self.language()).data())
            .collect()
    }
}

/// The source of a cell, or any text of an output: a string or a list of lines.
pub(super) fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

struct Cell<'a> {
    id: String,
    kind: &'a str,
    language: &'a str,
    source: String,
    execution_count: Option<u64>,
    outputs: Vec<Output>,
}

struct Output {
    kind: String,
    text: String,
    /// Type and data.
    image: Option<(&'static str, String)>,
}

impl<'a> Cell<'a> {
    fn new(index: usize, cell: &'a Value, language: &'a str) -> Self {
        let outputs = match &cell["outputs"] {
            Value::Array(outputs) => outputs.iter().map(Output::new).collect(),
            _ => Vec::new(),
        };
        Self {
            id: cell["id"]
                .as_str()
                .map_or_else(|| format!("cell-{index}"), str::to_owned),
            kind: cell["cell_type"].as_str().unwrap_or("code"),
            language,
            source: joined(&cell["source"]),
            execution_count: cell["execution_count"].as_u64(),
            outputs,
        }
    }

    fn is_code(&self) -> bool {
        self.kind == "code"
    }

    fn data(&self) -> Value {
        let mut data = json!({"cellType": self.kind, "source": self.source, "cell_id": self.id});
        if self.is_code() {
            data["language"] = json!(self.language);
            if let Some(count) = self.execution_count {
                data["execution_count"] = json!(count);
            }
        }
        if !self.outputs.is_empty() {
            data["outputs"] = self.outputs.iter().map(Output::data).collect();
        }
        data
    }
}

impl Output {
    fn new(output: &Value) -> Self {
        let kind = output["output_type"].as_str().unwrap_or_default();
        let text = match kind {
            "stream" => joined(&output["text"]),
            "error" => {
                let word = |name: &str| output[name].as_str().unwrap_or_default();
                let lines = output["traceback"].as_array().into_iter().flatten();
                let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
                format!(
                    "{}: {}\n{}",
                    word("ename"),
                    word("evalue"),
                    lines.join("\n")
                )
            }
            _ => joined(&output["data"]["text/plain"]),
        };
        let image = ["image/png", "image/jpeg"].into_iter().find_map(|kind| {
            let data: String = joined(output["data"].get(kind)?);
            Some((kind, data.split_whitespace().collect::<String>()))
        });
        Self {
            kind: kind.to_owned(),
            text: shortened(text),
            image: image.filter(|(_, data)| !data.is_empty() && data.len() <= MOST_IMAGE),
        }
    }

    fn data(&self) -> Value {
        let mut data = json!({"output_type": self.kind, "text": self.text});
        if let Some((kind, image)) = &self.image {
            data["image"] = json!({"image_data": image, "media_type": kind});
        }
        data
    }
}

/// What the model sees: texts that follow each other are one block.
#[derive(Default)]
struct Shown {
    blocks: Vec<Block>,
    text_bytes: usize,
}

impl Shown {
    fn cell(&mut self, cell: &Cell<'_>) {
        let id = &cell.id;
        let mut text = format!("<cell id=\"{id}\">");
        if !cell.is_code() {
            text.push_str(&format!("<cell_type>{}</cell_type>", cell.kind));
        } else if cell.language != "python" {
            text.push_str(&format!("<language>{}</language>", cell.language));
        }
        text.push_str(&format!("{}</cell id=\"{id}\">", cell.source));
        self.text(&text);
        for output in &cell.outputs {
            if !output.text.is_empty() {
                self.text(&format!("\n{}", output.text));
            }
            if let Some((kind, data)) = &output.image {
                self.blocks.push(super::read::picture(kind, data));
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.text_bytes += text.len();
        match self.blocks.last_mut() {
            Some(Block::Text(block)) => block.text = format!("{}\n{text}", block.text).into(),
            _ => self.blocks.push(Block::text(text)),
        }
    }
}

fn shortened(text: String) -> String {
    if text.len() <= MOST_OUTPUT {
        return text;
    }
    let end = text.floor_char_boundary(MOST_OUTPUT);
    let rest = size_in_words((text.len() - end) as u64);
    format!(
        "{}\n[{rest} more; see the rest with `jq` on the notebook]",
        &text[..end]
    )
}

/// The most text of a notebook that is shown.
const MOST_TEXT: usize = 256 << 10;

/// The most text of one output that is shown.
const MOST_OUTPUT: usize = 10_000;

/// The largest picture in an output that is shown, in base64.
const MOST_IMAGE: usize = 5 << 20;
