//! Search over the texts of transcripts: [`Home::search`]. Streams; holds one record at a time.

mod excerpt;
mod texts;

pub use excerpt::Excerpt;
pub use texts::{Part, Speaker};

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use regex::{Regex, RegexBuilder};
use towline_protocol::transcript::Record;

use crate::{
    error::{Error, Result},
    home::{Home, Scope},
    list::ListQuery,
    records::{Entry, Located, Place, Records},
    session::Session,
};
use texts::each_text;

/// What to look for.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let query = SearchQuery::new(Pattern::words("token expired")?);
/// // These words stand apart.
/// assert_eq!(session.search(query).count(), 0);
/// let query = SearchQuery::new(Pattern::regex("token .* expired")?);
/// assert_eq!(session.search(query).count(), 1);
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Words in this order, with any white space between them, in upper or lower case.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let query = SearchQuery::new(Pattern::words("HAS  expired")?);
    /// assert_eq!(session.search(query).count(), 1);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When they are too many to search for at once.
    pub fn words(words: &str) -> Result<Self> {
        let words: Vec<String> = words.split_whitespace().map(regex::escape).collect();
        Self::regex(&words.join(r"\s+"))
    }

    /// A regular expression, in upper or lower case unless it says `(?-i)`.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let query = SearchQuery::new(Pattern::regex(r"\w+\.rs\b")?);
    /// let found: Vec<_> = session.search(query).map(|hit| hit.map(|hit| hit.excerpt.hit)).collect::<Result<_, _>>()?;
    /// assert_eq!(found, ["login.rs", "login.rs"]);
    /// assert!(matches!(Pattern::regex("("), Err(Error::Pattern { .. })));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When it is none.
    pub fn regex(pattern: &str) -> Result<Self> {
        RegexBuilder::new(pattern)
            .case_insensitive(true)
            .build()
            .map(Self)
            .map_err(|error| {
                // The lines before the last draw the pattern with a mark below it.
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                Error::Pattern {
                    pattern: pattern.to_owned(),
                    problem: last.trim_start_matches("error: ").to_owned(),
                }
            })
    }
}

/// What to look for, and where.
///
/// ```
/// # towline_testkit::in_home!(|home, project| {
/// let query = SearchQuery {
///     scope: Scope::Project(project),
///     speaker: Some(Speaker::User),
///     since: Some("2026-11-16T05:00:05Z".parse()?),
///     ..SearchQuery::new(Pattern::words("token")?)
/// };
/// let hit = home.search(query)?.next().unwrap()?;
/// assert_eq!(hit.uuid.as_deref(), Some("u2"));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// What.
    pub pattern: Pattern,
    /// In whose sessions.
    pub scope: Scope,
    /// In what only this one said; in everything if not said.
    pub speaker: Option<Speaker>,
    /// In what was written since then.
    pub since: Option<Timestamp>,
}

impl SearchQuery {
    /// Looks everywhere.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// let everywhere = SearchQuery::new(Pattern::words("read")?);
    /// assert_eq!(home.search(everywhere)?.count(), 2);
    /// # });
    /// ```
    pub fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            scope: Scope::All,
            speaker: None,
            since: None,
        }
    }
}

/// A text that has what was looked for.
///
/// ```
/// # towline_testkit::in_home!(|home, session| {
/// let query = SearchQuery::new(Pattern::words("there are none")?);
/// let hit = home.search(query)?.next().unwrap()?;
/// assert_eq!((&hit.session, hit.agent.as_deref()), (&session, Some("finder")));
/// assert_eq!((hit.place.line, hit.part), (2, Part::Answer));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: Session,
    /// The subagent, if it is in the transcript of one.
    pub agent: Option<String>,
    /// The transcript.
    pub path: PathBuf,
    /// The line.
    pub place: Place,
    /// The record's id.
    pub uuid: Option<String>,
    /// When the record was written.
    pub time: Option<Timestamp>,
    /// What the text is.
    pub part: Part,
    /// The words around the first place in the text.
    pub excerpt: Excerpt,
}

impl Home {
    /// Searches sessions, the newest first, each with its subagents, in the order of the lines.
    ///
    /// A file that cannot be read is an error among the hits, and the search goes on; a line that cannot be read is
    /// passed over.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// use towline_store::{Pattern, SearchQuery};
    ///
    /// let query = SearchQuery::new(Pattern::words("LOGIN")?);
    /// let hit = home.search(query)?.next().unwrap()?;
    /// assert_eq!((&*hit.excerpt.before, &*hit.excerpt.hit), ("Why does the ", "login"));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the sessions cannot be listed.
    pub fn search(&self, query: SearchQuery) -> Result<Search> {
        let listing = self.list(&ListQuery {
            scope: query.scope.clone(),
            ..ListQuery::default()
        })?;
        let sessions = listing.sessions.into_iter();
        let sessions = sessions.map(|summary| summary.session).collect();
        Ok(Search {
            errors: listing.problems.into(),
            ..Search::over(query, sessions)
        })
    }
}

impl Session {
    /// Searches this session alone, with its subagents; the scope of the query does not count.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// use towline_store::{Pattern, SearchQuery};
    ///
    /// let query = SearchQuery::new(Pattern::words("expired")?);
    /// assert_eq!(session.search(query).count(), 1);
    /// # });
    /// ```
    pub fn search(&self, query: SearchQuery) -> Search {
        Search::over(query, VecDeque::from([self.clone()]))
    }
}

/// A search that is under way.
///
/// ```
/// # towline_testkit::in_home!(|home| {
/// let mut search: Search = home.search(SearchQuery::new(Pattern::words("login")?))?;
/// // Nothing more is read than this needs.
/// let first = search.next().unwrap()?;
/// assert_eq!(first.uuid.as_deref(), Some("u1"));
/// # });
/// ```
#[derive(Debug)]
pub struct Search {
    query: SearchQuery,
    sessions: VecDeque<Session>,
    /// The files of the session that are still to be read.
    files: VecDeque<Source>,
    current: Option<(Source, Records)>,
    /// What was found in the last record.
    found: VecDeque<Hit>,
    errors: VecDeque<Error>,
}

#[derive(Clone, Debug)]
struct Source {
    session: Session,
    agent: Option<String>,
    path: PathBuf,
}

impl Iterator for Search {
    type Item = Result<Hit>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(error) = self.errors.pop_front() {
                return Some(Err(error));
            }
            if let Some(hit) = self.found.pop_front() {
                return Some(Ok(hit));
            }
            match self
                .current
                .as_mut()
                .and_then(|(_, records)| records.next())
            {
                Some(Ok(Entry::Record(located))) => self.look_at(&located),
                Some(Ok(Entry::Skipped(_))) => {}
                Some(Err(error)) => {
                    self.current = None;
                    self.errors.push_back(error);
                }
                None => self.open_next()?,
            }
        }
    }
}

impl Search {
    fn over(query: SearchQuery, sessions: VecDeque<Session>) -> Self {
        Self {
            query,
            sessions,
            files: VecDeque::new(),
            current: None,
            found: VecDeque::new(),
            errors: VecDeque::new(),
        }
    }

    /// Opens the next file; nothing if there is none left.
    fn open_next(&mut self) -> Option<()> {
        self.current = None;
        while self.files.is_empty() {
            let session = self.sessions.pop_front()?;
            self.add_files(session);
        }
        let source = self.files.pop_front()?;
        match Records::open(&source.path) {
            Ok(records) => self.current = Some((source, records)),
            Err(error) => self.errors.push_back(error),
        }
        Some(())
    }

    /// The files of a session that may have something new enough.
    fn add_files(&mut self, session: Session) {
        let main = Source {
            path: session.path().to_owned(),
            agent: None,
            session,
        };
        match main.session.subagents() {
            Ok(subagents) => self
                .files
                .extend(subagents.into_iter().map(|subagent| Source {
                    session: main.session.clone(),
                    agent: Some(subagent.id),
                    path: subagent.path,
                })),
            Err(error) => self.errors.push_back(error),
        }
        self.files.push_front(main);
        let since = self.query.since;
        self.files
            .retain(|file| since.is_none_or(|since| !is_older(&file.path, since)));
    }

    fn look_at(&mut self, located: &Located) {
        let Some((source, _)) = &self.current else {
            return;
        };
        let Located { place, record, .. } = located;
        let time = record.timestamp().and_then(|time| time.parse().ok());
        let is_old = |since: Timestamp| time.is_none_or(|time| time < since);
        if self.query.since.is_some_and(is_old) {
            return;
        }
        let SearchQuery {
            pattern, speaker, ..
        } = &self.query;
        each_text(record, |part, text| {
            if speaker.is_some_and(|speaker| speaker != part.speaker()) {
                return;
            }
            let Some(matched) = pattern.0.find(text) else {
                return;
            };
            self.found.push_back(Hit {
                session: source.session.clone(),
                agent: source.agent.clone(),
                path: source.path.clone(),
                place: *place,
                uuid: uuid_of(record),
                time,
                part,
                excerpt: Excerpt::around(text, matched.range()),
            });
        });
    }
}

fn uuid_of(record: &Record) -> Option<String> {
    let chain = record.chain()?;
    chain.uuid.map(ToString::to_string)
}

/// Whether nothing was written to a file since then. If that cannot be known, it is read.
fn is_older(path: &Path, since: Timestamp) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let modified = modified
        .ok()
        .and_then(|time| Timestamp::try_from(time).ok());
    modified.is_some_and(|modified| modified < since)
}
