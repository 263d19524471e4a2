//! The question whether a folder may be trusted, on a terminal: what its files ask for, and the answer of the person.

use std::io::{self, BufRead, Write};

use towline_permission::Trust;
use towline_store::{Offer, OfferItem};

use super::documents::Documents;
use crate::terminal::escaped;

/// Asks the person, if the folder is not trusted and its files have anything that waits for that. A yes is recorded, so
/// that it is asked for once.
pub(super) fn ask_if_needed(documents: &mut Documents) -> anyhow::Result<()> {
    if documents.trust == Trust::Trusted {
        return Ok(());
    }
    let offer = documents.home.offer(&documents.workspace);
    if offer.is_empty() {
        return Ok(());
    }
    let folder = documents.workspace.trusted_as().display().to_string();
    let (person, screen) = (&mut io::stdin().lock(), &mut io::stderr().lock());
    if !ask(&folder, &offer, person, screen)? {
        writeln!(
            screen,
            "Not trusted: what it denies and asks about counts, the rest does not."
        )?;
        return Ok(());
    }
    // Its files may have been changed while the person read: what was not shown was not agreed to.
    if documents.home.offer(&documents.workspace) != offer {
        writeln!(
            screen,
            "Not trusted: its files were changed meanwhile. Start again to see them as they are now."
        )?;
        return Ok(());
    }
    documents.home.trust(&documents.workspace)?;
    documents.trust = Trust::Trusted;
    Ok(())
}

fn ask(
    folder: &str,
    offer: &Offer,
    person: &mut impl BufRead,
    screen: &mut impl Write,
) -> io::Result<bool> {
    writeln!(
        screen,
        "You have not trusted this folder yet: {}\nIf you do, its files count with all they say:",
        escaped(folder)
    )?;
    for OfferItem { kind, value, path } in &offer.items {
        let path = path.strip_prefix(folder).unwrap_or(path);
        writeln!(
            screen,
            "  {}: {}  ({})",
            kind.label(),
            escaped(value),
            escaped(&path.display().to_string())
        )?;
    }
    if offer.more > 0 {
        writeln!(screen, "  and {} more rules", offer.more)?;
    }
    writeln!(
        screen,
        "So do the settings of all folders below it, which are not listed here."
    )?;
    write!(screen, "Trust it? [y/N] ")?;
    screen.flush()?;
    let mut line = String::new();
    person.read_line(&mut line)?;
    Ok(matches!(
        line.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}

#[cfg(test)]
mod tests {
    use towline_store::OfferKind;

    use super::*;

    fn check(typed: &str, expected: bool) -> String {
        let item = |kind, value: &str, path: &str| OfferItem {
            kind,
            value: value.to_owned(),
            path: path.into(),
        };
        let offer = Offer {
            items: vec![
                item(
                    OfferKind::Allow,
                    "Bash(python3:*)",
                    "/app/.claude/settings.local.json",
                ),
                item(
                    OfferKind::Hook,
                    "Stop: touch a\u{1b}[2J\u{202e}b",
                    "/app/.claude/settings.json",
                ),
            ],
            more: 3,
            ..Offer::default()
        };
        let mut screen = Vec::new();
        let answer = ask("/app", &offer, &mut typed.as_bytes(), &mut screen).unwrap();
        assert_eq!(answer, expected, "{typed:?}");
        String::from_utf8(screen).unwrap()
    }

    #[test]
    fn only_a_yes_is_a_yes_and_what_is_asked_for_cannot_command_the_terminal() {
        for (typed, expected) in [
            ("y\n", true),
            (" YES \n", true),
            ("\n", false),
            ("n\n", false),
            ("yn\n", false),
            ("", false),
        ] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(check(typed, expected), @r"
                You have not trusted this folder yet: /app
                If you do, its files count with all they say:
                  runs without asking: Bash(python3:*)  (.claude/settings.local.json)
                  runs at an event: Stop: touch a\u{1b}[2J\u{202e}b  (.claude/settings.json)
                  and 3 more rules
                So do the settings of all folders below it, which are not listed here.
                Trust it? [y/N]
                ");
            }
        }
    }
}
