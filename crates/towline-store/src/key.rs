//! [`SessionKey`]: a session id that may become a file name.

use std::{fmt, str::FromStr};

use towline_protocol::SessionId;
use uuid::Uuid;

use crate::error::{Error, Result};

/// The id of a session on disk: a UUID with hyphens, so it can name no other file than its own.
///
/// ```
/// use towline_store::SessionKey;
///
/// let key: SessionKey = "11111111-2222-4333-8444-555555555555".parse()?;
/// assert_eq!(key.as_str(), "11111111-2222-4333-8444-555555555555");
/// assert!("../../etc/passwd".parse::<SessionKey>().is_err());
/// # Ok::<(), towline_store::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(String);

impl SessionKey {
    /// The id.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let file = session.path().file_stem();
    /// assert_eq!(file.unwrap(), session.key().as_str());
    /// # });
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as it stands in records.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// use towline_protocol::SessionId;
    ///
    /// assert_eq!(session.key().to_id(), SessionId::from("11111111-2222-4333-8444-555555555555"));
    /// # });
    /// ```
    pub fn to_id(&self) -> SessionId {
        SessionId::from(self.as_str())
    }

    /// An id nobody has yet.
    pub(crate) fn random() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

impl FromStr for SessionKey {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self> {
        // The length leaves out the other ways to write a UUID: without hyphens, in braces, as a URN.
        if id.len() == 36 && Uuid::try_parse(id).is_ok() {
            Ok(Self(id.to_owned()))
        } else {
            Err(Error::BadId { id: id.to_owned() })
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
