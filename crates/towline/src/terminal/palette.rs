//! [`Palette`]: which part of a row has which colour.

use anstyle::{AnsiColor, Style};

/// The styles of the parts; all of them plain where colour is not wanted.
#[derive(Clone, Copy)]
pub(crate) struct Palette {
    /// Row numbers and times.
    pub(crate) faint: Style,
    /// What the host wrote.
    pub(crate) host: Style,
    /// What the agent wrote.
    pub(crate) agent: Style,
    /// Kinds this version does not know.
    pub(crate) unknown: Style,
    /// Lines that could not be read.
    pub(crate) malformed: Style,
    /// Headings.
    pub(crate) heading: Style,
}

impl Palette {
    pub(crate) fn colored() -> Self {
        Self {
            faint: Style::new().dimmed(),
            host: AnsiColor::Cyan.on_default(),
            agent: AnsiColor::Green.on_default(),
            unknown: AnsiColor::Yellow.on_default().bold(),
            malformed: AnsiColor::Red.on_default().bold(),
            heading: Style::new().bold(),
        }
    }

    pub(crate) fn plain() -> Self {
        Self {
            faint: Style::new(),
            host: Style::new(),
            agent: Style::new(),
            unknown: Style::new(),
            malformed: Style::new(),
            heading: Style::new(),
        }
    }
}
