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
/// # towline_testkit::in_home!(|session| {
/// let mut transcript = session.transcript()?;
/// let kinds: Vec<String> = transcript
///     .messages(4..10)
///     .map(|message| Ok(message?.record.kind().to_owned()))
///     .collect::<Result<_, towline_store::Error>>()?;
/// assert_eq!(kinds, ["user", "assistant"]);
/// # });
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
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let subagent = &session.subagents()?[0];
    /// assert_eq!(Transcript::open(&subagent.path)?.tree().len(), 2);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with_limit(path, LineDecoder::DEFAULT_LIMIT)
    }

    /// The same with another bound for lines.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let transcript = Transcript::open_with_limit(session.path(), 100)?;
    /// // Only the title is that short.
    /// assert_eq!(transcript.skipped_count(), 7);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open_with_limit(path: impl AsRef<Path>, longest_line: usize) -> Result<Self> {
        Self::read_all(path.as_ref(), longest_line, |_| {})
    }

    /// Reads a transcript and shows each record on the way, also those that hang on no other: titles, costs.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let mut kinds = Vec::new();
    /// let transcript = Transcript::open_and_see(session.path(), |located| {
    ///     kinds.push(located.record.kind().to_owned());
    /// })?;
    /// assert_eq!((transcript.tree().len(), kinds.len()), (7, 8));
    /// assert_eq!(kinds[7], "custom-title");
    /// # });
    /// ```
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
    ///
    /// ```
    /// # towline_testkit::in_home!(|session, transcript| {
    /// assert_eq!(transcript.path(), session.path());
    /// # });
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the records hang on each other.
    ///
    /// ```
    /// # towline_testkit::in_home!(|transcript| {
    /// let tree = transcript.tree();
    /// assert_eq!(tree.uuid(tree.live_leaf().unwrap()), "a3");
    /// # });
    /// ```
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The lines that could not be read, the first thousand of them.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// std::fs::write(session.path(), "nonsense\n")?;
    /// let transcript = session.transcript()?;
    /// assert_eq!(transcript.skipped()[0].place.line, 1);
    /// # });
    /// ```
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// How many lines could not be read.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// std::fs::write(session.path(), "nonsense\n".repeat(2000))?;
    /// let transcript = session.transcript()?;
    /// assert_eq!((transcript.skipped_count(), transcript.skipped().len()), (2000, 1000));
    /// # });
    /// ```
    pub fn skipped_count(&self) -> u64 {
        self.skipped_count
    }

    /// Whether the last line was cut off.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// std::fs::write(session.path(), r#"{"type":"user","uu"#)?;
    /// let transcript = session.transcript()?;
    /// assert!(transcript.is_torn());
    /// assert_eq!(transcript.skipped_count(), 0);
    /// # });
    /// ```
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// Reads one record from the file.
    ///
    /// ```
    /// # towline_testkit::in_home!(|transcript| {
    /// let leaf = transcript.tree().live_leaf().unwrap();
    /// assert!(transcript.read(leaf)?.line.contains("It is in tests/login.rs."));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read, or is no longer what it was.
    pub fn read(&mut self, id: NodeId) -> Result<Located> {
        read_at(&mut self.file, &self.path, self.tree.place(id))
    }

    /// The messages of the conversation that a resumed session would hold, oldest first; `range` counts messages.
    ///
    /// ```
    /// # towline_testkit::in_home!(|transcript| {
    /// let lines: Vec<u64> = transcript
    ///     .messages(2..usize::MAX)
    ///     .map(|message| message.map(|message| message.place.line))
    ///     .collect::<Result<_, _>>()?;
    /// // What is on line 5 is on a branch that nobody goes on with.
    /// assert_eq!(lines, [3, 4, 6, 7]);
    /// # });
    /// ```
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
