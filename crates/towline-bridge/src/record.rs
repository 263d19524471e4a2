//! [`SessionRecord`]: what the bridge knows of a session besides its frames.

use serde::{Deserialize, Serialize};
use towline_protocol::{
    PermissionMode, SessionId,
    dialect::pocket::{BridgeId, Status},
};
use utoipa::ToSchema;

use crate::hub::SetupOptions;

/// A session of the bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionRecord {
    /// Its name here; the agent calls it something else.
    #[schema(value_type = String)]
    pub id: BridgeId,
    /// What the agent calls it, once it is known: what `--resume` takes.
    #[schema(value_type = Option<String>)]
    pub agent_session_id: Option<SessionId>,
    /// Which agent it is, by its name in the configuration.
    pub agent: String,
    /// Where it works.
    pub directory: String,
    /// Where else it may work.
    pub additional_directories: Vec<String>,
    /// What a person or the agent calls it.
    pub title: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// How much may be done without asking.
    #[schema(value_type = Option<String>)]
    pub permission_mode: Option<PermissionMode>,
    /// More that its agent is started with, each time.
    #[serde(default)]
    pub options: SetupOptions,
    /// When it began, in milliseconds since 1970.
    pub created_at: u64,
    /// When something last happened in it.
    pub active_at: u64,
    /// What it does, or did when the bridge last wrote it down.
    #[schema(value_type = String)]
    pub status: Status,
    /// The number of its last frame.
    pub last_seq: u64,
    /// How its last message begins.
    pub last_message: Option<String>,
    /// The numbers of the inputs that the agent has not begun with.
    #[serde(default)]
    pub unheard: Vec<u64>,
    /// The numbers of the latest inputs that never ran, and do not any more.
    #[serde(default)]
    pub dropped: Vec<u64>,
    /// What it has used.
    pub usage: Usage,
    /// Whether it was taken out of the lists.
    pub archived: bool,
}

impl SessionRecord {
    /// Gives it a title, or as much of one as goes into a list.
    pub(crate) fn set_title(&mut self, title: Option<&str>) {
        let end = |title: &str| title.char_indices().nth(LONGEST_TITLE).map(|(end, _)| end);
        self.title = title.map(|title| match end(title) {
            Some(end) => format!("{}…", &title[..end]),
            None => title.to_owned(),
        });
    }

    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.title, &self.model, &self.last_message];
        let texts = texts.into_iter().flatten().map(String::len);
        let folders = self.additional_directories.iter().map(String::len);
        let numbers = size_of::<u64>() * (self.unheard.len() + self.dropped.len());
        size_of::<Self>() + self.directory.len() + texts.chain(folders).sum::<usize>() + numbers
    }
}

/// What a session has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// In US dollars.
    pub cost_usd: f64,
    /// Tokens read, without those from the cache.
    pub input_tokens: u64,
    /// Tokens read from the cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Turns taken.
    pub turns: u64,
}

/// How many characters a title may have.
const LONGEST_TITLE: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_is_too_long_for_a_list_is_cut() {
        let mut record: SessionRecord = serde_json::from_str(
            r#"{"id":"s1","agent_session_id":null,"agent":"claude","directory":"/app","additional_directories":[],
            "title":null,"model":null,"permission_mode":null,"created_at":1,"active_at":2,"status":"idle","last_seq":3,
            "last_message":null,"usage":{"cost_usd":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0,"turns":0},
            "archived":false}"#,
        )
        .unwrap();
        let small = record.size();
        for (title, kept) in [
            ("short".to_owned(), "short".to_owned()),
            ("é".repeat(200), "é".repeat(200)),
            ("é".repeat(9_000_000), format!("{}…", "é".repeat(200))),
        ] {
            record.set_title(Some(&title));
            assert_eq!(record.title.as_deref(), Some(&*kept));
            assert!(record.size() > small && record.size() < small + 1000);
        }
        record.set_title(None);
        assert_eq!(record.title, None);
    }
}
