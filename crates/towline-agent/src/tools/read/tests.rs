//! Files of every kind as the model sees them.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageFormat};
use serde_json::{Value, json};
use towline_protocol::{Block, Content};

use crate::tools::{Outcome, tried::Tried};

async fn read(tried: &Tried, path: &str, fields: Value) -> Outcome {
    let mut input = json!({"file_path": tried.path(path)});
    for (name, value) in fields.as_object().unwrap() {
        input[name] = value.clone();
    }
    tried.call("Read", input).await
}

#[tokio::test]
async fn text_is_shown_with_line_numbers() {
    let tried = Tried::new(&[
        ("a.txt", "line one\nline two\n\tindented\nlast"),
        ("crlf.txt", "a\r\nb\r\n"),
        ("empty.txt", ""),
        ("newline.txt", "\n"),
    ]);
    tried.write("bom.txt", b"\xef\xbb\xbfhi\n");
    tried.write("wide.txt", b"\xff\xfeh\0i\0\r\0\n\0");
    let empty =
        "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>";
    let short = "<system-reminder>Warning: the file exists but is shorter than the provided offset (5). The file has 4 \
                 lines.</system-reminder>";
    for (path, fields, words, file) in [
        (
            "a.txt",
            json!({}),
            "1\tline one\n2\tline two\n3\t\tindented\n4\tlast",
            json!(["line one\nline two\n\tindented\nlast", 4, 1, 4]),
        ),
        (
            "a.txt",
            json!({"offset": 2, "limit": 1}),
            "2\tline two",
            json!(["line two", 1, 2, 4]),
        ),
        (
            "a.txt",
            json!({"offset": "3", "limit": 9}),
            "3\t\tindented\n4\tlast",
            json!(["\tindented\nlast", 2, 3, 4]),
        ),
        (
            "a.txt",
            json!({"offset": -1, "limit": 1}),
            "1\tline one",
            json!(["line one", 1, 1, 4]),
        ),
        (
            "a.txt",
            json!({"offset": 4, "limit": 0}),
            "4\tlast",
            json!(["last", 1, 4, 4]),
        ),
        ("a.txt", json!({"offset": 5}), short, json!(["", 0, 5, 4])),
        (
            "crlf.txt",
            json!({}),
            "1\ta\n2\tb\n3\t",
            json!(["a\nb\n", 3, 1, 3]),
        ),
        (
            "crlf.txt",
            json!({"limit": 1}),
            "1\ta",
            json!(["a", 1, 1, 3]),
        ),
        ("empty.txt", json!({}), empty, json!(["", 1, 1, 1])),
        ("newline.txt", json!({}), "1\t\n2\t", json!(["\n", 2, 1, 2])),
        ("bom.txt", json!({}), "1\thi\n2\t", json!(["hi\n", 2, 1, 2])),
        (
            "wide.txt",
            json!({}),
            "1\thi\n2\t",
            json!(["hi\n", 2, 1, 2]),
        ),
    ] {
        let seen = read(&tried, path, fields.clone()).await;
        assert_eq!(tried.words(&seen), words, "{path} {fields}");
        assert_eq!(
            tried.data(&seen),
            json!({"type": "text", "file": {
                "filePath": format!("/project/{path}"),
                "content": file[0],
                "numLines": file[1],
                "startLine": file[2],
                "totalLines": file[3],
            }}),
            "{path} {fields}"
        );
    }
}

#[tokio::test]
async fn text_that_is_not_quite_text_comes_with_a_warning() {
    let tried = Tried::new(&[]);
    tried.write("latin.txt", b"caf\xe9\n");
    tried.write("nul.txt", b"a\0b\n");
    for (path, begin) in [
        (
            "latin.txt",
            "1\tcaf\u{fffd}\n2\t\n\n[This file is not valid UTF-8",
        ),
        ("nul.txt", "1\ta\0b\n2\t\n\n[This file has NUL bytes"),
    ] {
        let seen = read(&tried, path, json!({})).await;
        assert!(tried.words(&seen).starts_with(begin), "{seen:?}");
    }
}

#[tokio::test]
async fn large_files_are_read_in_parts() {
    let tried = Tried::new(&[
        ("big.txt", &"row of text\n".repeat(40_000)),
        ("line.txt", &"x".repeat(5 << 20)),
    ]);
    for (path, fields, words) in [
        (
            "big.txt",
            json!({"limit": 3}),
            "1\trow of text\n2\trow of text\n3\trow of text",
        ),
        (
            "big.txt",
            json!({"offset": 39_999, "limit": 1}),
            "39999\trow of text",
        ),
        (
            "big.txt",
            json!({"offset": 1}),
            "File content (468.8KB) exceeds maximum allowed size (256KB). Use offset",
        ),
        ("big.txt", json!({"limit": 39_000}), "File content (457"),
        ("big.txt", json!({"allow_large": true}), "1\trow of text\n"),
        (
            "line.txt",
            json!({"limit": 1}),
            "File content (5MB) exceeds maximum allowed size (256KB).",
        ),
        (
            "line.txt",
            json!({"allow_large": true}),
            "File content (5MB) exceeds maximum allowed size (4MB).",
        ),
    ] {
        let seen = read(&tried, path, fields.clone()).await;
        let begin: String = tried.words(&seen).chars().take(90).collect();
        assert!(begin.starts_with(words), "{path} {fields}: {begin}");
    }
    assert_eq!(
        read(&tried, "big.txt", json!({"limit": 1})).await.data["file"]["totalLines"],
        40_001
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    let tried = Tried::new(&[
        ("readme.md", "x"),
        ("src/x", ""),
        ("a.zip", "text"),
        ("bad.png", "no"),
        ("x.ipynb", "{bad"),
    ]);
    tried.write("program", b"\x7fELF\x02\x01\0\0\0\0\0\0\0\0\xff\xfe\x80");
    tried.write("e.png", "");
    tried.write("e.pdf", "");
    tried.write("bad.pdf", "no");
    rustix::fs::mkfifoat(rustix::fs::CWD, tried.path("pipe"), 0o600.into()).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tried.path("socket")).unwrap();
    let special = |path: &str| {
        format!("<tool_use_error>Cannot read '{path}': it is a device, pipe or socket")
    };
    for (path, words) in [
        ("missing", "File does not exist. Note: your current working directory is /project.".to_owned()),
        (
            "readme.txt",
            "File does not exist. Note: your current working directory is /project. Did you mean readme.md?".to_owned(),
        ),
        ("src", "EISDIR: illegal operation on a directory, read '/project/src'".to_owned()),
        ("pipe", special("/project/pipe")),
        ("socket", special("/project/socket")),
        ("/dev/zero", special("/dev/zero")),
        (
            "a.zip",
            "<tool_use_error>This tool cannot read binary files. The file appears to be a binary .zip file.".to_owned(),
        ),
        (
            "program",
            "<tool_use_error>This tool cannot read binary files. The file appears to be a binary file.".to_owned(),
        ),
        ("bad.png", "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP".to_owned()),
        ("e.png", "Image file is empty: /project/e.png".to_owned()),
        ("e.pdf", "PDF file is empty: /project/e.pdf".to_owned()),
        ("bad.pdf", "File is not a valid PDF (missing %PDF- header): /project/bad.pdf".to_owned()),
        ("x.ipynb", "Notebook file is not valid JSON".to_owned()),
    ] {
        let failed = read(&tried, path, json!({})).await;
        assert_eq!(failed.is_error, Some(true), "{path}");
        assert!(tried.words(&failed).starts_with(&words), "{path}: {failed:?}");
    }
}

fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = DynamicImage::new_rgb8(width, height);
    picture
        .write_to(&mut Cursor::new(&mut bytes), format)
        .unwrap();
    bytes
}

#[tokio::test]
async fn pictures_are_shown_as_they_are() {
    let tried = Tried::new(&[]);
    for (name, format, kind) in [
        ("a.png", ImageFormat::Png, "image/png"),
        ("a.jpg", ImageFormat::Jpeg, "image/jpeg"),
        ("a.gif", ImageFormat::Gif, "image/gif"),
        ("a.webp", ImageFormat::WebP, "image/webp"),
        // The content decides, not the name.
        ("b", ImageFormat::Png, "image/png"),
        ("b.jpg", ImageFormat::Png, "image/png"),
    ] {
        let bytes = encoded(3, 2, format);
        tried.write(name, &bytes);
        let seen = tried.read(name).await;
        let base64 = BASE64_STANDARD.encode(&bytes);
        assert_eq!(
            *seen.data,
            json!({"type": "image", "file": {
                "base64": base64,
                "type": kind,
                "originalSize": bytes.len(),
                "dimensions": {"originalWidth": 3, "originalHeight": 2, "displayWidth": 3, "displayHeight": 2},
            }})
        );
        assert_eq!(
            seen.content,
            Content::Blocks(vec![super::picture(kind, &base64)])
        );
        assert_eq!(seen.afterwards, None);
    }
}

#[tokio::test]
async fn large_pictures_are_made_smaller_and_the_model_is_told() {
    let tried = Tried::new(&[]);
    for (width, height, shown, factor) in [
        (3000, 30, (2000, 20), "1.50"),
        (20, 4100, (10, 2000), "2.00"),
    ] {
        tried.write("a.png", encoded(width, height, ImageFormat::Png));
        let seen = tried.read("a.png").await;
        let file = &seen.data["file"];
        let bytes = BASE64_STANDARD
            .decode(file["base64"].as_str().unwrap())
            .unwrap();
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), shown);
        assert_eq!(file["dimensions"]["displayWidth"], shown.0);
        assert_eq!(
            seen.afterwards.unwrap().as_ref(),
            format!(
                "[Image: original {width}x{height}, displayed at {}x{}. Multiply coordinates by {factor} to map to original \
                 image.]",
                shown.0, shown.1
            )
        );
    }
}

#[tokio::test]
async fn a_picture_that_claims_to_be_huge_is_refused() {
    let tried = Tried::new(&[]);
    let mut bytes = encoded(3, 2, ImageFormat::Png);
    // Width and height in the header; its checksum is not looked at before the size is.
    bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    tried.write("bomb.png", &bytes);
    let failed = read(&tried, "bomb.png", json!({})).await;
    assert_eq!(failed.is_error, Some(true));
    assert!(
        tried.words(&failed).contains("cannot be read as a picture"),
        "{failed:?}"
    );
}

/// A PDF file with a line of text on each page.
fn pdf(pages: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages)
        .map(|page| format!("{} 0 R", 4 + 2 * page))
        .collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{}] /Count {pages} >>",
            kids.join(" ")
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in 0..pages {
        let text = format!("BT /F1 24 Tf 72 700 Td (Hello page {}) Tj ET", page + 1);
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * page
        ));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{text}\nendstream",
            text.len()
        ));
    }
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = String::new();
    for (object, number) in objects.iter().zip(1..) {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (size, at) = (objects.len() + 1, file.len());
    file.push_str(&format!(
        "xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n"
    ));
    file.into_bytes()
}

#[tokio::test]
async fn a_pdf_is_a_document_and_its_text() {
    let tried = Tried::new(&[]);
    tried.write("a.pdf", pdf(3));
    let seen = tried.read("a.pdf").await;
    let Content::Blocks(blocks) = &seen.content else {
        panic!("{seen:?}");
    };
    let [
        Block::Text(title),
        Block::Document(document),
        Block::Text(text),
    ] = blocks.as_slice()
    else {
        panic!("{blocks:?}");
    };
    let path = tried.path("a.pdf");
    assert_eq!(
        title.text.as_str(),
        format!(
            "PDF file read: {path} ({})",
            super::size_in_words(pdf(3).len() as u64)
        )
    );
    assert_eq!(
        document.source.media_type.as_deref(),
        Some("application/pdf")
    );
    for page in 1..=3 {
        assert!(
            text.text.contains(&format!("Hello page {page}")),
            "{text:?}"
        );
    }
    assert_eq!(seen.data["file"]["originalSize"], pdf(3).len());

    let part = read(&tried, "a.pdf", json!({"pages": "2-3"})).await;
    let words = tried.words(&part);
    assert!(
        !words.contains("Hello page 1")
            && words.contains("Hello page 2")
            && words.contains("Hello page 3")
    );
    for (pages, words) in [
        ("zz", "Invalid pages parameter: \"zz\"."),
        ("3-1", "Invalid pages parameter: \"3-1\"."),
        ("0", "Invalid pages parameter: \"0\"."),
        (
            "1-40",
            "Page range \"1-40\" exceeds maximum of 20 pages per request.",
        ),
        ("9", "the file has 3 pages, and none of those"),
    ] {
        let failed = read(&tried, "a.pdf", json!({"pages": pages})).await;
        assert!(tried.words(&failed).contains(words), "{failed:?}");
    }
}

/// The same file with what a reader of PDF files may stumble over.
fn damaged(whole: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8(whole.to_vec()).unwrap();
    let replaced = |old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new).into_bytes()
    };
    let mut files = vec![
        replaced("/Parent 2 0 R", "/Parent 4 0 R"),
        replaced("/Kids [", "/Kids [2 0 R "),
        replaced("/Pages 2 0 R", "/Pages 1 0 R"),
        replaced("/Count 2", "/Count 4294967295"),
        replaced("/Count 2", "/Count -1"),
        replaced("/Length ", "/Length 99999999999"),
        replaced("startxref\n", "startxref\n9"),
        replaced("/Size ", "/Prev 0 /Size "),
        replaced("[0 0 612 792]", &"[".repeat(100_000)),
        replaced("(Hello page 1)", &"(".repeat(100_000)),
        replaced("<< /F1 3 0 R >>", &"<< /F1 ".repeat(50_000)),
    ];
    for at in (8..whole.len()).step_by(7) {
        files.push(whole[..at].to_vec());
    }
    // Deterministic, so that a failure can be seen again.
    let mut random = 1_u32;
    for _ in 0..300 {
        let mut bytes = whole.to_vec();
        for _ in 0..4 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = 8 + (random >> 8) as usize % (bytes.len() - 8);
            bytes[at] = (random >> 3) as u8;
        }
        files.push(bytes);
    }
    files
}

#[tokio::test]
async fn a_damaged_pdf_still_is_a_document() {
    let tried = Tried::new(&[]);
    for bytes in damaged(&pdf(2)) {
        tried.write("a.pdf", &bytes);
        let seen = tried.read("a.pdf").await;
        assert_eq!(seen.data["file"]["originalSize"], bytes.len());
        let page = read(&tried, "a.pdf", json!({"pages": "1"})).await;
        let words = tried.words(&page);
        assert!(!words.contains("within 20 s"), "{words}");
    }
}

#[tokio::test]
async fn notebooks_are_shown_as_cells() {
    let notebook = json!({
        "cells": [
            {"cell_type": "code", "id": "c1", "metadata": {}, "source": ["a=1\n", "b"], "execution_count": 1, "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["42"], "image/png": "iVBO\n"}, "metadata": {}},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["tb1", "tb2"]},
            ]},
            {"cell_type": "markdown", "metadata": {}, "source": "# T"},
        ],
        "metadata": {"language_info": {"name": "julia"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    });
    let tried = Tried::new(&[("nb.ipynb", &notebook.to_string()), ("a.txt", "")]);
    let by_read = tried.read("nb.ipynb").await;
    let by_name = tried
        .call(
            "NotebookRead",
            json!({"notebook_path": tried.path("nb.ipynb")}),
        )
        .await;
    for seen in [by_read, by_name] {
        assert_eq!(
            seen.content,
            Content::Blocks(vec![
                Block::text(
                    "<cell id=\"c1\"><language>julia</language>a=1\nb</cell id=\"c1\">\n\n1\n\n\n42"
                ),
                super::picture("image/png", "iVBO"),
                Block::text(
                    "\nE: v\ntb1\ntb2\n<cell id=\"cell-1\"><cell_type>markdown</cell_type># T</cell id=\"cell-1\">"
                ),
            ])
        );
        assert_eq!(
            tried.data(&seen),
            json!({"type": "notebook", "file": {"filePath": "/project/nb.ipynb", "cells": [
                {"cellType": "code", "source": "a=1\nb", "execution_count": 1, "cell_id": "c1", "language": "julia",
                    "outputs": [
                        {"output_type": "stream", "text": "1\n"},
                        {"output_type": "execute_result", "text": "42",
                            "image": {"image_data": "iVBO", "media_type": "image/png"}},
                        {"output_type": "error", "text": "E: v\ntb1\ntb2"},
                    ]},
                {"cellType": "markdown", "source": "# T", "cell_id": "cell-1"},
            ]}})
        );
    }
    let other = tried
        .call(
            "NotebookRead",
            json!({"notebook_path": tried.path("a.txt")}),
        )
        .await;
    assert_eq!(
        *other.data,
        json!("Error: File must be a Jupyter notebook (.ipynb file). For other files use Read.")
    );
}
