//! What a search found, as the model and the host see it: one page of it is kept, the rest is counted.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use serde_json::{Value, json};

use super::{Outcome, OutputMode};

/// Which part of what was found is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// How many are left out before it.
    pub(super) offset: usize,
    /// How many there are in it; nothing for all.
    pub(super) limit: Option<usize>,
}

/// Takes what a search finds.
#[derive(Debug)]
pub(super) struct Printer {
    mode: OutputMode,
    page: Page,
    /// Whether lines have numbers.
    pub(super) numbers: bool,
    /// Whether lines have the file's name.
    pub(super) named: bool,
    /// Whether files are set apart, as those with lines around matches are.
    pub(super) apart: bool,
    /// What is shown of each line, if not all.
    pub(super) only_matching: Option<RegexMatcher>,
    /// The file that is being searched, and its matches.
    file: String,
    in_file: usize,
    /// The lines or files of the page.
    kept: Vec<String>,
    kept_bytes: usize,
    /// How many there are in all.
    total: usize,
    files: usize,
    matches: usize,
}

impl Printer {
    pub(super) fn new(mode: OutputMode, page: Page) -> Self {
        Self {
            mode,
            page,
            numbers: true,
            named: true,
            apart: false,
            only_matching: None,
            file: String::new(),
            in_file: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            total: 0,
            files: 0,
            matches: 0,
        }
    }

    /// A file begins.
    pub(super) fn begin(&mut self, file: String) {
        (self.file, self.in_file) = (file, 0);
    }

    /// It ends.
    pub(super) fn end(&mut self) {
        if self.in_file == 0 {
            return;
        }
        self.files += 1;
        match self.mode {
            OutputMode::Content => {}
            OutputMode::FilesWithMatches => self.push(self.file.clone()),
            OutputMode::Count => {
                self.matches += self.in_file;
                self.push(format!("{}:{}", self.file, self.in_file));
            }
        }
    }

    fn push(&mut self, line: String) {
        self.total += 1;
        let wanted = self.total > self.page.offset
            && self.page.limit.is_none_or(|limit| self.kept.len() < limit);
        if wanted && self.kept_bytes + line.len() < MOST_BYTES {
            self.kept_bytes += line.len() + 1;
            self.kept.push(line);
        }
    }

    fn line(&mut self, number: Option<u64>, sign: char, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut shown = String::new();
        if self.named {
            shown.push_str(&self.file);
            shown.push(sign);
        }
        if let Some(number) = number.filter(|_| self.numbers) {
            shown.push_str(&format!("{number}{sign}"));
        }
        if line.len() <= MOST_COLUMNS {
            shown.push_str(&String::from_utf8_lossy(line));
        } else if sign == ':' {
            shown.push_str("[Omitted long matching line]");
        } else {
            shown.push_str("[Omitted long context line]");
        }
        self.push(shown);
    }

    /// Sets this file apart from the one before, once.
    fn set_apart(&mut self) {
        if self.in_file == 0 && self.apart && self.total > 0 {
            self.push("--".to_owned());
        }
    }

    fn only_matches(&mut self, matcher: &RegexMatcher, found: &SinkMatch<'_>) {
        let (bytes, first) = (found.bytes(), found.line_number());
        let mut places = Vec::new();
        // This matcher has no error of its own.
        drop(matcher.find_iter(bytes, |place| {
            places.push(place);
            true
        }));
        for place in places.into_iter().filter(|place| !place.is_empty()) {
            let before = bytes[..place.start()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            let lines = bytes[place.start()..place.end()].split(|byte| *byte == b'\n');
            for (line, number) in lines.zip(before as u64..) {
                self.line(first.map(|first| first + number), ':', line);
            }
        }
    }

    /// What the model and the host see.
    pub(super) fn outcome(self) -> Outcome {
        let left = self.total.saturating_sub(self.page.offset);
        let cut = self.page.limit.filter(|limit| left > *limit);
        let offset = (self.page.offset > 0).then_some(self.page.offset);
        let mut notes = Vec::new();
        notes.extend(cut.map(|limit| format!("limit: {limit}")));
        notes.extend(offset.map(|offset| format!("offset: {offset}")));
        let notes = notes.join(", ");
        let content = self.kept.join("\n");
        let (words, mut data) = match self.mode {
            OutputMode::Content => self.content(&content, &notes),
            OutputMode::FilesWithMatches => self.file_names(&content, &notes),
            OutputMode::Count => self.counts(&content, &notes),
        };
        if let Some(limit) = cut {
            data["appliedLimit"] = json!(limit);
        }
        if let Some(offset) = offset {
            data["appliedOffset"] = json!(offset);
        }
        let expected = self.page.limit.map_or(left, |limit| left.min(limit));
        let words = if self.kept.len() < expected {
            let next = self.page.offset + self.kept.len();
            format!("{words}\n\n[Too much to show; go on with offset: {next}]")
        } else {
            words
        };
        Outcome::new(words.as_str(), data)
    }

    fn content(&self, content: &str, notes: &str) -> (String, Value) {
        let mut words = match (self.total, self.kept.is_empty()) {
            (0, _) => "No matches found".to_owned(),
            (_, true) => "No entries at this offset".to_owned(),
            _ => content.to_owned(),
        };
        if !notes.is_empty() {
            words.push_str(&format!("\n\n[Showing results with pagination = {notes}]"));
        }
        let data = json!({
            "mode": "content",
            "numFiles": 0,
            "filenames": [],
            "content": content,
            "numLines": self.kept.len(),
            "totalLines": self.total,
        });
        (words, data)
    }

    fn file_names(&self, content: &str, notes: &str) -> (String, Value) {
        let words = match (self.total, self.kept.len()) {
            (0, _) => "No files found".to_owned(),
            (_, 0) => {
                format!("No entries at this offset. [Showing results with pagination = {notes}]")
            }
            (_, many) => {
                let space = if notes.is_empty() { "" } else { " " };
                format!("Found {}{space}{notes}\n{content}", counted(many, "file"))
            }
        };
        let data = json!({
            "mode": "files_with_matches",
            "filenames": self.kept,
            "numFiles": self.kept.len(),
            "totalFiles": self.total,
        });
        (words, data)
    }

    fn counts(&self, content: &str, notes: &str) -> (String, Value) {
        let words = if self.total == 0 {
            "No matches found".to_owned()
        } else {
            let (matches, files) = (
                counted(self.matches, "total occurrence"),
                counted(self.files, "file"),
            );
            let page = if notes.is_empty() {
                String::new()
            } else {
                format!(" with pagination = {notes}")
            };
            let list = if content.is_empty() {
                "No entries at this offset"
            } else {
                content
            };
            format!("{list}\n\nFound {matches} across {files}.{page}")
        };
        let data = json!({
            "mode": "count",
            "numFiles": self.files,
            "filenames": [],
            "content": content,
            "numMatches": self.matches,
        });
        (words, data)
    }
}

impl Sink for &mut Printer {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.mode != OutputMode::Content {
            self.in_file += found.lines().count();
            return Ok(self.mode == OutputMode::Count);
        }
        self.set_apart();
        self.in_file += 1;
        if let Some(matcher) = self.only_matching.clone() {
            self.only_matches(&matcher, found);
            return Ok(true);
        }
        let first = found.line_number();
        for (line, index) in found.lines().zip(0..) {
            self.line(first.map(|first| first + index), ':', line);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.set_apart();
        self.in_file += 1;
        self.line(context.line_number(), '-', context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push("--".to_owned());
        Ok(true)
    }
}

fn counted(many: usize, what: &str) -> String {
    let plural = if many == 1 { "" } else { "s" };
    format!("{many} {what}{plural}")
}

/// The longest line that is shown.
const MOST_COLUMNS: usize = 500;

/// The most that is shown.
const MOST_BYTES: usize = 256 << 10;
