//! What a terminal may be given: text that cannot trick it, cut to its width, in colour where that is wanted.

mod clip;
mod log;
mod palette;

pub(crate) use clip::Clip;
pub(crate) use log::LogWriter;
pub(crate) use palette::Palette;
pub(crate) use towline_protocol::escaped;

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use crate::cli::Color;

/// Standard output, and what may be written to it.
pub(crate) struct Screen {
    pub(crate) out: Box<dyn Write>,
    pub(crate) palette: Palette,
}

impl Screen {
    pub(crate) fn stdout(color: Color) -> Self {
        let stdout = io::stdout();
        if wants_color(color, AutoStream::choice(&stdout)) {
            Self {
                out: Box::new(io::BufWriter::new(AutoStream::always(stdout.lock()))),
                palette: Palette::colored(),
            }
        } else {
            Self {
                out: Box::new(io::BufWriter::new(stdout.lock())),
                palette: Palette::plain(),
            }
        }
    }

    pub(crate) fn stderr(color: Color) -> Self {
        let stderr = io::stderr();
        if wants_color(color, AutoStream::choice(&stderr)) {
            Self {
                out: Box::new(AutoStream::always(stderr)),
                palette: Palette::colored(),
            }
        } else {
            Self {
                out: Box::new(stderr),
                palette: Palette::plain(),
            }
        }
    }
}

/// The columns of the terminal that standard output is.
pub(crate) fn stdout_width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

fn wants_color(color: Color, detected: ColorChoice) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => detected != ColorChoice::Never,
    }
}
