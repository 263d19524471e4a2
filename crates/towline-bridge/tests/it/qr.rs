//! The code on the terminal is read back by a decoder, as a camera would.

use towline_bridge::qr::{TooLong, code};

/// What a decoder reads from half blocks. A full block is light here.
fn read(drawn: &str) -> String {
    let rows: Vec<Vec<char>> = drawn.lines().map(|line| line.chars().collect()).collect();
    let (width, height) = (rows[0].len(), rows.len() * 2);
    let dark = |x: usize, y: usize| {
        let light = match rows[y / 2][x] {
            '█' => true,
            '▀' => y.is_multiple_of(2),
            '▄' => !y.is_multiple_of(2),
            ' ' => false,
            other => panic!("{other:?} is no half block"),
        };
        !light
    };
    const SCALE: usize = 4;
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(width * SCALE, height * SCALE, |x, y| {
            // Where the last row is only a half, the terminal goes on dark; a camera sees the margin end there.
            if dark(x / SCALE, y / SCALE) { 0 } else { 255 }
        });
    let grids = image.detect_grids();
    assert_eq!(grids.len(), 1, "\n{drawn}");
    grids[0].decode().unwrap().1
}

#[test]
fn links_of_any_length_are_read_back() {
    let long = format!("https://box.example.org:8443/#token={}", "x".repeat(256));
    for link in [
        "http://127.0.0.1:8765/#token=q3v0m8kF2d5bqf8Y2Jx0cX9yq7l4aGZ8mWnP1uEoRtU",
        "http://[fd00::5]:8765/#token=abc",
        &long,
    ] {
        assert_eq!(read(&code(link).unwrap()), link);
    }
}

#[test]
fn what_is_too_long_for_a_screen_is_an_error() {
    assert_eq!(code(&"x".repeat(501)), Err(TooLong { length: 501 }));
}
