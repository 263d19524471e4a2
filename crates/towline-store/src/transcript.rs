//! [`Transcript`]: a transcript's tree with the file behind it. One pass to learn the links; content on demand.

use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
};

use towline_protocol::LineDecoder;

use crate::{
    error::Result,
    records::{Entry, Located, Records, SkipReason, Skipped, read_at},
    tree::{NodeId, Tree},
};

/// A transcript that was read once. It holds what [`Tree`] holds, never the content.
///
/// ```
/// use towline_store::Home;
///
/// # let folder = std::env::temp_dir().join("towline-store-doc-transcript");
/// # let home = Home::new(&folder);
/// # let session = home.session_in("/app", "11111111-2222-4333-8444-555555555555".parse()?);
/// # std::fs::create_dir_all(session.project_folder()).unwrap();
/// # std::fs::write(session.path(), concat!(
/// #     r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"hello"}}"#, "\n",
/// #     r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"content":"hi"}}"#, "\n")).unwrap();
/// let mut transcript = session.transcript()?;
/// let kinds: Vec<String> = transcript
///     .messages(0..10)
///     .map(|message| Ok(message?.record.kind().to_owned()))
///     .collect::<Result<_, towline_store::Error>>()?;
/// assert_eq!(kinds, ["user", "assistant"]);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), towline_store::Error>(())
/// ```
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    file: File,
    tree: Tree,
    skipped: Vec<Skipped>,
    skipped_count: u64,
    is_torn: bool,
}

impl Transcript {
    /// Reads a transcript, wherever it is.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_limit(path, LineDecoder::DEFAULT_LIMIT)
    }

    /// The same with another bound for lines.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open_with_limit(path: impl AsRef<Path>, longest_line: usize) -> Result<Self> {
        Self::read_all(path.as_ref(), longest_line, |_| {})
    }

    /// Reads a transcript and shows each record on the way, also those that hang on no other: titles, costs.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open_and_see(path: impl AsRef<Path>, see: impl FnMut(&Located)) -> Result<Self> {
        Self::read_all(path.as_ref(), LineDecoder::DEFAULT_LIMIT, see)
    }

    fn read_all(path: &Path, longest_line: usize, mut see: impl FnMut(&Located)) -> Result<Self> {
        let mut records = Records::open_with_limit(path, longest_line)?;
        let mut tree = Tree::default();
        let mut skipped = Vec::new();
        let mut skipped_count = 0;
        let mut is_torn = false;
        for entry in &mut records {
            match entry? {
                Entry::Record(located) => {
                    tree.add(located.place, &located.record);
                    see(&located);
                }
                Entry::Skipped(line) if line.reason == SkipReason::Torn => is_torn = true,
                Entry::Skipped(line) => {
                    skipped_count += 1;
                    if skipped.len() < MOST_SKIPPED {
                        skipped.push(line);
                    }
                }
            }
        }
        Ok(Self {
            path: path.to_owned(),
            file: records.into_file(),
            tree,
            skipped,
            skipped_count,
            is_torn,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the records hang on each other.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The lines that could not be read, the first thousand of them.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// How many lines could not be read.
    pub fn skipped_count(&self) -> u64 {
        self.skipped_count
    }

    /// Whether the last line was cut off.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Reads one record from the file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no longer what it was.
    pub fn read(&mut self, id: NodeId) -> Result<Located> {
        read_at(&mut self.file, &self.path, self.tree.place(id))
    }

    /// The messages of the conversation that a resumed session would hold, oldest first; `range` counts messages.
    pub fn messages(&mut self, range: Range<usize>) -> impl Iterator<Item = Result<Located>> {
        let steps = self.tree.conversation().into_iter();
        let messages = steps.filter(|step| self.tree.is_message(step.id));
        let wanted: Vec<NodeId> = messages
            .skip(range.start)
            .take(range.len())
            .map(|step| step.id)
            .collect();
        wanted.into_iter().map(|id| self.read(id))
    }
}

const MOST_SKIPPED: usize = 1000;
