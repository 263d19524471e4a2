//! What a person says, and what becomes of it.

use super::{BridgeId, ClientMessageId};
use crate::{ids::Uuid, json::Text, wire::wire_structs};

wire_structs! {
    /// `input`
    #[derive(Default)]
    pub struct Input {
        /// The words.
        text: Text,
        /// The session; the only or latest one if absent.
        session_id: Option<BridgeId> = "sessionId",
        /// The app's name for it.
        client_message_id: Option<ClientMessageId> = "clientMessageId",
        /// The last `historySeq` the app had seen when it was written.
        base_seq: Option<u64> = "baseSeq",
        /// Pictures that come with it.
        images: Option<Vec<InputImage>>,
        /// A picture that the bridge has already.
        image_id: Option<Text> = "imageId",
        /// One picture in base64, from older apps.
        image_base64: Option<Text> = "imageBase64",
        /// The type of that picture.
        mime_type: Option<Text> = "mimeType",
        /// A skill to use.
        skill: Option<Reference>,
        /// Skills to use.
        skills: Option<Vec<Reference>>,
        /// Files that are meant.
        mentions: Option<Vec<Reference>>,
    }

    /// A picture in an input.
    #[derive(Default)]
    pub struct InputImage {
        /// The data.
        base64: Text,
        /// Such as `image/png`.
        mime_type: Text = "mimeType",
    }

    /// A skill or file that an input names.
    #[derive(Default)]
    pub struct Reference {
        /// Its name.
        name: Text,
        /// Where it is.
        path: Text,
    }

    /// `input_ack`
    #[derive(Default)]
    pub struct InputAck {
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// As in the input.
        client_message_id: Option<ClientMessageId> = "clientMessageId",
        /// Its number in the history.
        accepted_seq: Option<u64> = "acceptedSeq",
        /// Whether it has to wait.
        queued: Option<bool>,
    }

    /// `input_rejected`
    #[derive(Default)]
    pub struct InputRejected {
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// As in the input.
        client_message_id: Option<ClientMessageId> = "clientMessageId",
        /// Why, such as `conflict`.
        reason: Text,
    }

    /// `user_input`
    #[derive(Default)]
    pub struct UserInput {
        /// The words.
        text: Text,
        /// As in the input.
        client_message_id: Option<ClientMessageId> = "clientMessageId",
        /// The transcript's id of it.
        user_message_uuid: Option<Uuid> = "userMessageUuid",
        /// Whether no person said it.
        is_synthetic: Option<bool> = "isSynthetic",
        /// Whether it is not for people.
        is_meta: Option<bool> = "isMeta",
        /// How many pictures it has.
        image_count: Option<u64> = "imageCount",
        /// Its pictures.
        images: Option<Vec<ImageRef>>,
        /// When.
        timestamp: Option<Text>,
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Its number in the history; the same one when it is sent again.
        history_seq: Option<u64> = "historySeq",
    }

    /// A picture that the bridge serves.
    #[derive(Default)]
    pub struct ImageRef {
        /// Its name.
        id: Text,
        /// Where to fetch it, below the address of the bridge.
        url: Text,
        /// Such as `image/png`.
        mime_type: Text = "mimeType",
    }
}
