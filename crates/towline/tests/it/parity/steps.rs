//! What happens in a conversation, in order: what the host does, and what it waits for before (pure).

use super::{
    recording::{Recording, Row},
    script::Told,
    setup::{Setup, Signal},
};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The agent says a line of this kind. Whatever is done later waits for it.
    Hear(String),
    /// The API is waiting at this gate.
    Held(String),
    /// The API may go on.
    Release(String),
    /// The host says this, with an end of line or without.
    Say(String),
    SayUnterminated(String),
    /// The host closes its input.
    Close,
    Signal(Signal),
}

/// The steps of a conversation with these replies. Without any, a script made by hand may have a gate `open`.
pub(crate) fn steps(recording: &Recording, replies: &[Told], setup: &Setup) -> Vec<Step> {
    let mut plan = Plan {
        recording,
        replies,
        has_open_gate: setup
            .script
            .as_ref()
            .is_some_and(|script| script.contains("hold = \"open\"")),
        steps: setup.first.iter().cloned().map(Step::Say).collect(),
    };
    let last = recording.rows.len();
    let (mut heard, mut is_closed) = (0, setup.close_after == Some(0));
    if is_closed {
        plan.steps.push(Step::Close);
    }
    for (index, row) in recording.rows.iter().enumerate() {
        let is_last = !recording.rows[index + 1..]
            .iter()
            .any(|row| matches!(row, Row::Host(_)));
        for told in replies {
            if told.first == index && !told.is_aborted {
                plan.steps.push(Step::Release(told.gate.clone()));
            }
        }
        match row {
            Row::Host(text) => {
                plan.held(index);
                plan.steps.push(if setup.unterminated && is_last {
                    Step::SayUnterminated(text.clone())
                } else {
                    Step::Say(text.clone())
                });
                // Without its end the line counts only once there is nothing to come.
                if setup.unterminated && is_last {
                    plan.steps.push(Step::Close);
                    is_closed = true;
                }
            }
            Row::Agent(line) => {
                plan.steps.push(Step::Hear(line.kind.clone()));
                heard += 1;
            }
        }
        if let Some(signal) = setup.signal.as_ref().filter(|signal| signal.after == heard)
            && matches!(row, Row::Agent(_))
        {
            plan.held(index + 1);
            plan.steps.push(Step::Signal(signal.name));
        }
        if setup.close_after == Some(heard) && is_last && !is_closed {
            plan.held(index + 1);
            plan.steps.push(Step::Close);
            is_closed = true;
        }
    }
    if !is_closed {
        plan.held(last);
        plan.steps.push(Step::Close);
    }
    plan.steps
}

struct Plan<'a> {
    recording: &'a Recording,
    replies: &'a [Told],
    has_open_gate: bool,
    steps: Vec<Step>,
}

impl Plan<'_> {
    /// In the middle of a stream, whatever the host does waits until the API has said all that it will say.
    fn held(&mut self, index: usize) {
        let begun = self.recording.rows[..index]
            .iter()
            .rposition(|row| matches!(row, Row::Agent(line) if line.kind == "system/init"));
        let ended = self.recording.rows[..index]
            .iter()
            .rposition(|row| matches!(row, Row::Agent(line) if line.kind.starts_with("result")));
        if begun.is_none() || begun < ended {
            return;
        }
        let aborted = self
            .replies
            .iter()
            .find(|told| told.is_aborted && Some(told.last) > begun && (index <= told.last));
        let gate = aborted.map(|told| told.gate.clone());
        let open = self.has_open_gate.then(|| "open".to_owned());
        self.steps.extend(gate.or(open).map(Step::Held));
    }
}

#[cfg(test)]
mod tests {
    use super::{super::script::replies, Recording, Setup, Step, steps};

    /// The steps in short.
    fn check(name: &str, setup: &Setup) -> Vec<String> {
        let recording = Recording::read(name);
        let steps = steps(&recording, &replies(&recording), setup);
        let steps = steps.iter().map(|step| match step {
            Step::Say(_) => "say".to_owned(),
            Step::SayUnterminated(_) => "say unterminated".to_owned(),
            Step::Hear(kind) => kind.clone(),
            Step::Held(gate) => format!("held {gate}"),
            Step::Release(gate) => format!("release {gate}"),
            Step::Close => "close".to_owned(),
            Step::Signal(_) => "signal".to_owned(),
        });
        steps.collect()
    }

    #[test]
    fn a_reply_waits_until_all_before_it_has_happened() {
        assert_eq!(
            check("control-02c_queue", &Setup::default())[..12],
            [
                "say",
                "command_lifecycle",
                "command_lifecycle",
                "system/init",
                "say",
                "say",
                "say",
                "command_lifecycle",
                "command_lifecycle",
                "command_lifecycle",
                "release reply-0",
                "assistant",
            ]
        );
    }

    #[test]
    fn the_host_interrupts_once_the_stream_has_come_to_its_gate() {
        let steps = check("control-05g_interrupt_cancel_queued", &Setup::default());
        let interrupt = [
            "system/init",
            "held reply-0",
            "say",
            "held reply-0",
            "say",
            "command_lifecycle",
            "held reply-0",
            "say",
        ];
        assert_eq!(steps[1..9], interrupt);
        assert_eq!(steps.last().unwrap(), "close");
    }

    #[test]
    fn the_input_is_closed_where_the_host_closed_it() {
        let setup = Setup {
            close_after: Some(1),
            ..Setup::default()
        };
        assert_eq!(
            check("control-09i_stdin_close_midstream", &setup),
            [
                "say",
                "system/init",
                "close",
                "release reply-0",
                "assistant",
                "result/success"
            ]
        );
    }
}
