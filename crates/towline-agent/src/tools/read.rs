//! `Read`: a file as the model can see it. What kind of file it is decides who shows it: `lines`, `image`, `pdf`, or
//! the notebooks.

mod image;
mod lines;
mod pdf;

use std::{
    io::{Read as _, Seek},
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use towline_files::{PlainFile, RealPath, Refused};
use towline_protocol::{Block, MediaBlock, MediaSource, Nullable};

use super::{
    Outcome, Place, Tool,
    blocking::{Interrupt, blocking_at},
    file::{self, Extent, Fingerprint, NotText, Text, in_words, size_in_words},
    notebook::Notebook,
};

/// Reads a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// The file, as an absolute path
    file_path: PathBuf,
    /// The line to begin with, from 1
    offset: Option<i64>,
    /// How many lines
    limit: Option<i64>,
    /// The pages of a PDF to read, such as "3" or "1-5", at most 20 at once
    pages: Option<String>,
    /// Whether to read a file that is larger than 256 KB in one piece
    allow_large: Option<bool>,
}

impl Tool for Read {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = "Reads a file: text with line numbers, pictures (PNG, JPEG, GIF, WebP), PDF files \
        and Jupyter notebooks. Large files are read in parts, with offset and limit. To see a directory use LS or Glob.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        blocking_at(place, move |place, interrupt| self.read(place, interrupt)).await
    }
}

impl Read {
    fn read(&self, place: &Place, interrupt: &Interrupt) -> Result<Outcome, Outcome> {
        let extension = self
            .file_path
            .extension()
            .and_then(|extension| extension.to_str());
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        if extension == "ipynb" {
            return notebook(place, &self.file_path);
        }
        let mut source = Source::open(place, &self.file_path)?;
        let head = source.head()?;
        if extension == "pdf" || head.starts_with(b"%PDF-") {
            return pdf::show(place, source, self.pages.as_deref(), interrupt);
        }
        if image::is_extension(&extension) || image::kind(&head).is_some() {
            return image::show(place, source);
        }
        if BINARY.contains(&extension.as_str()) || looks_binary(&head) {
            let kind = if extension.is_empty() {
                String::new()
            } else {
                format!(".{extension} ")
            };
            return Err(Outcome::misuse(format!(
                "This tool cannot read binary files. The file appears to be a binary {kind}file. Use a shell command or \
                 script that can read the format."
            )));
        }
        let selection = lines::Selection {
            offset: self
                .offset
                .and_then(|offset| usize::try_from(offset).ok())
                .unwrap_or(1)
                .max(1),
            limit: self
                .limit
                .and_then(|limit| usize::try_from(limit).ok())
                .filter(|limit| *limit > 0),
            allow_large: self.allow_large.unwrap_or_default(),
        };
        lines::show(place, source, selection, interrupt)
    }
}

/// Shows a notebook.
pub(super) fn notebook(place: &Place, path: &Path) -> Result<Outcome, Outcome> {
    let source = Source::open(place, path)?;
    let (real, bytes) = (source.real.clone(), source.all(LARGEST)?);
    let text = Text::decode(&bytes).map_err(|not_text| Outcome::error(not_text.in_words()))?;
    let notebook = Notebook::parse(&text.shown()).map_err(Outcome::error)?;
    let content = notebook.content().map_err(Outcome::error)?;
    place
        .files
        .note(&real, Fingerprint::of(&bytes), Extent::Whole);
    let data = json!({"type": "notebook", "file": {"filePath": path, "cells": notebook.data()}});
    Ok(Outcome::new(content, data))
}

/// A picture as a block.
pub(super) fn picture(kind: &str, base64: &str) -> Block {
    Block::Image(media(kind, base64))
}

fn media(kind: &str, base64: &str) -> MediaBlock {
    MediaBlock {
        source: MediaSource {
            kind: "base64".into(),
            media_type: Some(kind.into()),
            data: Some(base64.into()),
            ..MediaSource::default()
        },
        title: Nullable::Absent,
        context: Nullable::Absent,
        citations: Nullable::Absent,
        cache_control: Nullable::Absent,
        extra: Default::default(),
    }
}

/// A file that is being read.
struct Source<'a> {
    /// As the model gave it.
    given: &'a Path,
    /// Where it is.
    real: RealPath,
    opened: PlainFile,
}

impl<'a> Source<'a> {
    fn open(place: &Place, given: &'a Path) -> Result<Self, Outcome> {
        let target = place.target()?;
        let real = target.real.clone();
        let refusal = |refused| match refused {
            Refused::Missing => Outcome::error(file::does_not_exist(place, &real)),
            Refused::Directory => Outcome::error(format!(
                "EISDIR: illegal operation on a directory, read '{}'",
                target.words.display()
            )),
            Refused::Special => Outcome::misuse(format!(
                "Cannot read '{}': it is a device, pipe or socket, which this tool does not read.",
                given.display()
            )),
            Refused::Failed(error) => Outcome::error(in_words(&error, "open", given)),
        };
        let opened = towline_files::open(&real).map_err(refusal)?;
        Ok(Self {
            given,
            real,
            opened,
        })
    }

    /// How large it is.
    fn size(&self) -> u64 {
        self.opened.metadata.len()
    }

    /// Its beginning.
    fn head(&mut self) -> Result<Vec<u8>, Outcome> {
        let mut head = Vec::new();
        let file = &mut self.opened.file;
        let read = file.by_ref().take(HEAD).read_to_end(&mut head);
        read.and_then(|_| file.rewind())
            .map_err(|error| Outcome::error(in_words(&error, "read", self.given)))?;
        Ok(head)
    }

    /// All of it.
    fn all(self, largest: u64) -> Result<Vec<u8>, Outcome> {
        let (given, size) = (self.given, self.size());
        match self.opened.read(largest) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(Outcome::error(format!(
                "File ({}) exceeds maximum allowed size ({}). Use a shell command to see parts of it.",
                size_in_words(size),
                size_in_words(largest)
            ))),
            Err(error) => Err(Outcome::error(in_words(&error, "read", given))),
        }
    }
}

/// Whether the beginning of a file is nothing that anybody could read as text.
fn looks_binary(head: &[u8]) -> bool {
    let is_wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    let strange =
        |byte: &&u8| **byte < 32 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let many = head.iter().filter(strange).count();
    // A few odd bytes are shown, as the real CLI does; a third of them is no text.
    !is_wide && many * 10 > head.len() * 3
        || !is_wide
            && many * 100 > head.len()
            && Text::decode(head) == Err(NotText::Zeros)
            && !is_utf8(head)
}

/// Whether these bytes are UTF-8, but for a character cut at the end.
fn is_utf8(head: &[u8]) -> bool {
    std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// How much of a file is looked at to tell what it is.
const HEAD: u64 = 8 << 10;

/// The largest file that is shown in one piece and not as lines.
const LARGEST: u64 = 32 << 20;

/// What is never text, whatever is in it.
const BINARY: &[&str] = &[
    "7z", "a", "avi", "bin", "bz2", "class", "dat", "db", "deb", "dll", "dmg", "doc", "docx",
    "dylib", "eot", "exe", "flac", "gz", "ico", "iso", "jar", "lib", "m4a", "mkv", "mov", "mp3",
    "mp4", "msi", "o", "obj", "odp", "ods", "odt", "ogg", "otf", "ppt", "pptx", "pyc", "rar",
    "rpm", "so", "sqlite", "sqlite3", "tar", "tgz", "ttf", "war", "wasm", "wav", "webm", "wmv",
    "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
];

#[cfg(test)]
mod tests;
