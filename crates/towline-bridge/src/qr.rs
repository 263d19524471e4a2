//! A link as a QR code for a terminal. Pure.

use qrcode::{EcLevel, QrCode, render::unicode::Dense1x2};
use thiserror::Error;

/// The link is too long for a code that a phone can read from a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a link of {length} bytes is too long for a QR code")]
pub struct TooLong {
    /// How long it is.
    pub length: usize,
}

/// Draws a link with half blocks, two rows of the code on each line.
///
/// The light modules are drawn and the dark ones left out: on a dark terminal that is a code as it should be, and
/// cameras read the inverse that a light terminal shows too.
///
/// ```
/// let code = towline_bridge::qr::code("http://127.0.0.1:8765/#token=abc")?;
/// assert!(code.lines().count() > 10);
/// # Ok::<(), towline_bridge::qr::TooLong>(())
/// ```
///
/// # Errors
/// When the link is too long.
pub fn code(link: &str) -> Result<String, TooLong> {
    let too_long = TooLong { length: link.len() };
    if link.len() > LONGEST {
        return Err(too_long);
    }
    let code = QrCode::with_error_correction_level(link, EcLevel::L).map_err(|_| too_long)?;
    Ok(code
        .render::<Dense1x2>()
        .dark_color(Dense1x2::Light)
        .light_color(Dense1x2::Dark)
        .quiet_zone(true)
        .build())
}

/// A code of 77 modules: 43 lines with its margin.
const LONGEST: usize = 500;
