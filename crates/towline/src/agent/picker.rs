//! `--resume` or `--from-pr` without a value, on a terminal: sessions of this project, to choose one by its number.

use std::io::{self, BufRead, Write};

use towline_store::{ListQuery, Scope, SessionSummary};

use super::documents::Documents;
use crate::terminal::escaped;

/// What a person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picked {
    /// The id of the session.
    pub(super) session: String,
    /// What to say in it, if that was asked for.
    pub(super) prompt: Option<String>,
}

/// Lets a person choose; nothing if there is no choice, or none was made.
pub(super) fn pick(
    sessions: &[SessionSummary],
    needs_prompt: bool,
) -> anyhow::Result<Option<Picked>> {
    let asked = ask(
        sessions,
        needs_prompt,
        &mut io::stdin().lock(),
        &mut io::stdout().lock(),
    )?;
    Ok(asked)
}

/// The newest sessions of the project.
pub(super) fn newest(documents: &Documents) -> anyhow::Result<Vec<SessionSummary>> {
    let listing = documents.home.list(&ListQuery {
        scope: Scope::Project(documents.folder.clone()),
        limit: Some(MOST),
        ..ListQuery::default()
    })?;
    Ok(listing.sessions)
}

fn ask(
    sessions: &[SessionSummary],
    needs_prompt: bool,
    person: &mut impl BufRead,
    screen: &mut impl Write,
) -> io::Result<Option<Picked>> {
    if sessions.is_empty() {
        writeln!(
            screen,
            "No sessions in this folder. Those of other folders: towline sessions list --all"
        )?;
        return Ok(None);
    }
    for (index, summary) in sessions.iter().enumerate() {
        let id = &summary.session.key().as_str()[..8];
        writeln!(screen, "{:3}  {id}  {}", index + 1, escaped(&summary.title))?;
    }
    let chosen = loop {
        let Some(answer) = answer("Go on with which? ", person, screen)? else {
            return Ok(None);
        };
        let number = answer.parse::<usize>().ok();
        match number.and_then(|number| sessions.get(number.checked_sub(1)?)) {
            Some(summary) => break summary,
            None => writeln!(
                screen,
                "A number from 1 to {}, or nothing to leave.",
                sessions.len()
            )?,
        }
    };
    let prompt = match needs_prompt {
        false => None,
        true => match answer("And say what? ", person, screen)? {
            None => return Ok(None),
            prompt => prompt,
        },
    };
    let session = chosen.session.key().to_string();
    Ok(Some(Picked { session, prompt }))
}

/// A line of the person; nothing if it is empty or there is none.
fn answer(
    question: &str,
    person: &mut impl BufRead,
    screen: &mut impl Write,
) -> io::Result<Option<String>> {
    write!(screen, "{question}")?;
    screen.flush()?;
    let mut line = String::new();
    person.read_line(&mut line)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// What a screen can show.
pub(super) const MOST: usize = 20;

#[cfg(test)]
mod tests {
    use towline_store::Home;

    use super::*;

    /// What was chosen of two sessions, and what was asked in the end.
    fn check(typed: &str, needs_prompt: bool) -> (Option<Picked>, String) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        for (id, prompt) in [(A, "first \u{1b}[2J"), (B, "second")] {
            let session = home.session_in("/app", id.parse().unwrap());
            std::fs::create_dir_all(session.project_folder()).unwrap();
            let record =
                serde_json::json!({"type": "user", "uuid": "u", "message": {"content": prompt}});
            std::fs::write(session.path(), record.to_string()).unwrap();
        }
        let mut sessions = home.list(&ListQuery::default()).unwrap().sessions;
        sessions.sort_by(|one, other| one.session.key().cmp(other.session.key()));
        let mut screen = Vec::new();
        let picked = ask(&sessions, needs_prompt, &mut typed.as_bytes(), &mut screen).unwrap();
        (picked, String::from_utf8(screen).unwrap())
    }

    const A: &str = "11111111-2222-4333-8444-555555555555";
    const B: &str = "21111111-2222-4333-8444-555555555555";

    #[test]
    fn a_number_chooses_and_anything_else_is_asked_again() {
        let picked = |session: &str, prompt: Option<&str>| Picked {
            session: session.to_owned(),
            prompt: prompt.map(ToOwned::to_owned),
        };
        for (typed, needs_prompt, expected) in [
            ("1\n", false, Some(picked(A, None))),
            (" 2 \n", false, Some(picked(B, None))),
            ("0\n3\nx\n2\n", false, Some(picked(B, None))),
            ("2\ngo on\n", true, Some(picked(B, Some("go on")))),
            ("2\n\n", true, None),
            ("\n", false, None),
            ("", false, None),
        ] {
            assert_eq!(check(typed, needs_prompt).0, expected, "{typed:?}");
        }
        let screen = check("1\n", false).1;
        let title = screen.lines().next().unwrap();
        assert!(title.starts_with("  1  11111111  first"), "{title}");
        assert!(
            !screen.contains('\u{1b}'),
            "a title cannot command the terminal: {screen:?}"
        );
    }
}
