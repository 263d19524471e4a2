//! The list of sessions: [`Home::list`]. Looks at both ends of each file, so its size does not matter.

use std::{collections::HashSet, fs, path::PathBuf};

use jiff::Timestamp;

use crate::{
    error::{Error, Result},
    glance::Glance,
    home::{Home, Scope},
    session::Session,
};

/// Which sessions to list.
///
/// ```
/// # towline_testkit::in_home!(|home| {
/// let second = ListQuery { offset: 1, limit: Some(1), ..ListQuery::default() };
/// assert_eq!(home.list(&second)?.sessions[0].title, "Read both logs.");
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Whose.
    pub scope: Scope,
    /// How many of the newest to pass over.
    pub offset: usize,
    /// How many at most; all if not said.
    pub limit: Option<usize>,
}

/// The sessions that were found.
///
/// ```
/// # towline_testkit::in_home!(|home| {
/// let Listing { sessions, problems } = home.list(&ListQuery::default())?;
/// let titles: Vec<_> = sessions.iter().map(|summary| &*summary.title).collect();
/// assert_eq!(titles, ["Login fails", "Read both logs."]);
/// assert!(problems.is_empty());
/// # });
/// ```
#[derive(Debug, Default)]
pub struct Listing {
    /// The sessions, newest first.
    pub sessions: Vec<SessionSummary>,
    /// Files that could not be looked at.
    pub problems: Vec<Error>,
}

/// What a list says about a session.
///
/// ```
/// # towline_testkit::in_home!(|home, project| {
/// let summary = &home.list(&ListQuery::default())?.sessions[0];
/// assert_eq!(summary.title, "Login fails");
/// assert_eq!(summary.first_prompt.as_deref(), Some("Why does the login fail?"));
/// assert_eq!((&summary.cwd, summary.git_branch.as_deref()), (&Some(project), Some("main")));
/// assert_eq!(summary.created, Some("2026-11-16T05:00:01Z".parse()?));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// Where it is.
    pub session: Session,
    /// What to call it: the title somebody gave, else the last prompt, else the first.
    pub title: String,
    /// The title that a person or a model gave.
    pub custom_title: Option<String>,
    /// What was asked first, on one line and shortened.
    pub first_prompt: Option<String>,
    /// What was asked last.
    pub last_prompt: Option<String>,
    /// The working directory it was started in.
    pub cwd: Option<PathBuf>,
    /// The branch it was last on.
    pub git_branch: Option<String>,
    /// The word a host put on it.
    pub tag: Option<String>,
    /// When it was started.
    pub created: Option<Timestamp>,
    /// When its file last changed.
    pub modified: Timestamp,
    /// The size of its file.
    pub size: u64,
}

impl Home {
    /// Lists sessions, newest first. A file that cannot be looked at is a problem of the [`Listing`], not an error.
    ///
    /// Left out, as by the official SDKs: transcripts of subagents, and sessions in which nothing was ever asked.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// use towline_store::ListQuery;
    ///
    /// let listing = home.list(&ListQuery::default())?;
    /// assert_eq!(listing.sessions[0].title, "Login fails");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn list(&self, query: &ListQuery) -> Result<Listing> {
        self.list_where(query, |_| true)
    }

    /// The same for some of the sessions: the others are not counted either.
    ///
    /// ```
    /// use towline_store::{Home, ListQuery};
    ///
    /// # let home = Home::new(std::env::temp_dir().join("towline-store-doc-list-where"));
    /// let mine = home.list_where(&ListQuery::default(), |session| {
    ///     session.cwd.as_ref().is_some_and(|cwd| cwd.starts_with("/home/me"))
    /// })?;
    /// assert!(mine.sessions.is_empty());
    /// # Ok::<(), towline_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn list_where(
        &self,
        query: &ListQuery,
        mut is_wanted: impl FnMut(&SessionSummary) -> bool,
    ) -> Result<Listing> {
        let mut listing = Listing::default();
        let mut newest: Vec<(Timestamp, Session)> = self
            .sessions(&query.scope)?
            .into_iter()
            .map(|session| (modified(&session), session))
            .collect();
        newest.sort_by(|(time, session), (other_time, other)| {
            let by_time = other_time.cmp(time);
            by_time.then_with(|| session.path().cmp(other.path()))
        });
        let mut seen = HashSet::new();
        let wanted = query.limit.unwrap_or(usize::MAX);
        let mut to_pass = query.offset;
        for (_, session) in newest {
            if listing.sessions.len() >= wanted {
                break;
            }
            match SessionSummary::of(session) {
                Ok(Some(summary)) if !is_wanted(&summary) => {}
                Ok(Some(summary)) => {
                    // One that was copied to another project is listed once.
                    if !seen.insert(summary.session.key().clone()) {
                        continue;
                    }
                    if to_pass > 0 {
                        to_pass -= 1;
                    } else {
                        listing.sessions.push(summary);
                    }
                }
                Ok(None) => {}
                Err(error) => listing.problems.push(error),
            }
        }
        Ok(listing)
    }
}

impl SessionSummary {
    /// Looks at one session; nothing if a list would leave it out.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, session| {
    /// assert_eq!(SessionSummary::of(session)?.unwrap().title, "Login fails");
    /// # let empty = home.session_in("/app", "33333333-4444-4555-8666-777777777777".parse()?);
    /// # std::fs::create_dir_all(empty.project_folder())?;
    /// # std::fs::write(empty.path(), "")?;
    /// // One in which nothing was asked.
    /// assert_eq!(SessionSummary::of(empty)?, None);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn of(session: Session) -> Result<Option<Self>> {
        session.check_project()?;
        let Some(glance) = Glance::at(session.path())? else {
            return Ok(None);
        };
        let Some(title) = glance.title().filter(|_| !glance.is_subagent) else {
            return Ok(None);
        };
        Ok(Some(Self {
            title: title.to_owned(),
            session,
            custom_title: glance.custom_title.or(glance.ai_title),
            first_prompt: glance.first_prompt,
            last_prompt: glance.last_prompt,
            cwd: glance.cwd.map(PathBuf::from),
            git_branch: glance.git_branch,
            tag: glance.tag,
            created: glance.created,
            modified: glance.modified,
            size: glance.size,
        }))
    }
}

/// A file that is gone again sorts last and is reported when it is looked at.
fn modified(session: &Session) -> Timestamp {
    let metadata = fs::symlink_metadata(session.path());
    let time = metadata.and_then(|metadata| metadata.modified()).ok();
    time.and_then(|time| Timestamp::try_from(time).ok())
        .unwrap_or(Timestamp::MIN)
}
