//! The permission mode: what the agent says it is, whoever changed it. An approved plan changes it without anybody asking.

use towline_protocol::PermissionMode;

use crate::{NoteCode, hub::Change};

use super::Session;

impl Session {
    /// The agent says which mode it is in at the beginning of a turn.
    pub(super) fn begins_in_mode(&mut self, mode: &PermissionMode, now: u64) {
        if self.record.permission_mode.is_none() {
            // Nobody chose one: this is what its settings say, and no change.
            self.keep_mode(mode);
        } else {
            self.says_mode(mode, now);
        }
    }

    /// The agent says that its mode has changed. What it was asked before that is done, and told by this.
    pub(super) fn says_mode(&mut self, mode: &PermissionMode, now: u64) {
        let asked = &mut self.modes_asked;
        let place = asked.iter().position(|asked| is_same(asked, mode));
        asked.drain(..place.map_or(asked.len(), |place| place + 1));
        self.mode_is(mode, now);
    }

    /// The agent, or the bridge while there is none, has done what it was told to.
    pub(super) fn change(&mut self, change: Change, now: u64) {
        match change {
            Change::Mode(mode) => self.mode_is(&mode, now),
            Change::Model(model) => {
                let name = model.as_deref().unwrap_or("default");
                self.note(NoteCode::ModelChanged, name, now);
                self.setup.model.clone_from(&model);
                self.record.model = model;
                self.is_changed = true;
            }
        }
    }

    /// An agent has done what it was told to. If it has since said which mode it is in, that counts.
    pub(super) fn changed(&mut self, change: Change, now: u64) {
        if let Change::Mode(mode) = &change {
            let place = self.modes_asked.iter().position(|asked| asked == mode);
            let Some(place) = place else {
                return;
            };
            self.modes_asked.remove(place);
        }
        self.change(change, now);
    }

    fn mode_is(&mut self, mode: &PermissionMode, now: u64) {
        let known = self.record.permission_mode.as_ref();
        if known.is_some_and(|known| is_same(known, mode)) {
            return;
        }
        self.keep_mode(mode);
        self.note(NoteCode::ModeChanged, mode.as_str(), now);
    }

    fn keep_mode(&mut self, mode: &PermissionMode) {
        // Not a part of the agent's line, which would be kept with it.
        let mode = PermissionMode::from(mode.as_str());
        self.setup.permission_mode = Some(mode.clone());
        self.record.permission_mode = Some(mode);
        self.is_changed = true;
    }
}

/// Two of them are one by two names.
fn is_same(one: &PermissionMode, other: &PermissionMode) -> bool {
    let plain = |mode: &PermissionMode| match mode {
        PermissionMode::Manual => PermissionMode::Default,
        mode => mode.clone(),
    };
    plain(one) == plain(other)
}
