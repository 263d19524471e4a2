//! What a turn costs as a conversation grows: processor time of the agent around an early and a late turn.

use std::ops::RangeInclusive;

use towline_testkit::script_api::{Reply, Script, ScriptApi};

use crate::{
    Result,
    room::Room,
    verdict::{Pair, Verdict},
};

/// The late turn.
pub const LATE: usize = 500;
const EARLY: usize = 10;
/// How many turns around one are taken together: the system counts coarsely.
const AROUND: usize = 5;

/// What turns cost.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    early: Cost,
    late: Cost,
}

/// What a turn costs.
#[derive(Clone, Copy, Debug)]
struct Cost {
    milliseconds: f64,
    /// The request that goes with it.
    kilobytes: f64,
}

pub async fn measure(room: &Room) -> Result<Growth> {
    let script = Script::new([Reply::text(ANSWER).forever()]);
    let api = ScriptApi::start(script).await?;
    let mut agent = room.start(&api, &[])?;
    let mut used = Vec::with_capacity(LATE + AROUND);
    for turn in 1..=LATE + AROUND {
        agent.say(&format!("{PROMPT} {turn}")).await?;
        agent.turn().await?;
        used.push(agent.processor_milliseconds()?);
    }
    agent.end().await?;
    let sizes: Vec<f64> = api
        .requests()
        .iter()
        .filter_map(|request| request.headers.get("content-length")?.parse().ok())
        .collect();
    if sizes.len() != used.len() {
        return Err(format!(
            "{}: {} requests in {} turns",
            room.name,
            sizes.len(),
            used.len()
        )
        .into());
    }
    let cost = |turns: RangeInclusive<usize>| Cost {
        // The turn before the first one ended where these begin.
        milliseconds: (used[turns.end() - 1] - used[turns.start() - 2])
            / turns.clone().count() as f64,
        kilobytes: sizes[turns.start() + AROUND - 1] / 1e3,
    };
    Ok(Growth {
        early: cost(EARLY - AROUND..=EARLY + AROUND),
        late: cost(LATE - AROUND..=LATE + AROUND),
    })
}

impl Pair<Growth> {
    pub fn judge(self, verdict: &mut Verdict) {
        let pair = |of: fn(Growth) -> f64| Pair {
            real: of(self.real),
            ours: of(self.ours),
        };
        verdict.show(
            &format!("processor time of turn {EARLY}, ms"),
            pair(|growth| growth.early.milliseconds),
        );
        verdict.show(
            &format!("processor time of turn {LATE}, ms"),
            pair(|growth| growth.late.milliseconds),
        );
        verdict.show(
            &format!("request of turn {EARLY}, KB"),
            pair(|growth| growth.early.kilobytes),
        );
        verdict.show(
            &format!("request of turn {LATE}, KB"),
            pair(|growth| growth.late.kilobytes),
        );
        let Growth { early, late } = self.ours;
        let more = late.milliseconds - early.milliseconds;
        let bytes = (late.kilobytes - early.kilobytes) * 1e3;
        let for_a_byte = more * 1e6 / bytes;
        println!(
            "a turn of ours: {:.2} ms at {EARLY}, {:.2} ms at {LATE}, {:.2} times as much",
            early.milliseconds,
            late.milliseconds,
            late.milliseconds / early.milliseconds
        );
        verdict.require(
            &format!("{for_a_byte:.1} ns for each byte that the request has grown, at most {NANOSECONDS_A_BYTE}"),
            for_a_byte <= NANOSECONDS_A_BYTE,
        );
    }
}

/// What it takes to write a byte and to send it, and not to look at it again.
const NANOSECONDS_A_BYTE: f64 = 10.0;
const PROMPT: &str =
    "Tell me something about the sea and the ships on it, in a sentence or two. This is prompt";
const ANSWER: &str = "The sea is wide and the ships on it are small; each of them goes where the wind and its captain \
                      want, and now and then two of them meet.";
