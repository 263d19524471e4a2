//! [`Audit`]: who did what with the bridge, one JSON object a line in a file that is only ever added to.
//!
//! The bridge goes on when it cannot be written: the failure is reported where logs go, the file is tried again with the
//! next entry, and how many entries are missing is written down then. When the file is large it is put aside.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde::{Serialize, Serializer};
use towline_protocol::marked;

/// The file, open.
///
/// ```
/// use towline_bridge::access::{Action, Audit, Who};
///
/// let folder = tempfile::tempdir()?;
/// let mut audit = Audit::new(folder.path().join("audit.jsonl"), 1 << 20);
/// let who = Who { client: "page".into(), address: "127.0.0.1".into() };
/// audit.record("2026-11-16T12:00:00Z".parse()?, &who, &Action::Stopped { session: "1a2b3c4d".into() });
/// assert_eq!(
///     std::fs::read_to_string(folder.path().join("audit.jsonl"))?,
///     "{\"at\":\"2026-11-16T12:00:00Z\",\"client\":\"page\",\"address\":\"127.0.0.1\",\
///      \"action\":\"stopped\",\"session\":\"1a2b3c4d\"}\n",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Audit {
    path: PathBuf,
    limit: u64,
    open: Option<Open>,
    /// How many entries could not be written since the last that could.
    lost: u64,
    refusals: Refusals,
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Who {
    /// What the client calls itself.
    pub client: String,
    /// Where it is.
    pub address: String,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// A tool was allowed to run.
    Approved {
        /// The session.
        session: String,
        /// The tool.
        tool: String,
        /// How its input begins: [`input_summary`].
        input: String,
        /// For how long: `once`, `session` or `saved`.
        extent: String,
        /// The changes that go with it, such as `addRules allow Bash(git log) in localSettings`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        changes: Vec<String>,
    },
    /// A tool was not allowed to run.
    Denied {
        /// The session.
        session: String,
        /// The tool.
        tool: String,
        /// How its input begins: [`input_summary`].
        input: String,
    },
    /// A question was answered.
    Answered {
        /// The session.
        session: String,
        /// The tool that asked.
        tool: String,
        /// How its input begins: [`input_summary`].
        input: String,
    },
    /// Nobody answered in time, so a tool was not allowed to run.
    TimedOut {
        /// The session.
        session: String,
        /// The tool.
        tool: String,
        /// How its input begins: [`input_summary`].
        input: String,
    },
    /// A session was started.
    Started {
        /// The session.
        session: String,
        /// The agent.
        agent: String,
        /// Where it works.
        directory: String,
    },
    /// A session was stopped.
    Stopped {
        /// The session.
        session: String,
    },
    /// The permission mode of a session was changed.
    ModeChanged {
        /// The session.
        session: String,
        /// The new mode.
        mode: String,
    },
    /// A folder was trusted: what its files say counts from then on.
    Trusted {
        /// The folder.
        directory: String,
        /// How the list of what its files ask for begins: [`input_summary`].
        counts: String,
    },
    /// A folder was not trusted, or is not any more.
    NotTrusted {
        /// The folder.
        directory: String,
    },
    /// Somebody was not let in. Of these, only so many a minute are written down one by one.
    LoginRefused {
        /// Why.
        reason: String,
    },
}

#[derive(Debug)]
struct Open {
    file: File,
    bytes: u64,
}

#[derive(Serialize)]
struct Entry<'a, A> {
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
    #[serde(flatten)]
    who: Option<&'a Who>,
    #[serde(flatten)]
    action: &'a A,
}

/// What the bridge itself adds.
#[derive(Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Remark {
    /// Entries that could not be written.
    Missing { entries: u64 },
    /// Refused logins that were not written down one by one.
    LoginsRefused { more: u64 },
}

impl Audit {
    /// The audit in a file of that name, which is put aside as `<name>.1` (and that one as `<name>.2` …) when it has so
    /// many bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        Self {
            path,
            limit,
            open: None,
            lost: 0,
            refusals: Refusals::default(),
        }
    }

    /// Writes down what was done, and when.
    pub fn record(&mut self, at: Timestamp, who: &Who, action: &Action) {
        let refused = matches!(action, Action::LoginRefused { .. });
        let (counted, left_out) = self.refusals.next(at, refused);
        if left_out > 0 {
            self.remark(at, &Remark::LoginsRefused { more: left_out });
        }
        if counted {
            self.append(&Entry {
                at,
                who: Some(&bounded(who)),
                action,
            });
        }
    }

    /// Writes down what happened though nobody did it.
    pub fn record_unasked(&mut self, at: Timestamp, action: &Action) {
        self.append(&Entry {
            at,
            who: None,
            action,
        });
    }

    /// How many entries are missing in the file, since it cannot be written now.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn remark(&mut self, at: Timestamp, remark: &Remark) {
        self.append(&Entry {
            at,
            who: None,
            action: remark,
        });
    }

    fn append<A: Serialize>(&mut self, entry: &Entry<'_, A>) {
        let mut text = String::new();
        if self.lost > 0 {
            let missing = Remark::Missing { entries: self.lost };
            text.push_str(&line(&Entry {
                at: entry.at,
                who: None,
                action: &missing,
            }));
        }
        text.push_str(&line(entry));
        match self.write(&text) {
            Ok(()) if self.lost > 0 => {
                tracing::warn!(missing = self.lost, "the audit file can be written again");
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                self.open = None;
                // Said once, not once for each entry.
                if self.lost == 0 {
                    tracing::error!("audit file {}: {error}", self.path.display());
                }
                self.lost += 1;
            }
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.bytes >= self.limit)
        {
            self.open = None;
            put_aside(&self.path)?;
        }
        let open = match &mut self.open {
            Some(open) => open,
            closed => closed.insert(open(&self.path)?),
        };
        open.file.write_all(text.as_bytes())?;
        open.bytes += text.len() as u64;
        Ok(())
    }
}

/// An input for an entry: bounded, whatever was asked for, with how much is left out. Its end stays: a command may be
/// written so that only that matters.
pub fn input_summary(input: &str) -> String {
    let characters = input.chars().count();
    if characters <= LONGEST_SUMMARY {
        return input.to_owned();
    }
    let place = |nth: usize| {
        let found = input.char_indices().nth(nth);
        found.map_or(input.len(), |(place, _)| place)
    };
    let left_out = characters - BEGINNING - END;
    let (beginning, end) = (
        &input[..place(BEGINNING)],
        &input[place(characters - END)..],
    );
    format!("{beginning}… ({left_out} characters) …{end}")
}

fn bounded(who: &Who) -> Who {
    Who {
        client: input_summary(&who.client),
        address: input_summary(&who.address),
    }
}

fn line<A: Serialize>(entry: &Entry<'_, A>) -> String {
    let entry = serde_json::to_string(entry).expect("entries are maps with names and strings");
    let mut text = String::with_capacity(entry.len() + 1);
    // In JSON an escape is the same value; the file is read on terminals, which would hide or reorder the character.
    for (character, is_seen) in marked(&entry) {
        if is_seen {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(text, "\\u{unit:04x}").expect("a string takes any text");
        }
    }
    text.push('\n');
    text
}

fn as_text<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

fn open(path: &Path) -> io::Result<Open> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("is no file; move it away"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    let mut bytes = metadata.len();
    // A crash may have torn the last line; what follows must not be torn with it.
    if bytes > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
            bytes += 1;
        }
    }
    Ok(Open { file, bytes })
}

/// Gives the file and those before it the next number; the oldest goes.
fn put_aside(path: &Path) -> io::Result<()> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    for number in (1..KEPT).rev() {
        match fs::rename(numbered(number), numbered(number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, numbered(1))
}

/// Counts refused logins, so that somebody who hammers at the door does not fill the disk.
#[derive(Debug, Default)]
struct Refusals {
    minute: i64,
    written: u32,
    left_out: u64,
}

impl Refusals {
    /// Whether this entry is written down, and how many were left out in the minute that has ended.
    fn next(&mut self, at: Timestamp, refused: bool) -> (bool, u64) {
        let minute = at.as_second().div_euclid(60);
        let mut left_out = 0;
        if minute != self.minute {
            left_out = self.left_out;
            *self = Self {
                minute,
                ..Self::default()
            };
        }
        if !refused {
            return (true, left_out);
        }
        let counted = self.written < REFUSALS_A_MINUTE;
        if counted {
            self.written += 1;
        } else {
            self.left_out += 1;
        }
        (counted, left_out)
    }
}

const LONGEST_SUMMARY: usize = 400;
/// Characters of a longer input, from its beginning and from its end.
const BEGINNING: usize = 240;
const END: usize = 120;
const KEPT: u32 = 4;
const REFUSALS_A_MINUTE: u32 = 10;
