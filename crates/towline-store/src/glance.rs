//! [`Glance`]: what the first and last lines of a transcript say about the session, whatever its size.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use jiff::Timestamp;
use towline_protocol::{Text, Wire, transcript::Record};

use crate::{
    error::{Error, Result},
    plain,
    prompt::{Opening, opening},
};

/// What could be learned without reading the whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Glance {
    pub(crate) size: u64,
    pub(crate) modified: Timestamp,
    /// The first record is a subagent's.
    pub(crate) is_subagent: bool,
    pub(crate) created: Option<Timestamp>,
    pub(crate) cwd: Option<String>,
    pub(crate) git_branch: Option<String>,
    pub(crate) first_prompt: Option<String>,
    pub(crate) last_prompt: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) custom_title: Option<String>,
    pub(crate) ai_title: Option<String>,
    pub(crate) tag: Option<String>,
}

impl Glance {
    /// Looks at a file; nothing if it is empty.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>> {
        let failed = || Error::io("read", path);
        let mut file = plain::open(path)?;
        let metadata = file.metadata().map_err(failed())?;
        let modified = metadata.modified().map_err(failed())?;
        let mut glance = Self {
            size: metadata.len(),
            modified: Timestamp::try_from(modified).unwrap_or_default(),
            ..Self::default()
        };
        let mut window = WINDOW;
        loop {
            let head = read(&mut file, 0, window).map_err(failed())?;
            if head.is_empty() {
                return Ok(None);
            }
            let has_more = head.len() as u64 == window && window < glance.size;
            glance.read_head(lines(&head, Cut::end_if(has_more)));
            // A long first prompt, or much before it: look further, but not for ever.
            if !has_more || window >= LARGEST_WINDOW || glance.first_prompt.is_some() {
                break;
            }
            window *= 4;
        }
        let start = glance.size.saturating_sub(WINDOW);
        let tail = read(&mut file, start, WINDOW).map_err(failed())?;
        glance.read_tail(lines(&tail, Cut::start_if(start > 0)));
        Ok(Some(glance))
    }

    /// The title for a list: the one somebody gave, else what was asked last or first.
    pub(crate) fn title(&self) -> Option<&str> {
        [
            &self.custom_title,
            &self.ai_title,
            &self.last_prompt,
            &self.summary,
            &self.first_prompt,
        ]
        .into_iter()
        .find_map(|title| title.as_deref())
    }

    fn read_head<'l>(&mut self, lines: impl Iterator<Item = &'l str>) {
        let mut command = None;
        for (index, line) in lines.enumerate() {
            let Ok(record) = Record::from_json(line) else {
                continue;
            };
            self.learn_titles(&record);
            if self.created.is_none() {
                let time = record.timestamp();
                self.created = time.and_then(|time| time.parse().ok());
            }
            if let Some(chain) = record.chain() {
                self.is_subagent |= index == 0 && chain.is_sidechain;
                keep_first(&mut self.cwd, chain.cwd);
                keep_first(&mut self.git_branch, chain.git_branch);
            }
            if let Record::User(record) = &record {
                match opening(record) {
                    Some(Opening::Prompt(prompt)) => {
                        self.first_prompt.get_or_insert(prompt);
                    }
                    Some(Opening::Command(name)) => {
                        command.get_or_insert(name);
                    }
                    None => {}
                }
            }
        }
        self.first_prompt = self.first_prompt.take().or(command);
    }

    fn read_tail<'l>(&mut self, lines: impl Iterator<Item = &'l str>) {
        for line in lines {
            let Ok(record) = Record::from_json(line) else {
                continue;
            };
            self.learn_titles(&record);
            match &record {
                Record::LastPrompt(record) => {
                    keep_last(&mut self.last_prompt, record.last_prompt.as_ref());
                }
                Record::Summary(record) => keep_last(&mut self.summary, record.summary.as_ref()),
                Record::Tag(record) => {
                    // An empty tag takes the last one away.
                    let tag = record.tag.as_ref().filter(|tag| !tag.is_empty());
                    self.tag = tag.map(ToString::to_string);
                }
                _ => {}
            }
            if let Some(chain) = record.chain() {
                keep_last(&mut self.git_branch, chain.git_branch);
            }
        }
    }

    fn learn_titles(&mut self, record: &Record) {
        match record {
            Record::CustomTitle(record) => {
                keep_last(&mut self.custom_title, record.custom_title.as_ref());
            }
            Record::AiTitle(record) => keep_last(&mut self.ai_title, record.ai_title.as_ref()),
            _ => {}
        }
    }
}

/// Which end of a piece of a file may lie inside a line.
#[derive(Clone, Copy)]
enum Cut {
    Nowhere,
    Start,
    End,
}

impl Cut {
    fn start_if(condition: bool) -> Self {
        if condition {
            Self::Start
        } else {
            Self::Nowhere
        }
    }

    fn end_if(condition: bool) -> Self {
        if condition { Self::End } else { Self::Nowhere }
    }
}

/// The whole lines of a piece of a file.
fn lines(piece: &[u8], cut: Cut) -> impl Iterator<Item = &str> {
    let whole = match cut {
        Cut::Nowhere => 0..piece.len(),
        Cut::Start => memchr::memchr(b'\n', piece).map_or(piece.len(), |end| end + 1)..piece.len(),
        Cut::End => 0..memchr::memrchr(b'\n', piece).unwrap_or(0),
    };
    piece[whole]
        .split(|byte| *byte == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok())
}

fn keep_first(slot: &mut Option<String>, found: Option<&Text>) {
    if slot.is_none() {
        *slot = found
            .filter(|text| !text.is_empty())
            .map(ToString::to_string);
    }
}

fn keep_last(slot: &mut Option<String>, found: Option<&Text>) {
    if let Some(found) = found.filter(|text| !text.is_empty()) {
        *slot = Some(found.to_string());
    }
}

fn read(file: &mut File, start: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How much of each end is read; the official SDKs read as much.
const WINDOW: u64 = 64 << 10;
const LARGEST_WINDOW: u64 = 4 << 20;
