//! Prompts that the agent answers without the model: a command, which begins with `/` (so far `/clear`), and white space.

use towline_protocol::{
    Content, ConversationReset, Nullable, OneOrMany, StopReason, Text, TextOrJson, ToHost,
    TurnResult, control::answer::SlashCommand,
};

use super::{
    Engine, Scribe,
    inbox::Prompt,
    lines::{new_uuid, timestamp},
    running::Running,
    side::SideUsage,
};
use crate::{
    history::History,
    lists::Lists,
    model::cost::Costs,
    tools::FilesRead,
    turn::{Ending, TurnOptions},
};

/// What a prompt has the agent do instead of asking the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Begin anew, under this title if there is one.
    Clear(Option<String>),
    /// Nothing, and say so: there are only spaces, which the API refuses (CLI 2.1.325).
    Blank,
}

impl Command {
    /// The command that a prompt is; `None` if it is one for the model.
    pub(super) fn of(prompt: &Prompt) -> Option<Self> {
        if prompt.verbatim || !prompt.query {
            return None;
        }
        let text = match prompt.content.as_ref()? {
            Content::Text(text) if !text.is_empty() && text.trim().is_empty() => {
                return Some(Self::Blank);
            }
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) if blocks.len() == 1 => prompt.content.as_ref()?.text(),
            Content::Blocks(_) | Content::Object(_) => return None,
        };
        let line = text.trim().strip_prefix('/')?;
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_clear = name == CLEAR || ALIASES.contains(&name);
        let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        is_clear.then_some(Self::Clear(rest))
    }
}

impl Engine {
    /// The commands, as `initialize` tells of them.
    pub(super) fn slash_commands(&self) -> Vec<SlashCommand> {
        if self.config.prompt.no_commands {
            return Vec::new();
        }
        vec![SlashCommand {
            name: Text::from_static(CLEAR),
            description: Some(Text::from_static(
                "Begin anew with an empty conversation; the old one is kept and can be resumed",
            )),
            argument_hint: Some(OneOrMany::One(Text::from_static("[name]"))),
            aliases: Some(ALIASES.iter().copied().map(Text::from_static).collect()),
            builtin: Some(true),
            extra: Default::default(),
        }]
    }

    /// Carries out a command in place of a turn.
    pub(super) fn command(&mut self, prompt: &Prompt, command: Command) {
        let ids = prompt.uuid.iter().cloned().collect();
        self.running = Some(Running::new(ids, TurnOptions::default()));
        if let Some(id) = &prompt.uuid {
            let line = self.lines().lifecycle(id, "started");
            self.send(line);
        }
        self.note_state();
        self.record_taken(1);
        let is_blank = command == Command::Blank;
        if let Command::Clear(title) = command {
            self.clear(prompt);
            if let Some(title) = title {
                self.rename(&title.into());
            }
        }
        let init = self.init_line();
        self.send(init);
        if is_blank {
            let line = self.lines().warning(BLANK);
            self.send(line);
        }
        let Some(mut running) = self.running.take() else {
            return;
        };
        let line = TurnResult {
            num_turns: Some(0),
            stop_reason: Nullable::<StopReason>::Null,
            terminal_reason: None,
            api_error_status: Nullable::Absent,
            result: Nullable::Value(TextOrJson::Text(Text::from_static(if is_blank {
                BLANK
            } else {
                ""
            }))),
            local_command: (!is_blank).then_some(Text::from_static(CLEAR)),
            ..self.result_line(&mut running, &Ending::Completed)
        };
        self.failed = false;
        self.results += 1;
        self.send(ToHost::Result(Box::new(line)));
        if let Some(id) = &prompt.uuid {
            let line = self.lines().lifecycle(id, "completed");
            self.send(line);
        }
    }

    /// Begins a new session in place of this one: other id, other transcript, nothing said, nothing read, nothing spent.
    /// Rules, mode and what runs in the background stay.
    fn clear(&mut self, prompt: &Prompt) {
        let reset = new_uuid();
        self.send(ToHost::ConversationReset(Box::new(ConversationReset {
            new_conversation_id: Some(reset.clone()),
            uuid: Some(reset),
            trigger: Some(Text::from_static(CLEAR)),
            user_message_uuid: Some(prompt.uuid.clone().unwrap_or_else(new_uuid)),
            timestamp: Some(timestamp()),
            session_id: Some(self.session.id.clone()),
            extra: Default::default(),
        })));
        self.tell_tasks();
        self.session.id = new_uuid().as_str().into();
        self.session.history = History::default();
        self.session.plan_told = None;
        self.session.costs = Costs::default();
        self.side_usage = SideUsage::default();
        self.session.api_duration = std::time::Duration::ZERO;
        self.session.title = None;
        self.lists = Lists::default();
        self.files = FilesRead::default();
        self.agents.forget_introduction();
        match Scribe::start(&self.config, &self.session, None) {
            Ok(scribe) => self.scribe = scribe,
            Err(error) => {
                let words = format!("the new session cannot be kept: {error}");
                let line = self.lines().informational(&words);
                self.send(line);
                self.scribe.writer = None;
            }
        }
    }
}

const CLEAR: &str = "clear";
/// Hosts know this text from CLI 2.1.325.
const BLANK: &str =
    "Blank prompt — the message was only whitespace, so nothing was sent to the model.";
/// Other names, as CLI 2.1.325 has them.
const ALIASES: &[&str] = &["reset", "new"];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use towline_protocol::{User, Wire as _};

    use super::{super::inbox::Inbox, *};

    /// The command in a user line with these fields.
    fn check(content: &Value, more: &Value) -> Option<Command> {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": content}});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let mut inbox = Inbox::default();
        inbox.take(&User::from_json(line.to_string()).unwrap(), 1);
        Command::of(&inbox.next_batch()[0])
    }

    #[test]
    fn only_what_is_exactly_a_command_is_one() {
        let clear = |title: Option<&str>| Some(Command::Clear(title.map(ToOwned::to_owned)));
        for (content, expected) in [
            (json!("/clear"), clear(None)),
            (json!(" /clear \n"), clear(None)),
            (json!("/new"), clear(None)),
            (json!("/reset my next one"), clear(Some("my next one"))),
            (json!([{"type": "text", "text": "/clear"}]), clear(None)),
            (json!("/clearly"), None),
            (json!("please /clear"), None),
            (json!("//clear"), None),
            (json!("/"), None),
            (json!("/CLEAR"), None),
            (json!(" \n"), Some(Command::Blank)),
            (json!([{"type": "text", "text": " "}]), None),
            (json!(""), None),
            (json!([]), None),
            (
                json!([{"type": "text", "text": "/clear"}, {"type": "text", "text": "x"}]),
                None,
            ),
        ] {
            assert_eq!(check(&content, &json!({})), expected, "{content}");
        }
        for more in [
            json!({"shouldQuery": false}),
            json!({"client_composed": true}),
        ] {
            assert_eq!(check(&json!("/clear"), &more), None, "{more}");
        }
    }

    #[test]
    fn a_command_is_not_merged_with_what_waits_around_it() {
        let mut inbox = Inbox::default();
        for text in ["one", "two", "/clear", "/clear", "three"] {
            inbox.take(&User::say(text), 1);
        }
        let mut batches = Vec::new();
        while !inbox.is_empty() {
            batches.push(inbox.next_batch().len());
        }
        assert_eq!(batches, [2, 1, 1, 1]);
    }
}
