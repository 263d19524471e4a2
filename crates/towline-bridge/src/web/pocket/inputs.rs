//! What a person says in the app.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{json, value::to_raw_value};
use towline_protocol::dialect::pocket::{
    BridgeId, Input, InputAck, InputImage, InputRejected, ToClient,
};

use crate::{Denial, hub::Description};

use super::{Connection, Gone};

impl Connection {
    pub(super) async fn input(&mut self, input: Input) -> Result<(), Gone> {
        let session = match self.meant(input.session_id.clone()).await {
            Ok(Some(session)) => session,
            Ok(None) => {
                let reason = "there is no session to say it in: start one first";
                return self.reject_input(&input, None, reason.to_owned()).await;
            }
            Err(denial) => {
                let reason = denial.to_string();
                return self.reject_input(&input, None, reason).await;
            }
        };
        let said = match content(&input) {
            Ok(content) => crate::Input {
                content,
                client_message_id: input.client_message_id.clone(),
                uuid: None,
                by: self.who.client.clone(),
            },
            Err(why) => return self.reject_input(&input, Some(session), why).await,
        };
        match self.desk().input(&session, said).await {
            Ok((seq, queued, repeated)) => {
                let is_told = self.told.get(&session).is_some_and(|told| *told >= seq);
                if !repeated && !is_told {
                    if self.own.len() >= MOST_OWN {
                        self.own.clear();
                    }
                    self.own.insert((session.clone(), seq));
                }
                let ack = ToClient::InputAck(InputAck {
                    session_id: Some(session),
                    client_message_id: input.client_message_id,
                    accepted_seq: Some(seq),
                    queued: Some(queued),
                    ..InputAck::default()
                });
                self.send(&ack).await
            }
            Err(denial) => {
                let reason = denial.to_string();
                self.reject_input(&input, Some(session), reason).await
            }
        }
    }

    async fn reject_input(
        &mut self,
        input: &Input,
        session: Option<BridgeId>,
        reason: String,
    ) -> Result<(), Gone> {
        let rejected = ToClient::InputRejected(InputRejected {
            session_id: session.or_else(|| input.session_id.clone()),
            client_message_id: input.client_message_id.clone(),
            reason: reason.into(),
            ..InputRejected::default()
        });
        self.send(&rejected).await
    }

    /// The session that is named; else the only or latest one.
    pub(super) async fn meant(
        &mut self,
        named: Option<BridgeId>,
    ) -> Result<Option<BridgeId>, Denial> {
        if let Some(session) = named.or_else(|| self.only.clone()) {
            return Ok(Some(session));
        }
        let sessions = self.desk().sessions().await?;
        Ok(latest(&sessions).map(|latest| latest.record.id.clone()))
    }
}

/// The session in which something happened last.
pub(super) fn latest(sessions: &[Description]) -> Option<&Description> {
    let listed = sessions.iter().filter(|session| !session.record.archived);
    listed.max_by_key(|session| session.record.active_at)
}

/// A string, or blocks if there are pictures.
fn content(input: &Input) -> Result<Box<serde_json::value::RawValue>, String> {
    if input.image_id.is_some() {
        return Err("pictures are not kept here: send the picture itself, in `images`".to_owned());
    }
    let older = input.image_base64.as_ref().map(|base64| InputImage {
        base64: base64.clone(),
        mime_type: input
            .mime_type
            .clone()
            .unwrap_or_else(|| "image/png".into()),
        ..InputImage::default()
    });
    let images: Vec<_> = input.images.iter().flatten().chain(&older).collect();
    let text = words(input);
    if text.trim().is_empty() && images.is_empty() {
        return Err("nothing was said: `text` is empty".to_owned());
    }
    let raw = if images.is_empty() {
        to_raw_value(&text)
    } else {
        let mut blocks = Vec::new();
        for (index, image) in images.iter().enumerate() {
            if !PICTURES.contains(&image.mime_type.as_str()) {
                return Err(format!(
                    "picture {} is `{}`: it must be one of {}",
                    index + 1,
                    image.mime_type,
                    PICTURES.join(", ")
                ));
            }
            if image.base64.is_empty() || STANDARD.decode(image.base64.as_bytes()).is_err() {
                return Err(format!("picture {} is no base64", index + 1));
            }
            let source = json!({
                "type": "base64",
                "media_type": image.mime_type.as_str(),
                "data": image.base64.as_str(),
            });
            blocks.push(json!({"type": "image", "source": source}));
        }
        if !text.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        to_raw_value(&blocks)
    };
    raw.map_err(|error| error.to_string())
}

/// The words, with the skill in front and the files behind them that they do not name themselves.
fn words(input: &Input) -> String {
    let mut words = input.text.to_string();
    let skills = input.skill.iter().chain(input.skills.iter().flatten());
    if let Some(skill) = skills.into_iter().next()
        && !words.trim_start().starts_with('/')
    {
        words = format!("/{} {words}", skill.name);
    }
    for file in input.mentions.iter().flatten() {
        let mention = format!("@{}", file.path);
        if !words.contains(&mention) {
            words.push(' ');
            words.push_str(&mention);
        }
    }
    words
}

/// What the model can look at.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// How many inputs may be on their way back.
const MOST_OWN: usize = 4096;
