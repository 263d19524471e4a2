//! How long it takes to go on with a large session: from the start of the process to the first request.

use std::fs::OpenOptions;

use towline_store::Home;
use towline_testkit::script_api::{Options, Reply, Script, ScriptApi};

use crate::{
    Result, past,
    room::Room,
    start::{Starts, once},
    verdict::{Pair, Runs},
};

/// Both go on with the same records, which differ in nothing but the folder that they name.
pub async fn measure(rooms: &Pair<Room>, rounds: usize, megabytes: usize) -> Result<Starts> {
    let options = Options {
        body_limit: LARGEST_REQUEST,
        keep_bytes: LARGEST_REQUEST,
        ..Options::default()
    };
    let script = Script::new([Reply::text("Good day.")]);
    let api = ScriptApi::start_with(script, options).await?;
    let mut files = Vec::new();
    for room in rooms.each_room() {
        let project = room.project()?;
        let session = Home::new(room.config()).session_in(&project, past::SESSION.parse()?);
        let length = past::write(session.path(), &project, megabytes)?;
        files.push((session.path().to_owned(), length));
    }
    let mut times = Runs::default();
    let mut peaks = Runs::default();
    let mut sent = [0; 2];
    for round in 0..=rounds {
        for (place, room) in rooms.each_room().into_iter().enumerate() {
            let (time, peak) = once(room, &api, &["--resume", past::SESSION]).await?;
            let request = &api.requests()[0];
            let messages = request.body()["messages"].as_array().map_or(0, Vec::len);
            sent[place] = messages;
            if round == 0 {
                let size = request
                    .headers
                    .get("content-length")
                    .map_or("?", String::as_str);
                println!(
                    "{} resumes with a request of {size} bytes, {messages} messages",
                    room.name
                );
            } else {
                times.add(place, time);
                peaks.add(place, peak);
            }
            // What the run has added is taken away again.
            let (path, length) = &files[place];
            OpenOptions::new()
                .write(true)
                .open(path)?
                .set_len(*length)?;
        }
    }
    // Each may add a few words of its own.
    let [real, ours] = sent;
    if ours.abs_diff(real) > OWN_MESSAGES {
        return Err(format!("ours went on with {ours} messages, the real CLI with {real}").into());
    }
    Ok(Starts {
        milliseconds: times.medians(),
        megabytes: peaks.medians(),
    })
}

const LARGEST_REQUEST: usize = 512 << 20;
const OWN_MESSAGES: usize = 10;
