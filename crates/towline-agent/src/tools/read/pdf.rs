//! PDF files: the whole file for models that can see it, and the text that can be taken out of it.

mod text;

use std::{ops::RangeInclusive, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use towline_protocol::Block;

use super::{Extent, Fingerprint, Interrupt, Outcome, Place, Source, media, size_in_words};
use text::text;

/// Shows a PDF file, or the text of some pages.
pub(super) fn show(
    place: &Place,
    source: Source<'_>,
    pages: Option<&str>,
    interrupt: &Interrupt,
) -> Result<Outcome, Outcome> {
    let pages = match pages {
        None | Some("") => None,
        Some(pages) => Some(range(pages).map_err(Outcome::misuse)?),
    };
    let (given, real) = (source.given, source.real.clone());
    let bytes = Arc::new(source.all(LARGEST)?);
    if bytes.is_empty() {
        return Err(Outcome::error(format!(
            "PDF file is empty: {}",
            given.display()
        )));
    }
    if !bytes.starts_with(b"%PDF-") {
        return Err(Outcome::error(format!(
            "File is not a valid PDF (missing %PDF- header): {}",
            given.display()
        )));
    }
    let text = text(&bytes, pages.clone(), interrupt);
    let extent = if pages.is_none() {
        Extent::Whole
    } else {
        Extent::Part
    };
    place.files.note(&real, Fingerprint::of(&bytes), extent);
    let size = size_in_words(bytes.len() as u64);
    if let Some(pages) = pages {
        let text = text.map_err(|why| Outcome::error(format!("{}: {why}", given.display())))?;
        let (first, last) = pages.into_inner();
        let words = format!(
            "PDF pages {first}-{last} of {} ({size}):\n\n{text}",
            given.display()
        );
        let data = json!({"type": "pdf", "file": {
            "filePath": given,
            "originalSize": bytes.len(),
            "pages": {"first": first, "last": last},
            "text": text,
        }});
        return Ok(Outcome::new(words.as_str(), data));
    }
    let base64 = BASE64_STANDARD.encode(&*bytes);
    let mut blocks = vec![
        Block::text(format!("PDF file read: {} ({size})", given.display())),
        Block::Document(media("application/pdf", &base64)),
    ];
    if let Ok(text) = text {
        blocks.push(Block::text(format!("The text in it:\n\n{text}")));
    }
    let data = json!({"type": "pdf", "file": {
        "filePath": given,
        "base64": base64,
        "originalSize": bytes.len(),
    }});
    Ok(Outcome::new(blocks, data))
}

/// `3` or `1-5`
fn range(pages: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = pages.split_once('-').unwrap_or((pages, pages));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if last >= first && last - first >= MOST_PAGES => Err(format!(
            "Page range \"{pages}\" exceeds maximum of {MOST_PAGES} pages per request. Please use a smaller range."
        )),
        (Some(first), Some(last)) if last >= first => Ok(first..=last),
        _ => Err(format!(
            "Invalid pages parameter: \"{pages}\". Give one page (\"3\") or one range (\"1-5\"), not a list. Pages are \
             1-indexed."
        )),
    }
}

/// The largest file that the API takes: 32 MB with everything around it, in base64.
const LARGEST: u64 = 20 << 20;

/// How many pages at once, if they are asked for.
const MOST_PAGES: u32 = 20;
