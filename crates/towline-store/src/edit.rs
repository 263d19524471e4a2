//! What changes a session: titles and tags, which are appended, and deletion.

use std::fs;

use towline_protocol::{
    Text,
    transcript::{CustomTitle, Record, TagRecord},
};

use crate::{
    append::TranscriptWriter,
    error::{Error, Result},
    plain,
    session::Session,
};

impl Session {
    /// Gives the session a title, by which `claude --resume "title"` then finds it. The latest title counts.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project, session| {
    /// session.rename("Expired tokens")?;
    /// assert_eq!(home.find(&project, "expired tokens")?, session);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the title is blank, there is no such session, or its file may not be written to.
    pub fn rename(&self, title: &str) -> Result<()> {
        let title = title.trim();
        if title.is_empty() {
            return Err(Error::Blank { what: "title" });
        }
        self.append(&Record::CustomTitle(Box::new(CustomTitle {
            custom_title: Some(Text::from(title)),
            session_id: Some(self.key().to_id()),
            ..CustomTitle::default()
        })))
    }

    /// Puts a word on the session, as the official SDKs do; characters that nobody sees are left out of it.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// session.tag("red")?;
    /// let summary = SessionSummary::of(session)?.unwrap();
    /// assert_eq!(summary.tag.as_deref(), Some("red"));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When nothing of the word is left, there is no such session, or its file may not be written to.
    pub fn tag(&self, tag: &str) -> Result<()> {
        let visible: String = tag
            .chars()
            .filter(|character| !is_hidden(*character))
            .collect();
        match visible.trim() {
            "" => Err(Error::Blank { what: "tag" }),
            tag => self.append_tag(tag),
        }
    }

    /// Takes the word off the session.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// session.tag("red")?;
    /// session.untag()?;
    /// let summary = SessionSummary::of(session)?.unwrap();
    /// assert_eq!(summary.tag, None);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no such session, or its file may not be written to.
    pub fn untag(&self) -> Result<()> {
        self.append_tag("")
    }

    /// Deletes the transcript and the folder beside it, with subagents and long tool results. Nothing else.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, session| {
    /// session.delete()?;
    /// assert!(!session.path().exists() && !session.folder().exists());
    /// assert!(matches!(home.session(session.key()), Err(Error::NotFound { .. })));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no such session, or something of it cannot be deleted. The transcript goes last, so that a session
    /// that is only half deleted can still be found.
    pub fn delete(&self) -> Result<()> {
        self.check_project()?;
        let metadata = fs::symlink_metadata(self.path()).map_err(|error| self.missing(error))?;
        if metadata.is_dir() {
            return Err(Error::NotPlain {
                path: self.path().to_owned(),
            });
        }
        let folder = self.folder();
        // Links in it, and a link in its place, are removed and not followed.
        match fs::remove_dir_all(&folder) {
            Err(error) if plain::is_absence(&error) => {}
            removed => removed.map_err(Error::io("delete", &folder))?,
        }
        fs::remove_file(self.path()).map_err(Error::io("delete", self.path()))
    }

    fn append_tag(&self, tag: &str) -> Result<()> {
        self.append(&Record::Tag(Box::new(TagRecord {
            tag: Some(Text::from(tag)),
            session_id: Some(self.key().to_id()),
            ..TagRecord::default()
        })))
    }

    fn append(&self, record: &Record) -> Result<()> {
        TranscriptWriter::open(self.clone())?.append([record])
    }

    fn missing(&self, error: std::io::Error) -> Error {
        if plain::is_absence(&error) {
            Error::NotFound {
                id: self.key().to_string(),
                folder: self.project_folder().to_owned(),
            }
        } else {
            Error::io("delete", self.path())(error)
        }
    }
}

/// Characters that nobody sees, or that turn the writing direction: they would make two tags look the same.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e007f}'
                | '\u{f0000}'..='\u{10ffff}'
        )
}
