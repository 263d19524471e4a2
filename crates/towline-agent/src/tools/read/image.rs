//! Pictures: as they are where the API takes them, else made smaller.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{
    DynamicImage, ImageFormat, ImageReader, Limits, codecs::jpeg::JpegEncoder, imageops::FilterType,
};
use serde_json::json;

use super::{Extent, Fingerprint, LARGEST, Outcome, Place, Source, picture};

/// The kind of a picture, by its first bytes.
pub(super) fn kind(head: &[u8]) -> Option<ImageFormat> {
    match head {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(ImageFormat::Png),
        [0xff, 0xd8, 0xff, ..] => Some(ImageFormat::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(ImageFormat::Gif),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some(ImageFormat::WebP),
        _ => None,
    }
}

/// Whether files that are called so are pictures.
pub(super) fn is_extension(extension: &str) -> bool {
    matches!(extension, "png" | "jpg" | "jpeg" | "gif" | "webp")
}

/// Shows a picture.
pub(super) fn show(place: &Place, source: Source<'_>) -> Result<Outcome, Outcome> {
    let (given, real) = (source.given, source.real.clone());
    let bytes = source.all(LARGEST)?;
    if bytes.is_empty() {
        return Err(Outcome::error(format!(
            "Image file is empty: {}",
            given.display()
        )));
    }
    let Some(format) = kind(&bytes) else {
        return Err(Outcome::error(format!(
            "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP: {}. Read its beginning with a \
             shell command to see what it is.",
            given.display()
        )));
    };
    let fitted = fit(&bytes, format).map_err(|error| {
        Outcome::error(format!(
            "{} cannot be read as a picture: {error}",
            given.display()
        ))
    })?;
    place
        .files
        .note(&real, Fingerprint::of(&bytes), Extent::Whole);
    let (kind, (width, height), (shown_width, shown_height)) =
        (fitted.format.to_mime_type(), fitted.original, fitted.shown);
    let base64 = BASE64_STANDARD.encode(fitted.smaller.as_deref().unwrap_or(&bytes));
    let data = json!({"type": "image", "file": {
        "base64": base64,
        "type": kind,
        "originalSize": bytes.len(),
        "dimensions": {
            "originalWidth": width,
            "originalHeight": height,
            "displayWidth": shown_width,
            "displayHeight": shown_height,
        },
    }});
    let mut outcome = Outcome::new(vec![picture(kind, &base64)], data);
    if fitted.original != fitted.shown {
        let factor = f64::from(width) / f64::from(shown_width.max(1));
        outcome.afterwards = Some(format!(
            "[Image: original {width}x{height}, displayed at {shown_width}x{shown_height}. Multiply coordinates by \
             {factor:.2} to map to original image.]"
        ).into());
    }
    Ok(outcome)
}

/// A picture that the API takes.
struct Fitted {
    format: ImageFormat,
    original: (u32, u32),
    shown: (u32, u32),
    /// Its bytes, where they are not those of the file.
    smaller: Option<Vec<u8>>,
}

fn fit(bytes: &[u8], format: ImageFormat) -> image::ImageResult<Fitted> {
    let original = ImageReader::with_format(Cursor::new(bytes), format).into_dimensions()?;
    let mut fitted = Fitted {
        format,
        original,
        shown: original,
        smaller: None,
    };
    if original.0.max(original.1) <= MOST_PIXELS && bytes.len() <= MOST_BYTES {
        return Ok(fitted);
    }
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let mut picture = reader.decode()?;
    if original.0.max(original.1) > MOST_PIXELS {
        picture = resized(&picture, MOST_PIXELS);
    }
    loop {
        let (format, encoded) = encode(&picture, format)?;
        fitted.format = format;
        fitted.shown = (picture.width(), picture.height());
        let longest = picture.width().max(picture.height());
        if encoded.len() <= MOST_BYTES || longest <= 64 {
            fitted.smaller = Some(encoded);
            return Ok(fitted);
        }
        picture = resized(&picture, longest * 3 / 4);
    }
}

/// Fits the longer side; the other is rounded and never nothing.
fn resized(picture: &DynamicImage, longest: u32) -> DynamicImage {
    picture.resize(longest, longest, FilterType::Triangle)
}

/// As it was, or where that is too large as JPEG.
fn encode(
    picture: &DynamicImage,
    format: ImageFormat,
) -> image::ImageResult<(ImageFormat, Vec<u8>)> {
    if format != ImageFormat::Jpeg {
        let mut encoded = Vec::new();
        picture.write_to(&mut Cursor::new(&mut encoded), ImageFormat::Png)?;
        if encoded.len() <= MOST_BYTES {
            return Ok((ImageFormat::Png, encoded));
        }
    }
    let mut encoded = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut encoded, 80);
    picture.to_rgb8().write_with_encoder(encoder)?;
    Ok((ImageFormat::Jpeg, encoded))
}

/// The longest side that the API takes.
const MOST_PIXELS: u32 = 2000;

/// The largest file that the API takes: 5 MB in base64.
const MOST_BYTES: usize = 3_750_000;

/// The most memory that a picture may need.
const MOST_MEMORY: u64 = 256 << 20;
