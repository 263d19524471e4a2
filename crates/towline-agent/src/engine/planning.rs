//! Whether it is a time to plan, told to the model: once when that begins, and once when it is over.

use serde_json::json;
use towline_protocol::{Json, PermissionMode};

use super::{Engine, running::text_block};
use crate::transcript::happenings::Attachment;

impl Engine {
    /// Tells the model what has changed since it was last told. It stands in the transcript as an attachment (CLI 2.1.325
    /// has `plan_mode` there), so that a session that goes on knows what was said.
    pub(super) fn tell_planning(&mut self) {
        let rules = self.plan_rules();
        if rules == self.session.plan_told {
            return;
        }
        let kind = match &rules {
            Some(_) => json!({"type": "plan_mode", "reminderType": "full", "isSubAgent": false}),
            None => json!({"type": "plan_mode_exit"}),
        };
        let text = rules.clone().unwrap_or_else(|| reminder(OVER));
        self.session.plan_told = rules;
        self.session.history.push_user([text_block(&text)]);
        if let Ok(attachment) = Json::of(&kind) {
            self.record_attachment(Attachment {
                attachment,
                rendered: Some(text),
            });
        }
    }

    /// How to plan; nothing while that is not wanted.
    fn plan_rules(&self) -> Option<String> {
        if *self.session.mode() != PermissionMode::Plan {
            return None;
        }
        let way_out = match self.offered("ExitPlanMode") {
            true => SHOW,
            false => ANSWER,
        };
        let wishes = self.session.plan_instructions.as_deref();
        let wishes = wishes.map(str::trim).filter(|text| !text.is_empty());
        let parts = [Some(RULES), Some(way_out), wishes];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        Some(reminder(&parts.join("\n\n")))
    }
}

fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}

const RULES: &str = "Plan mode is on: the person wants to see a plan before anything is changed. Until that is over, change \
                     nothing. Edit and create no files, run no command that changes files, settings or anything outside \
                     of this machine, whatever you were told before. Read, search and think instead, and ask where a \
                     choice is the person's.";
const SHOW: &str = "When the plan is complete, call ExitPlanMode with it: what will be changed, where, in which order, and how \
                    it will be checked. The person approves it or says what is missing.";
const ANSWER: &str = "When the plan is complete, give it as your answer: what is to be changed, where, in which order, and how \
                      to check it. Nobody can approve it in this session, so it ends there.";
// Without the words that begin it: who looks for those must not find them here.
const OVER: &str = "Planning is over: from now on you may change files and run commands again, as far as the permissions of \
                    this session go.";
