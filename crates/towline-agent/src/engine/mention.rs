//! `@path` in a prompt: the file is shown to the model beside the words.

use std::{io::Read as _, path::Path};

use towline_files::{RealPath, open};
use towline_protocol::{Block, Content, Json, Text, Wire};

/// How many files a prompt may bring, and how much of each.
const MAX_FILES: usize = 20;
const MAX_BYTES: u64 = 256 << 10;

/// The files that a prompt mentions, as blocks; those that are not there are only words.
pub(super) fn mentioned(
    content: Option<&Content>,
    directory: &Path,
    readable: impl Fn(&Path) -> Option<RealPath>,
) -> Vec<Json> {
    let text = content.map_or_else(Text::new, Content::text);
    let mut seen = Vec::new();
    let mut blocks = Vec::new();
    for word in text.split_whitespace() {
        let Some(name) = word.strip_prefix('@') else {
            continue;
        };
        let name = name
            .trim_matches('"')
            .trim_end_matches([',', ';', ':', '!', '?', ')']);
        if name.is_empty() || seen.contains(&name) || blocks.len() >= MAX_FILES {
            continue;
        }
        seen.push(name);
        let paths = [
            directory.join(name),
            directory.join(name.trim_end_matches('.')),
        ];
        let mut files = paths
            .iter()
            .filter_map(|path| Some((path, read(&readable(path)?)?)));
        if let Some((path, (words, is_cut))) = files.next() {
            let note = if is_cut { ", only its beginning" } else { "" };
            let path = path.display();
            let shown = format!("The file {path} that the prompt mentions{note}:\n\n{words}");
            blocks.push(Block::text(shown).to_json());
        }
    }
    blocks
}

fn read(path: &RealPath) -> Option<(String, bool)> {
    let (bytes, is_cut) = beginning_of(path, MAX_BYTES)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // Half a character at the cut is no reason to leave the file out.
        Err(error) if is_cut => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        Err(_) => return None,
    };
    Some((text, is_cut))
}

/// The beginning of a plain file, and whether there is more.
pub(super) fn beginning_of(path: &RealPath, most: u64) -> Option<(Vec<u8>, bool)> {
    let opened = open(path).ok()?;
    let mut bytes = Vec::new();
    opened.file.take(most).read_to_end(&mut bytes).ok()?;
    let more = opened.metadata.len() > bytes.len() as u64;
    Some((bytes, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_there_are_shown_and_others_are_words() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.txt"), "remember").unwrap();
        std::fs::write(folder.path().join("raw"), [0xff, 0xfe]).unwrap();
        let shown = |prompt: &str| {
            mentioned(Some(&Content::from(prompt)), folder.path(), |path| {
                RealPath::resolve(path).ok()
            })
            .len()
        };
        assert_eq!(shown("see @notes.txt please"), 1);
        assert_eq!(shown("see @notes.txt, @notes.txt"), 1);
        assert_eq!(shown("end with @notes.txt."), 1);
        assert_eq!(shown("mail ann@notes.txt, @nobody, @raw, @"), 0);
        let prompt = Content::from("see @notes.txt");
        assert_eq!(mentioned(Some(&prompt), folder.path(), |_| None), []);
    }
}
