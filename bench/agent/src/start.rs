//! How long it takes from the start of the process to the first request, and how much memory a short session needs.

use towline_testkit::script_api::{Reply, Script, ScriptApi};

use crate::{
    Result,
    room::Room,
    verdict::{Pair, Runs},
};

/// What starts take.
pub struct Starts {
    pub milliseconds: Pair<f64>,
    pub megabytes: Pair<f64>,
}

/// One run is not counted: the first one in a home sets it up.
pub async fn measure(rooms: &Pair<Room>, rounds: usize) -> Result<Starts> {
    let api = ScriptApi::start(Script::new([Reply::text("Good day.")])).await?;
    let mut times = Runs::default();
    let mut peaks = Runs::default();
    for round in 0..=rounds {
        for (place, room) in rooms.each_room().into_iter().enumerate() {
            let (time, peak) = once(room, &api, &[]).await?;
            if round > 0 {
                times.add(place, time);
                peaks.add(place, peak);
            }
        }
    }
    Ok(Starts {
        milliseconds: times.medians(),
        megabytes: peaks.medians(),
    })
}

/// Starts an agent and says a word at once: the milliseconds to its first request, and its peak in megabytes when it has
/// answered. The script must have one reply.
pub async fn once(room: &Room, api: &ScriptApi, flags: &[&str]) -> Result<(f64, f64)> {
    api.reset();
    let mut agent = room.start(api, flags)?;
    agent.say("Say hello.").await?;
    api.wait_for_requests(1).await?;
    let time = agent.began.elapsed();
    agent.turn().await?;
    let peak = agent.peak_megabytes()?;
    agent.end().await?;
    Ok((time.as_secs_f64() * 1e3, peak))
}
