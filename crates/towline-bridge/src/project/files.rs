//! One file: a text by lines, a picture as it is, within bounds.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use towline_files::{RealPath, Refused};
use towline_protocol::dialect::pocket::{FileContent, FileKind, ReadFile};

use super::{ProjectError, Projects, media};

impl Projects {
    /// What is in a file. Why it cannot be shown is in the answer.
    pub async fn read_file(&self, request: &ReadFile) -> FileContent {
        let content = self.file(request).await;
        let content = content.unwrap_or_else(|error| FileContent {
            error: Some(error.to_string().into()),
            ..FileContent::default()
        });
        FileContent {
            project_path: Some(request.project_path.clone()),
            file_path: request.file_path.clone(),
            request_id: request.request_id.clone(),
            ..content
        }
    }

    /// The same without what the request says itself.
    ///
    /// # Errors
    /// When it cannot be looked at. That it is no text is in the answer.
    pub(crate) async fn file(&self, request: &ReadFile) -> Result<FileContent, ProjectError> {
        let lines = request.max_lines.unwrap_or(LINES).min(MOST_LINES);
        let project = request.project_path.to_string();
        let file = request.file_path.to_string();
        let read = self.blocking(move |roots| {
            let path = roots.in_project(Path::new(&project), Path::new(&file))?;
            read(&path, lines)
        });
        read.await
    }
}

fn read(path: &RealPath, lines: u64) -> Result<FileContent, ProjectError> {
    let (file, size) = open(path)?;
    if let Some((kind, media)) = media::media(path) {
        let bytes = read_whole(file, size, path)?;
        return Ok(FileContent {
            kind: Some(kind),
            base64: Some(STANDARD.encode(bytes).into()),
            mime_type: Some(media.into()),
            size_bytes: Some(size),
            ..FileContent::default()
        });
    }
    let mut bytes = Vec::new();
    let bounded = file.take(MOST_TEXT).read_to_end(&mut bytes);
    bounded.map_err(|error| unreadable(path, &error))?;
    let whole = bytes.len() as u64 == size;
    let Some(text) = text(&bytes, whole) else {
        return Ok(FileContent {
            error: Some(format!("no text: a binary file of {size} bytes").into()),
            size_bytes: Some(size),
            ..FileContent::default()
        });
    };
    let shown = head(text, lines);
    Ok(FileContent {
        kind: Some(FileKind::Text),
        language: media::language(path).map(Into::into),
        content: shown.into(),
        total_lines: whole.then(|| text.lines().count() as u64),
        truncated: Some(!whole || shown.len() < text.len()),
        size_bytes: Some(size),
        ..FileContent::default()
    })
}

/// Opens a file for reading, and nothing else: a pipe would never end, and links were followed when the path was checked.
pub(super) fn open(path: &RealPath) -> Result<(File, u64), ProjectError> {
    match towline_files::open(path) {
        Ok(opened) => Ok((opened.file, opened.metadata.len())),
        Err(Refused::Directory | Refused::Special) => {
            let words = format!("{} is no file", path.display());
            Err(ProjectError::Unusable(words))
        }
        Err(refused) => Err(unreadable(path, &refused.into())),
    }
}

/// All of a picture, if it is not too large.
pub(super) fn read_whole(file: File, size: u64, path: &Path) -> Result<Vec<u8>, ProjectError> {
    let mut bytes = Vec::new();
    if size <= MOST_MEDIA {
        let bounded = file.take(MOST_MEDIA + 1).read_to_end(&mut bytes);
        bounded.map_err(|error| unreadable(path, &error))?;
    }
    // It may have grown since.
    if size.max(bytes.len() as u64) > MOST_MEDIA {
        return Err(ProjectError::Unusable(format!(
            "{} has {size} bytes, and at most {MOST_MEDIA} are shown",
            path.display()
        )));
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> ProjectError {
    let words = format!("{}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ProjectError::Missing(words),
        _ => ProjectError::Unusable(words),
    }
}

/// The bytes as a text; a character that was cut at the end is left out.
fn text(bytes: &[u8], whole: bool) -> Option<&str> {
    if media::is_binary(bytes) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if !whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

/// So many lines, and not more bytes than are shown of a text.
fn head(text: &str, lines: u64) -> &str {
    let mut end = 0;
    for line in text
        .split_inclusive('\n')
        .take(usize::try_from(lines).unwrap_or(usize::MAX))
    {
        end += line.len();
        if end > MOST_SHOWN {
            return &text[..text.floor_char_boundary(MOST_SHOWN)];
        }
    }
    &text[..end]
}

const LINES: u64 = 5_000;
const MOST_LINES: u64 = 50_000;
const MOST_SHOWN: usize = 1 << 20;
/// How much of a text is read.
pub(super) const MOST_TEXT: u64 = 8 << 20;
/// How large a picture may be.
pub(super) const MOST_MEDIA: u64 = 10 << 20;
