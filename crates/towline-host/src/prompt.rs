//! [`Prompt`]: what a user says, with words and pictures.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use towline_protocol::{Block, Content, Text, User, Uuid};

use crate::error::Error;

/// A message of the user, with words and pictures.
///
/// ```
/// use towline_host::Prompt;
///
/// let plain: Prompt = "What is two and two?".into();
/// let png = b"\x89PNG\r\n\x1a\n a picture";
/// let with_picture = Prompt::new().text("What is in this picture?").image(png)?;
/// # Ok::<(), towline_host::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    content: Words,
    uuid: Option<Uuid>,
    priority: Option<Text>,
    should_query: Option<bool>,
    client_composed: Option<bool>,
}

/// One text is sent as a string, as the official SDKs do; anything else as blocks.
#[derive(Clone, Debug, PartialEq)]
enum Words {
    Text(Text),
    Blocks(Vec<Block>),
}

impl Default for Words {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Prompt {
    /// Begins an empty message, to be filled.
    ///
    /// ```
    /// # use towline_host::Prompt;
    /// let prompt = Prompt::new().text("Say hello.");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds words, as a block of their own.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send(Prompt::new().text("say hello").text("and goodbye")).await?;
    /// # assert_eq!(end_of_turn(&mut session).await, "hello\n\nand goodbye");
    /// # });
    /// ```
    #[must_use]
    pub fn text(self, text: impl Into<Text>) -> Self {
        self.block(Block::text(text))
    }

    /// Adds any block.
    ///
    /// ```
    /// # use towline_host::{Block, Prompt};
    /// let prompt = Prompt::new().block(Block::text("Say hello."));
    /// assert_eq!(prompt, Prompt::new().text("Say hello."));
    /// ```
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        let mut blocks = match self.content {
            Words::Text(text) => vec![Block::text(text)],
            Words::Blocks(blocks) => blocks,
        };
        blocks.push(block);
        self.content = Words::Blocks(blocks);
        self
    }

    /// Adds a PNG, JPEG, GIF or WebP picture; which one is seen from its bytes.
    ///
    /// ```
    /// # use towline_host::Prompt;
    /// # let png = b"\x89PNG\r\n\x1a\n a picture";
    /// let prompt = Prompt::from("What is this?").image(png)?;
    /// assert!(Prompt::new().image(b"no picture").is_err());
    /// # Ok::<(), towline_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// When it is none of them.
    pub fn image(self, bytes: &[u8]) -> Result<Self, Error> {
        self.image_from(bytes, || "the picture".to_owned())
    }

    /// Adds a PNG, JPEG, GIF or WebP picture from a file; which one is seen from its content, not from its name.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::Prompt;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("cat.png");
    /// # std::fs::write(&path, b"\x89PNG\r\n\x1a\n a picture")?;
    /// let prompt = Prompt::from("What is this?").image_file(path).await?;
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read, or is none of them.
    pub async fn image_file(self, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let bytes = tokio::fs::read(path).await.map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        self.image_from(&bytes, || path.display().to_string())
    }

    fn image_from(self, bytes: &[u8], what: impl FnOnce() -> String) -> Result<Self, Error> {
        let media_type = media_type(bytes).ok_or_else(|| Error::Image { what: what() })?;
        Ok(self.block(Block::image(media_type, STANDARD.encode(bytes))))
    }

    /// Gives the message an id: the agent then tells what becomes of it, does not run it twice, and can take it back.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("wait").await?;
    /// session.send(Prompt::from("say hello").uuid("a5e0")).await?;
    /// let answer = session.control().cancel_message(&"a5e0".into()).await?;
    /// assert_eq!(answer.cancelled, Some(true));
    /// # });
    /// ```
    #[must_use]
    pub fn uuid(mut self, uuid: impl Into<Uuid>) -> Self {
        self.uuid = Some(uuid.into());
        self
    }

    /// Has the message end the running turn and run at once.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("say one").await?;
    /// session.send(Prompt::from("say two").now()).await?;
    /// # });
    /// ```
    #[must_use]
    pub fn now(mut self) -> Self {
        self.priority = Some("now".into());
        self
    }

    /// Adds the message to the conversation without a turn.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send(Prompt::from("The tests pass.").without_turn()).await?;
    /// # });
    /// ```
    #[must_use]
    pub fn without_turn(mut self) -> Self {
        self.should_query = Some(false);
        self
    }

    /// Has the message taken word for word, without looking for slash commands.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send(Prompt::from("/compact is a command").verbatim()).await?;
    /// # });
    /// ```
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.client_composed = Some(true);
        self
    }

    /// The same with a uuid, a new one if it has none.
    pub(crate) fn identified(mut self) -> (Self, Uuid) {
        let new = || uuid::Uuid::new_v4().to_string().into();
        let uuid = self.uuid.get_or_insert_with(new).clone();
        (self, uuid)
    }

    pub(crate) fn into_user(self) -> User {
        let content = match self.content {
            Words::Text(text) => Content::from(text.as_str()),
            Words::Blocks(blocks) => Content::from(blocks),
        };
        User {
            uuid: self.uuid,
            priority: self.priority,
            should_query: self.should_query,
            client_composed: self.client_composed,
            ..User::say(content)
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self {
            content: Words::Text(text.into()),
            ..Self::default()
        }
    }
}

impl From<Vec<Block>> for Prompt {
    fn from(blocks: Vec<Block>) -> Self {
        Self {
            content: Words::Blocks(blocks),
            ..Self::default()
        }
    }
}

/// What kind of picture it is, by its first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
