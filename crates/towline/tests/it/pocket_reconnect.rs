//! A connection that drops in the middle: nothing is lost, nothing comes twice, and what is being written goes on.

use serde_json::{Value, json};

use crate::serve::{Client, Served};

/// What a client puts together from what it hears, as the app does: numbered messages by number, deltas in order.
#[derive(Default)]
struct Screen {
    numbered: Vec<(u64, String)>,
    /// What was streamed since the last whole message.
    streaming: String,
    /// What was streamed of each message that came whole behind it.
    streamed: Vec<(String, String)>,
    is_over: bool,
}

impl Screen {
    fn see(&mut self, message: &Value) {
        match message["type"].as_str().unwrap() {
            "history_delta" => {
                for numbered in message["messages"].as_array().unwrap() {
                    self.see(&numbered["message"]);
                }
                return;
            }
            "stream_delta" => {
                let offset = message["offset"].as_u64().unwrap();
                let known = self.streaming.encode_utf16().count() as u64;
                assert_eq!(offset, known, "a piece that does not follow: {message}");
                self.streaming.push_str(message["text"].as_str().unwrap());
            }
            "assistant" => {
                let whole = message["message"]["content"][0]["text"]
                    .as_str()
                    .unwrap_or_default();
                let streamed = std::mem::take(&mut self.streaming);
                self.streamed.push((streamed, whole.to_owned()));
            }
            "result" => self.is_over = true,
            _ => {}
        }
        if let Some(seq) = message["historySeq"].as_u64() {
            self.numbered
                .push((seq, message["type"].as_str().unwrap().to_owned()));
        }
    }

    fn last(&self) -> u64 {
        self.numbered.last().map_or(0, |(seq, _)| *seq)
    }
}

fn begin(bridge: &Served) -> (Client, String) {
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    client
        .say(&json!({"type": "start", "projectPath": "$PROJECT", "permissionMode": "acceptEdits"}));
    client.expect(&[
        json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
        json!({"type": "status", "status": "idle"}),
    ]);
    let session = client.name("S");
    (client, session)
}

#[test]
fn a_client_that_drops_in_the_middle_of_a_stream_comes_back_and_loses_nothing() {
    let bridge = Served::start();
    std::fs::write(bridge.project().join("long.txt"), "Grüße 😀 ".repeat(140)).unwrap();
    let (mut client, session) = begin(&bridge);
    client.say(&json!({"type": "input", "text": "read long.txt", "sessionId": "$S"}));
    let mut screen = Screen::default();
    let mut drops = 0;
    while !screen.is_over {
        let message = client.hear();
        screen.see(&message);
        // In the middle of the long answer, thrice.
        let is_long = screen.streaming.len() > 200 * (drops + 1);
        if message["type"] == "stream_delta" && is_long && drops < 3 {
            drops += 1;
            drop(client);
            client = bridge.client();
            // What was streamed is not known to be whole, so the app begins the message anew.
            let before = std::mem::take(&mut screen.streaming);
            let since = screen.last();
            client.say(
                &json!({"type": "get_history_delta", "sessionId": session, "sinceSeq": since}),
            );
            loop {
                let message = client.hear();
                screen.see(&message);
                let caught_up = screen.streaming.len() >= before.len() || screen.is_over;
                if message["type"] == "assistant" || caught_up {
                    break;
                }
            }
            if !screen.streaming.is_empty() {
                assert!(
                    screen.streaming.starts_with(&before),
                    "the partial message goes on"
                );
            }
        }
    }
    assert_eq!(drops, 3, "the answer was too short to be cut thrice");
    let last = screen.last();
    let mut numbers: Vec<_> = screen.numbered.iter().map(|(seq, _)| *seq).collect();
    let before = numbers.len();
    numbers.dedup();
    assert_eq!(numbers.len(), before, "none twice: {:?}", screen.numbered);
    let whole = screen
        .streamed
        .iter()
        .filter(|(streamed, _)| !streamed.is_empty());
    let mut compared = 0;
    for (streamed, whole) in whole {
        assert_eq!(streamed, whole, "what was streamed is what came");
        compared += 1;
    }
    assert!(compared > 0);

    // The same as somebody who was there all the time would have.
    let mut other = bridge.client();
    other.say(&json!({"type": "get_history_delta", "sessionId": session, "sinceSeq": 0}));
    let heard = other.expect(&[json!({"type": "history_delta"})]);
    let mut all = Screen::default();
    all.see(heard.last().unwrap());
    // The first is what the client said itself and was not told again.
    assert_eq!(all.numbered[0], (1, "user_input".to_owned()));
    assert_eq!(screen.numbered, all.numbered[1..]);
    assert_eq!(all.last(), last);
}

#[test]
fn the_same_input_sent_twice_runs_once_even_over_another_connection_and_a_restart() {
    let bridge = Served::start();
    let (mut client, session) = begin(&bridge);
    let input = json!({"type": "input", "text": "write once.txt: x then read once.txt", "sessionId": session,
                       "clientMessageId": "again"});
    client.say(&input);
    client.say(&input);
    let ack = json!({"type": "input_ack", "clientMessageId": "again", "acceptedSeq": 1});
    client.expect(&[
        ack.clone(),
        ack.clone(),
        json!({"type": "result"}),
        json!({"type": "status", "status": "idle"}),
    ]);
    drop(client);

    let mut client = bridge.client();
    client.say(&input);
    client.expect(std::slice::from_ref(&ack));
    drop(client);

    let bridge = Served::with(bridge.end(), |command| {
        command.args(["--agent", "offline"]);
    });
    let mut client = bridge.client();
    client.say(&input);
    client.expect(&[ack]);
    client.say(&json!({"type": "get_history", "sessionId": session}));
    let heard = client.expect(&[json!({"type": "history"})]);
    let history = heard.last().unwrap()["messages"].as_array().unwrap();
    let count = |kind: &str| {
        history
            .iter()
            .filter(|message| message["type"] == kind)
            .count()
    };
    assert_eq!(
        (count("user_input"), count("result")),
        (1, 1),
        "{history:#?}"
    );
}

#[test]
fn a_session_goes_on_after_a_restart_of_the_bridge() {
    let bridge = Served::start();
    let (mut client, session) = begin(&bridge);
    client.say(&json!({"type": "input", "text": "think one", "sessionId": "$S"}));
    client.expect(&[
        json!({"type": "system", "subtype": "init", "claudeSessionId": "$AGENT"}),
        json!({"type": "status", "status": "idle"}),
    ]);
    let agent = client.name("AGENT");
    drop(client);
    let bridge = Served::with(bridge.end(), |command| {
        command.args(["--agent", "offline"]);
    });
    let mut client = bridge.client();
    client.set_name("AGENT", agent);
    client.expect(&[json!({"type": "session_list", "sessions": [{"id": session}]})]);
    client.say(&json!({"type": "input", "text": "think two", "sessionId": session}));
    let heard = client.expect(&[
        json!({"type": "system", "subtype": "init", "claudeSessionId": "$AGENT"}),
        json!({"type": "result", "subtype": "success"}),
    ]);
    // What the bridge's own inputs left in the transcript is not taken for something said elsewhere.
    let elsewhere = heard
        .iter()
        .find(|message| message["subtype"] == "continued_elsewhere");
    assert_eq!(elsewhere, None, "{heard:#?}");
}

#[test]
fn a_connection_can_be_limited_to_one_session() {
    let bridge = Served::start();
    let (mut client, session) = begin(&bridge);
    let mut only = bridge.connect(&format!("/ws?session={session}")).unwrap();
    only.expect(&[
        json!({"type": "session_list", "sessions": [{"id": session}]}),
        json!({"type": "status", "sessionId": session}),
    ]);
    client.say(&json!({"type": "start", "projectPath": "$PROJECT"}));
    client
        .expect(&[json!({"type": "system", "subtype": "session_created", "sessionId": "$OTHER"})]);
    client.say(&json!({"type": "input", "text": "think other", "sessionId": "$OTHER"}));
    client.expect(&[json!({"type": "result", "sessionId": "$OTHER"})]);
    client.say(&json!({"type": "input", "text": "think mine", "sessionId": "$S"}));
    let heard = only.expect(&[json!({"type": "result", "sessionId": session})]);
    for message in &heard {
        let of = message["sessionId"].as_str();
        assert!(of.is_none_or(|of| of == session), "{message}");
    }
    only.say(&json!({"type": "start", "projectPath": "/"}));
    only.expect(&[json!({"type": "error", "message": "~this connection is for session"})]);
}
