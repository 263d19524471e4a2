//! [`TranscriptWriter`]: a session's transcript grows at its end, and only there.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
};

use towline_protocol::{Wire, transcript::Record};

use crate::{
    error::{Error, Result},
    plain,
    session::Session,
};

/// Appends records to the transcript of a session.
///
/// Each call of [`append`](Self::append) is one write of whole lines, so that two writers never mix their lines and a
/// crash cuts off one line at most. What an earlier crash cut off is closed with a newline first. The file and its
/// folders are made with the first record; only their owner may read them.
///
/// A write that fails (a full disk) is reported and loses nothing: its lines wait, within a bound, and go out with the
/// next call.
///
/// ```
/// # towline_testkit::in_home!(|home| {
/// use towline_protocol::{Wire, transcript::Record};
/// use towline_store::TranscriptWriter;
///
/// let session = home.session_in("/app", "33333333-4444-4555-8666-777777777777".parse()?);
/// let mut writer = TranscriptWriter::create(session.clone())?;
/// assert!(!session.path().exists());
/// writer.append([&Record::from_json(r#"{"type":"mode","mode":"normal"}"#)?])?;
/// assert_eq!(session.records()?.count(), 1);
/// # });
/// ```
#[derive(Debug)]
pub struct TranscriptWriter {
    session: Session,
    /// Nothing until the first record.
    file: Option<File>,
    /// Whole lines that are not written yet.
    waiting: Vec<u8>,
    most_waiting: usize,
    lost: u64,
    /// Whether the file may end inside a line.
    may_be_torn: bool,
    has_company: bool,
}

impl TranscriptWriter {
    /// Begins a transcript; nothing is made before the first record.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// // The id is taken.
    /// assert!(matches!(TranscriptWriter::create(session), Err(Error::InUse { .. })));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`Error::InUse`] when something is in its place already, [`Error::NotPlain`] when a link is in place of its
    /// folder.
    pub fn create(session: Session) -> Result<Self> {
        session.check_project()?;
        match session.path().symlink_metadata() {
            Err(error) if plain::is_absence(&error) => Ok(Self::new(session, None)),
            Err(error) => Err(Error::io("look at", session.path())(error)),
            Ok(_) => Err(in_use(&session)),
        }
    }

    /// Goes on with a transcript that is there.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let before = session.records()?.count();
    /// let mut writer = TranscriptWriter::open(session.clone())?;
    /// # use towline_protocol::{Wire, transcript::Record};
    /// writer.append([&Record::from_json(r#"{"type":"mode","mode":"plan"}"#)?])?;
    /// assert_eq!(session.records()?.count(), before + 1);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no such session, or its file is no plain one or may not be written to.
    pub fn open(session: Session) -> Result<Self> {
        session.check_project()?;
        let file = plain::open_to_append(session.path()).map_err(|error| match error {
            Error::Io { source, .. } if plain::is_absence(&source) => Error::NotFound {
                id: session.key().to_string(),
                folder: session.project_folder().to_owned(),
            },
            other => other,
        })?;
        Ok(Self::new(session, Some(file)))
    }

    /// The same with another bound for what waits than 16 MiB.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// # use towline_protocol::{Wire, transcript::Record};
    /// # let record = &Record::from_json(r#"{"type":"mode","mode":"normal"}"#)?;
    /// # let session = home.session_in("/app", "33333333-4444-4555-8666-777777777777".parse()?);
    /// # std::fs::write(session.project_folder(), "in the way")?;
    /// let mut writer = TranscriptWriter::create(session)?.with_most_waiting(50);
    /// // Nothing can be written now.
    /// assert!(writer.append([record; 10]).is_err());
    /// assert!(writer.waiting() <= 50);
    /// # });
    /// ```
    #[must_use]
    pub fn with_most_waiting(mut self, bytes: usize) -> Self {
        self.most_waiting = bytes;
        self
    }

    fn new(session: Session, file: Option<File>) -> Self {
        let mut writer = Self {
            session,
            file: None,
            waiting: Vec::new(),
            most_waiting: MOST_WAITING,
            lost: 0,
            may_be_torn: true,
            has_company: false,
        };
        if let Some(file) = file {
            writer.take(file);
        }
        writer
    }

    /// Appends records, each on a line of its own, with one write; what waited from earlier goes first.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// use towline_protocol::{Wire, transcript::Record};
    ///
    /// let mode = Record::from_json(r#"{"type":"mode","mode":"plan"}"#)?;
    /// let title = Record::from_json(r#"{"type":"custom-title","customTitle":"Tokens"}"#)?;
    /// TranscriptWriter::open(session.clone())?.append([&mode, &title])?;
    /// let summary = SessionSummary::of(session)?.unwrap();
    /// assert_eq!(summary.title, "Tokens");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When they cannot be written now. They are tried again with the next call, unless too much waits already:
    /// [`lost`](Self::lost) counts those.
    pub fn append<'r>(&mut self, records: impl IntoIterator<Item = &'r Record>) -> Result<()> {
        for record in records {
            let line = record.to_standard_json();
            // Also a record that is too large by itself goes out if nothing waits.
            let is_too_much = !self.waiting.is_empty()
                && self.waiting.len() + line.as_str().len() >= self.most_waiting;
            if is_too_much && self.write_waiting().is_err() {
                self.lost += 1;
                continue;
            }
            self.waiting.extend_from_slice(line.as_str().as_bytes());
            self.waiting.push(b'\n');
        }
        self.write_waiting()
    }

    /// The session.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let writer = TranscriptWriter::open(session.clone())?;
    /// assert_eq!(writer.session(), &session);
    /// # });
    /// ```
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// How many bytes wait for a disk that takes them; [`append`](Self::append) without records tries again.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// # use towline_protocol::{Wire, transcript::Record};
    /// # let record = &Record::from_json(r#"{"type":"mode","mode":"normal"}"#)?;
    /// # let session = home.session_in("/app", "33333333-4444-4555-8666-777777777777".parse()?);
    /// # std::fs::write(session.project_folder(), "in the way")?;
    /// let mut writer = TranscriptWriter::create(session.clone())?;
    /// // Nothing can be written now.
    /// assert!(writer.append([record]).is_err());
    /// assert!(writer.waiting() > 0);
    /// # std::fs::remove_file(session.project_folder())?;
    /// // Now it can.
    /// writer.append([])?;
    /// assert_eq!((writer.waiting(), session.records()?.count()), (0, 1));
    /// # });
    /// ```
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many records were given up because too much waited.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// # use towline_protocol::{Wire, transcript::Record};
    /// # let record = &Record::from_json(r#"{"type":"mode","mode":"normal"}"#)?;
    /// # let session = home.session_in("/app", "33333333-4444-4555-8666-777777777777".parse()?);
    /// # std::fs::write(session.project_folder(), "in the way")?;
    /// let mut writer = TranscriptWriter::create(session)?.with_most_waiting(50);
    /// // Nothing can be written now, and there is room for one record.
    /// assert!(writer.append([record, record, record]).is_err());
    /// assert_eq!(writer.lost(), 2);
    /// # });
    /// ```
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether another writer of this kind had the file open when this one opened it. That hurts nobody's lines, but
    /// the conversation gets two branches. The real CLI takes no lock, so it is not seen.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let one = TranscriptWriter::open(session.clone())?;
    /// let two = TranscriptWriter::open(session)?;
    /// assert!(!one.has_company() && two.has_company());
    /// # });
    /// ```
    pub fn has_company(&self) -> bool {
        self.has_company
    }

    fn write_waiting(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            let file = create(&self.session)?;
            self.take(file);
        }
        let failed = || Error::io("write to", self.session.path());
        let file = self.file.as_mut().expect("it was opened above");
        if self.may_be_torn {
            // A line that was cut off when its writer was killed must not swallow the next one.
            let is_closed = self.waiting.starts_with(b"\n");
            if !is_closed && !ends_with_newline(file).map_err(failed())? {
                self.waiting.insert(0, b'\n');
            }
            self.may_be_torn = false;
        }
        let (written, outcome) = write(file, &self.waiting);
        if outcome.is_ok() {
            self.waiting.clear();
            self.waiting.shrink_to(KEPT_CAPACITY);
            return Ok(());
        }
        // The line that was cut is written again as a whole; the piece that is there is no record and hurts nobody.
        let whole = memchr::memrchr(b'\n', &self.waiting[..written]).map_or(0, |end| end + 1);
        self.waiting.drain(..whole);
        self.may_be_torn = true;
        outcome.map_err(failed())
    }

    fn take(&mut self, file: File) {
        // The lock tells others that somebody writes; it keeps nobody from writing.
        self.has_company = matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock));
        self.file = Some(file);
    }
}

/// Writes all of it, and says how much was written if that fails.
fn write(file: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

/// Makes the file of a session, and its folders, for their owner alone. Never opens one that is there.
fn create(session: &Session) -> Result<File> {
    let folder = session.project_folder();
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

        folders.mode(0o700);
        options.mode(0o600);
    }
    folders
        .create(folder)
        .map_err(Error::io("create", folder))?;
    session.check_project()?;
    // A link in place of the file is something that is there: it is not followed.
    let opened = options.open(session.path());
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => in_use(session),
        _ => Error::io("create", session.path())(error),
    })
}

fn in_use(session: &Session) -> Error {
    Error::InUse {
        id: session.key().to_string(),
        path: session.path().to_owned(),
    }
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The most bytes that wait for a disk that takes nothing.
const MOST_WAITING: usize = 16 << 20;
/// How much memory stays after a large write.
const KEPT_CAPACITY: usize = 1 << 20;
