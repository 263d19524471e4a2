//! What has been said in a session, for the app: all of it, or what it missed.
//!
//! The frames come from the log. After them the connection attaches at the last one: the hub gives what came meanwhile,
//! the message in progress, and goes on live, so that nothing is lost or doubled in between.

use std::collections::{HashSet, VecDeque};

use towline_protocol::{
    Content as Words, Role, Uuid, Wire,
    dialect::pocket::{
        BridgeId, History, HistoryRange, Numbered, PastHistory, PastMessage, SnapshotReason,
        ToClient,
    },
};

use crate::{
    Frame,
    hub::Description,
    log::{LogError, Page},
};

use super::{
    Connection, Gone,
    frames::{Teller, json_of, problem},
};

impl Connection {
    /// All of it, as much as one message holds; `get_history_delta` gives the rest.
    pub(super) async fn history(&mut self, session: &BridgeId) -> Result<(), Gone> {
        let description = match self.desk().describe(session).await {
            Ok(description) => description,
            Err(denial) => return self.refuse(&denial, Some(session)).await,
        };
        let (frames, is_whole) = match self.last_frames(&description).await {
            Ok(found) => found,
            Err(error) => return self.send(&problem(error.to_string())).await,
        };
        if is_whole && let Some(past) = self.past(&description, &frames).await {
            self.send(&past).await?;
        }
        let mut teller = Teller::default();
        let messages = frames.iter().flat_map(|frame| teller.tell(session, frame));
        let last = frames.back().map_or(0, |frame| frame.seq);
        let mut history = History {
            messages: messages.collect(),
            session_id: Some(session.clone()),
            history_seq: Some(last),
            ..History::default()
        };
        if !is_whole {
            history.extra.insert("truncated", json_of(&true));
        }
        self.send(&ToClient::History(history)).await?;
        // It takes the place of what was there, so what is in progress is told from its start.
        self.streams.settle(session);
        self.go_on(session, last, teller).await;
        Ok(())
    }

    /// What came after a number; all of it if the number was never given.
    pub(super) async fn history_since(
        &mut self,
        session: &BridgeId,
        since: u64,
    ) -> Result<(), Gone> {
        let description = match self.desk().describe(session).await {
            Ok(description) => description,
            Err(denial) => return self.refuse(&denial, Some(session)).await,
        };
        let is_reset = since > description.record.last_seq;
        let mut after = if is_reset { 0 } else { since };
        let mut teller = Teller::default();
        let mut is_first = true;
        loop {
            let frames = self.site.desk.bridge().library();
            let frames = match frames.frames(session, after, PAGE).await {
                Ok(frames) => frames,
                Err(error) => return self.send(&problem(error.to_string())).await,
            };
            if frames.is_empty() && !is_first {
                break;
            }
            let last = frames.last().map_or(after, |frame| frame.seq);
            let messages = frames.iter().flat_map(|frame| {
                let told = teller.tell(session, frame).into_iter();
                told.map(|message| Numbered {
                    seq: frame.seq,
                    message,
                    extra: Default::default(),
                })
            });
            let range = HistoryRange {
                session_id: Some(session.clone()),
                from_seq: after + 1,
                to_seq: last,
                messages: messages.collect(),
                status: Some(description.record.status.clone()),
                reason: (is_reset && is_first).then_some(SnapshotReason::Reset),
                ..HistoryRange::default()
            };
            let message = if is_reset && is_first {
                ToClient::HistorySnapshot(range)
            } else {
                ToClient::HistoryDelta(range)
            };
            self.send(&message).await?;
            (after, is_first) = (last, false);
            if frames.is_empty() {
                break;
            }
        }
        self.go_on(session, after, teller).await;
        Ok(())
    }

    /// From here on it is told what happens, after what is in progress.
    async fn go_on(&mut self, session: &BridgeId, last: u64, teller: Teller) {
        let told = self.told.entry(session.clone()).or_default();
        let is_ahead = *told > last;
        *told = (*told).max(last);
        if !is_ahead {
            self.teller.learn(teller);
        }
        self.viewer.attach(session, last).await;
    }

    /// The last frames, and whether there are none before them.
    async fn last_frames(
        &mut self,
        session: &Description,
    ) -> Result<(VecDeque<Frame>, bool), LogError> {
        let (id, last) = (&session.record.id, session.record.last_seq);
        let mut after = last.saturating_sub(MOST_FRAMES as u64);
        let mut kept = VecDeque::new();
        let mut bytes = 0;
        loop {
            let page = self
                .site
                .desk
                .bridge()
                .library()
                .frames(id, after, PAGE)
                .await?;
            let Some(end) = page.last() else {
                break;
            };
            after = end.seq;
            for frame in page {
                bytes += frame.body.len();
                kept.push_back(frame);
            }
            while kept.len() > MOST_FRAMES || (bytes > MOST_BYTES && kept.len() > 1) {
                bytes -= kept.pop_front().map_or(0, |frame: Frame| frame.body.len());
            }
        }
        let is_whole = kept.front().is_none_or(|frame| frame.seq == 1);
        Ok((kept, is_whole))
    }

    /// What was said before the bridge had the session, if something was.
    async fn past(&mut self, session: &Description, frames: &VecDeque<Frame>) -> Option<ToClient> {
        let agent_session = session.record.agent_session_id.clone()?;
        // Which session it is, the agent has said, and not the desk.
        self.desk().check_past(&agent_session).await.ok()?;
        let library = self.site.desk.bridge().library();
        let past = library.history(agent_session.clone(), PAST).await.ok()?;
        let known: HashSet<Uuid> = frames.iter().filter_map(Frame::uuid).collect();
        let before = past.messages.into_iter().take_while(|message| {
            let uuid = message.uuid.as_ref();
            uuid.is_none_or(|uuid| !known.contains(uuid))
        });
        let messages: Vec<_> = before
            .filter_map(|message| {
                Some(PastMessage {
                    role: if message.role == "user" {
                        Role::User
                    } else {
                        Role::Assistant
                    },
                    content: Words::from_json(message.content.text().clone()).ok()?,
                    uuid: message.uuid,
                    timestamp: message.timestamp,
                    extra: Default::default(),
                })
            })
            .collect();
        if messages.is_empty() {
            return None;
        }
        Some(ToClient::PastHistory(PastHistory {
            claude_session_id: agent_session,
            session_id: Some(session.record.id.clone()),
            messages,
            ..PastHistory::default()
        }))
    }

    /// What was said before the bridge had a session that was just resumed.
    pub(super) async fn send_past(&mut self, session: &Description) -> Result<(), Gone> {
        let (frames, _) = match self.last_frames(session).await {
            Ok(found) => found,
            Err(error) => return self.send(&problem(error.to_string())).await,
        };
        match self.past(session, &frames).await {
            Some(past) => self.send(&past).await,
            None => Ok(()),
        }
    }
}

/// How much of a history goes into one message of several.
const PAGE: Page = Page {
    frames: 200,
    bytes: 256 << 10,
};
/// How many frames go into the one message that is a history.
const MOST_FRAMES: usize = 2000;
/// How many bytes go into it.
const MOST_BYTES: usize = 4 << 20;
/// How much is told of what was said before.
const PAST: Page = Page {
    frames: 500,
    bytes: 4 << 20,
};
