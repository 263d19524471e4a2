//! A [`PermissionUpdate`] applied to a [`Policy`].

use towline_protocol::{
    Behavior, Destination, PermissionMode, PermissionUpdate, RuleValue, UpdateKind, Wire,
};

use crate::{path, policy::Policy, rule::Rule};

/// Why an update did nothing, or not all of it.
///
/// The real CLI drops all of these in silence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Dropped {
    /// A hint for a person (document 000).
    #[error("it is a hint and changes nothing")]
    Hint,
    /// It does not say where it is to be kept.
    #[error("`destination` is missing")]
    NoDestination,
    /// It is to be kept where nothing can be changed.
    #[error("`{0}` cannot be changed")]
    BadDestination(Destination),
    /// What it does is unknown.
    #[error("there is no update `{0}`")]
    UnknownKind(UpdateKind),
    /// Rules without what they say, or with something that rules cannot say.
    #[error("`behavior` must be allow, deny or ask")]
    BadBehavior,
    /// An update of rules without rules.
    #[error("`rules` is missing")]
    NoRules,
    /// An update of directories without directories.
    #[error("`directories` is missing")]
    NoDirectories,
    /// There is no such mode.
    #[error("there is no such mode")]
    UnknownMode,
    /// The session was not started so that it may be bypassed.
    #[error("`bypassPermissions` must have been enabled when the session was started")]
    BypassNotLaunched,
    /// In a form that the real CLI does not understand, it would allow more here than there.
    #[error("write the rule as `{{\"toolName\": …}}` inside `rules`: the real CLI drops this form")]
    ForeignForm,
    /// Only the organisation's own rules may allow something.
    #[error("the policy of the organisation lets its own rules alone allow something")]
    OnlyManagedRules,
    /// `clearRules` takes away what is allowed; what is denied or asked about stays.
    #[error("rules that deny or ask are not cleared")]
    NotCleared,
}

impl Policy {
    /// Changes the policy as an update says, at once and whatever its destination; keeping it is the caller's business
    /// ([`Settings::write`](crate::Settings::write)).
    ///
    /// ```
    /// use towline_permission::{Dropped, PermissionMode, Places, Policy, PermissionUpdate, Destination};
    ///
    /// let mut policy = Policy::new(PermissionMode::Default, Places::default());
    /// let mode = |mode| PermissionUpdate::set_mode(mode, Destination::Session);
    /// policy.apply(&mode(PermissionMode::AcceptEdits))?;
    /// assert_eq!(policy.mode, PermissionMode::AcceptEdits);
    /// assert_eq!(policy.apply(&mode(PermissionMode::BypassPermissions)), Err(Dropped::BypassNotLaunched));
    /// # Ok::<(), Dropped>(())
    /// ```
    ///
    /// # Errors
    /// When the update, or part of it, changed nothing.
    pub fn apply(&mut self, update: &PermissionUpdate) -> Result<(), Dropped> {
        let as_written = update;
        let update = update.standard().ok_or(Dropped::Hint)?;
        let kind = update.kind.as_ref().ok_or(Dropped::Hint)?;
        let destination = changeable(update.destination.as_ref())?;
        match kind {
            UpdateKind::AddRules | UpdateKind::ReplaceRules | UpdateKind::RemoveRules => {
                self.change_rules(&update, as_written, kind, destination)
            }
            UpdateKind::ClearRules => self.clear_rules(destination),
            UpdateKind::SetMode => self.set_mode(update.mode.as_ref().ok_or(Dropped::UnknownMode)?),
            UpdateKind::AddDirectories | UpdateKind::RemoveDirectories => {
                let directories = update.directories.as_ref().ok_or(Dropped::NoDirectories)?;
                for directory in directories {
                    let path = path::absolute(directory, &self.places.project, &self.places.home);
                    match kind {
                        UpdateKind::AddDirectories => self.add_directory(path, destination.clone()),
                        _ => self.remove_directory(&path, destination),
                    }
                }
                Ok(())
            }
            other => Err(Dropped::UnknownKind(other.clone())),
        }
    }

    /// Changes the mode, as a person or a host asks for.
    ///
    /// # Errors
    /// When there is no such mode, or it was not made possible when the session was started. Then it stays.
    pub fn set_mode(&mut self, mode: &PermissionMode) -> Result<(), Dropped> {
        match mode {
            PermissionMode::Unknown(_) => return Err(Dropped::UnknownMode),
            PermissionMode::BypassPermissions if !self.may_bypass => {
                return Err(Dropped::BypassNotLaunched);
            }
            PermissionMode::Plan => self.enter_plan(),
            PermissionMode::Manual => self.mode = PermissionMode::Default,
            other => self.mode = other.clone(),
        }
        Ok(())
    }

    fn change_rules(
        &mut self,
        update: &PermissionUpdate,
        as_written: &PermissionUpdate,
        kind: &UpdateKind,
        destination: &Destination,
    ) -> Result<(), Dropped> {
        let Some(behavior @ (Behavior::Allow | Behavior::Deny | Behavior::Ask)) = &update.behavior
        else {
            return Err(Dropped::BadBehavior);
        };
        let rules = update.rules.as_ref().ok_or(Dropped::NoRules)?;
        let allows = *behavior == Behavior::Allow;
        let removes = *kind != UpdateKind::AddRules;
        // A form of the documents that CLI 2.1.325 drops is understood here as long as it makes nothing looser: to
        // add what denies, and to remove what allows.
        let looser = allows != removes || *kind == UpdateKind::ReplaceRules;
        if looser && is_foreign(as_written) {
            return Err(Dropped::ForeignForm);
        }
        if allows && self.only_managed_rules && *kind != UpdateKind::RemoveRules {
            return Err(Dropped::OnlyManagedRules);
        }
        let rules: Vec<Rule> = rules.iter().map(Rule::from).collect();
        if removes {
            self.retain(|entry| {
                entry.source != *destination
                    || entry.behavior != *behavior
                    || (*kind == UpdateKind::RemoveRules && !rules.contains(&entry.rule))
            });
        }
        if *kind != UpdateKind::RemoveRules {
            for rule in rules {
                self.add(rule, behavior.clone(), destination.clone());
            }
        }
        Ok(())
    }

    /// CLI 2.1.325 does not know `clearRules` (document 001 §3.5). What is allowed goes, as the document says; a
    /// protection does not, since it would hold there.
    fn clear_rules(&mut self, destination: &Destination) -> Result<(), Dropped> {
        let mut kept = false;
        self.retain(|entry| {
            let stays = entry.source != *destination || entry.behavior != Behavior::Allow;
            kept |= stays && entry.source == *destination;
            stays
        });
        if kept {
            Err(Dropped::NotCleared)
        } else {
            Ok(())
        }
    }
}

/// Whether the real CLI would not know the rules for rules: one flat rule, a rule for commands, or names in snake case.
fn is_foreign(update: &PermissionUpdate) -> bool {
    let respelled = |rule: &RuleValue| rule.to_json() != rule.to_standard_json();
    match &update.rules {
        None => true,
        Some(rules) => rules.iter().any(respelled) || update.kind == Some(UpdateKind::Bash),
    }
}

fn changeable(destination: Option<&Destination>) -> Result<&Destination, Dropped> {
    match destination {
        None => Err(Dropped::NoDestination),
        Some(
            known @ (Destination::Session
            | Destination::CliArg
            | Destination::LocalSettings
            | Destination::ProjectSettings
            | Destination::UserSettings),
        ) => Ok(known),
        Some(other) => Err(Dropped::BadDestination(other.clone())),
    }
}
