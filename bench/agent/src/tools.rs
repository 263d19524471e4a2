//! A turn with many tool calls, one after the other: a file is read, a command is run, and so on.

use std::{fs, path::Path, time::Instant};

use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script, ScriptApi};

use crate::{
    Result,
    room::Room,
    verdict::{Pair, Runs},
};

/// How many calls the turn has.
pub const CALLS: usize = 100;

/// Milliseconds from the prompt to the result, in a process that has had a turn before.
pub async fn measure(rooms: &Pair<Room>, rounds: usize) -> Result<Pair<f64>> {
    let mut apis = Vec::new();
    for room in rooms.each_room() {
        apis.push(ScriptApi::start(script(&room.project()?)?).await?);
    }
    let mut times = Runs::default();
    for round in 0..=rounds {
        for (place, (room, api)) in rooms.each_room().into_iter().zip(&apis).enumerate() {
            let time = once(room, api).await?;
            if round > 0 {
                times.add(place, time);
            }
        }
    }
    Ok(times.medians())
}

async fn once(room: &Room, api: &ScriptApi) -> Result<f64> {
    api.reset();
    let mut agent = room.start(api, &["--allowedTools", "Read,Bash(echo:*)"])?;
    agent.say("Say hello.").await?;
    agent.turn().await?;
    let begin = Instant::now();
    agent.say("Look around.").await?;
    let lines = agent.turn().await?;
    let time = begin.elapsed();
    agent.end().await?;
    check(&lines).map_err(|what| format!("{}: {what}", room.name))?;
    Ok(time.as_secs_f64() * 1e3)
}

/// A greeting for the first turn, then a call a step. Each file is another one, so that none was read before.
fn script(project: &Path) -> Result<Script> {
    let mut replies = vec![Reply::text("Good day.")];
    for number in 0..CALLS {
        let reply = Reply::message();
        replies.push(if number % 2 == 0 {
            let file = project.join(format!("{number}.txt"));
            fs::write(&file, format!("{}\n", mark(number)))?;
            reply.tool("Read", json!({"file_path": file}))
        } else {
            reply.tool(
                "Bash",
                json!({"command": format!("echo '{}'", mark(number))}),
            )
        });
    }
    replies.push(Reply::text("That is all."));
    Ok(Script::new(replies))
}

/// Whether each call gave what it should, in order.
fn check(lines: &[Value]) -> std::result::Result<(), String> {
    let results = lines
        .iter()
        .filter(|line| line["type"] == "user")
        .map(|line| &line["message"]["content"][0])
        .filter(|block| block["type"] == "tool_result");
    let mut count = 0;
    for result in results {
        if result["is_error"] == true || !result.to_string().contains(&mark(count)) {
            return Err(format!("call {count} gave {result}"));
        }
        count += 1;
    }
    match count {
        CALLS => Ok(()),
        _ => Err(format!("{count} of {CALLS} calls were made")),
    }
}

/// What only the result of this call holds.
fn mark(number: usize) -> String {
    format!("the words of call {number} end here")
}
