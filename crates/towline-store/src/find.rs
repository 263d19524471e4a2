//! Which session somebody means: the newest, or the one of an id, a title or a path.

use std::path::{Component, Path};

use crate::{
    error::{Error, Result},
    home::{Home, Scope},
    list::ListQuery,
    plain,
    session::Session,
};

impl Home {
    /// The newest session of the project that a working directory is in which something was asked; what `--continue`
    /// goes on with. Transcripts of subagents do not count.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project, session| {
    /// assert_eq!(home.newest(&project)?, Some(session));
    /// assert_eq!(home.newest("/never/used")?, None);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the project's folder cannot be listed.
    pub fn newest(&self, cwd: impl AsRef<Path>) -> Result<Option<Session>> {
        let listing = self.list(&ListQuery {
            scope: Scope::Project(cwd.as_ref().to_owned()),
            limit: Some(1),
            ..ListQuery::default()
        })?;
        Ok(listing.sessions.into_iter().next().map(|row| row.session))
    }

    /// The session that a word of `--resume` means: its id, the path of its transcript, or its title in any case.
    /// Of several with that title, the newest of the working directory's project, else the newest of all.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project, session| {
    /// assert_eq!(home.find(&project, session.key().as_str())?, session);
    /// assert_eq!(home.find(&project, "LOGIN FAILS")?, session);
    /// let unknown = home.find(&project, "99999999-9999-4999-8999-999999999999");
    /// assert!(matches!(unknown, Err(Error::NotFound { .. })));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] for an id or a path of no session, [`Error::BadId`] for what is neither of them and nobody's
    /// title; or when the projects cannot be listed.
    pub fn find(&self, cwd: impl AsRef<Path>, which: &str) -> Result<Session> {
        if let Ok(key) = which.parse() {
            return self.session(&key);
        }
        let cwd = cwd.as_ref();
        if which.ends_with(".jsonl") {
            return session_at(&cwd.join(which));
        }
        for scope in [Scope::Project(cwd.to_owned()), Scope::All] {
            if let Some(session) = self.titled(scope, which)? {
                return Ok(session);
            }
        }
        Err(Error::BadId {
            id: which.to_owned(),
        })
    }

    fn titled(&self, scope: Scope, title: &str) -> Result<Option<Session>> {
        let wanted = title.trim().to_lowercase();
        let listing = self.list(&ListQuery {
            scope,
            ..ListQuery::default()
        })?;
        let mut rows = listing.sessions.into_iter();
        let found = rows.find(|row| {
            let title = row.custom_title.as_ref();
            title.is_some_and(|title| title.trim().to_lowercase() == wanted)
        });
        Ok(found.map(|row| row.session))
    }
}

/// The session whose transcript is at a path; its name has to be an id, as everywhere.
fn session_at(path: &Path) -> Result<Session> {
    let plain_path: std::path::PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let name = path.file_stem().and_then(|name| name.to_str());
    let key = name.unwrap_or_default().parse()?;
    let session = Session::new(
        plain_path.parent().unwrap_or(Path::new("/")).to_owned(),
        key,
    );
    match plain::open(session.path()) {
        Ok(_) => Ok(session),
        Err(Error::Io { source, .. }) if plain::is_absence(&source) => Err(Error::NotFound {
            id: session.key().to_string(),
            folder: session.project_folder().to_owned(),
        }),
        Err(error) => Err(error),
    }
}
