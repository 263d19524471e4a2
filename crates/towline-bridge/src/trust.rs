//! [`FolderTrust`]: whether the person trusts a folder, and what its files would have if so; shown on the page, answered
//! there, and recorded in the person's own state.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use towline_host::store::{Error, Home, Offer, OfferItem, Workspace};

/// The state of a folder before an agent works in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderTrust {
    /// The folder that is trusted or not: that of the repository, else the very one.
    pub folder: PathBuf,
    /// Whether the person trusts it.
    pub is_trusted: bool,
    /// The things that its files would have count. All of it is untrusted text.
    pub offer: Offer,
    /// A digest of the files: another text of one of them is another digest.
    pub digest: String,
}

/// The answer of a person about a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    /// It may be trusted with files that have this digest.
    Trust {
        /// The digest of what was shown.
        digest: String,
    },
    /// It may not, or no longer.
    DoNotTrust,
}

/// The outcome of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustOutcome {
    /// It is recorded; this is how it stands now.
    Recorded(FolderTrust),
    /// The files are others than those that were shown, and nothing is recorded.
    FilesChanged,
}

impl FolderTrust {
    /// How it stands with a folder.
    ///
    /// # Errors
    /// When there is no such folder, or the person's state cannot be read.
    pub fn of(home: &Home, directory: &Path) -> Result<Self, Error> {
        let workspace = Workspace::at(directory)?;
        Self::at(home, &workspace)
    }

    fn at(home: &Home, workspace: &Workspace) -> Result<Self, Error> {
        let offer = home.offer(workspace);
        Ok(Self {
            folder: workspace.trusted_as().to_owned(),
            is_trusted: home.trusts(workspace)?,
            digest: digest(&offer),
            offer,
        })
    }

    /// Records an answer. Files that were changed since they were shown are not trusted unseen.
    ///
    /// # Errors
    /// When there is no such folder, or the person's state cannot be read or written.
    pub fn answer(
        home: &Home,
        directory: &Path,
        answer: &TrustAnswer,
    ) -> Result<TrustOutcome, Error> {
        let workspace = Workspace::at(directory)?;
        let now = Self::at(home, &workspace)?;
        match answer {
            TrustAnswer::Trust { digest } if *digest != now.digest => {
                return Ok(TrustOutcome::FilesChanged);
            }
            TrustAnswer::Trust { .. } => home.trust(&workspace)?,
            // What was never trusted needs no record.
            TrustAnswer::DoNotTrust if !now.is_trusted => {}
            TrustAnswer::DoNotTrust => home.distrust(&workspace)?,
        }
        Self::at(home, &workspace).map(TrustOutcome::Recorded)
    }

    /// The things that the files would have count, a line each, for the audit.
    pub fn lines(&self) -> Vec<String> {
        let items = self.offer.items.iter();
        items
            .map(|OfferItem { kind, value, path }| {
                format!("{}: {value} ({})", kind.label(), path.display())
            })
            .collect()
    }
}

/// Each text with its length and name, so that no two lists of files share a digest.
fn digest(offer: &Offer) -> String {
    let mut hash = Sha256::new();
    for (path, text) in &offer.texts {
        for bytes in [path.as_os_str().as_encoded_bytes(), text.as_bytes()] {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
