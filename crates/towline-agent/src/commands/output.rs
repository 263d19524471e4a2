//! What a command wrote, read from its file in pieces of a bounded size. Bytes that are no UTF-8 are replaced.

use std::{io::SeekFrom, path::Path};

use tokio::{
    fs::File,
    io::{self, AsyncReadExt as _, AsyncSeekExt as _},
};

/// A part of what a command wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The text.
    pub(crate) text: String,
    /// How much there is in all, in bytes.
    pub(crate) total_bytes: u64,
    /// Whether there is more than this.
    pub(crate) is_cut: bool,
}

/// The first `most` bytes.
pub(super) async fn first(path: &Path, most: u64) -> io::Result<Excerpt> {
    let file = File::open(path).await?;
    let total_bytes = file.metadata().await?.len();
    let bytes = read(file, most).await?;
    let is_cut = total_bytes > most;
    let whole = if is_cut {
        complete(&bytes)
    } else {
        bytes.len()
    };
    Ok(Excerpt {
        text: String::from_utf8_lossy(&bytes[..whole]).into_owned(),
        total_bytes,
        is_cut,
    })
}

/// The last `most` bytes.
pub(super) async fn last(path: &Path, most: u64) -> io::Result<Excerpt> {
    let mut file = File::open(path).await?;
    let total_bytes = file.metadata().await?.len();
    let is_cut = total_bytes > most;
    file.seek(SeekFrom::Start(total_bytes.saturating_sub(most)))
        .await?;
    let bytes = read(file, most).await?;
    // The rest of a character whose beginning was cut off.
    let torn = if is_cut {
        let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        bytes.iter().take(3).take_while(is_rest).count()
    } else {
        0
    };
    Ok(Excerpt {
        text: String::from_utf8_lossy(&bytes[torn..]).into_owned(),
        total_bytes,
        is_cut,
    })
}

/// The next `most` bytes after those that were `seen`, which are counted on. Half a character waits for its end.
pub(super) async fn next(path: &Path, seen: &mut u64, most: u64) -> io::Result<String> {
    let mut file = File::open(path).await?;
    file.seek(SeekFrom::Start(*seen)).await?;
    let bytes = read(file, most).await?;
    let whole = complete(&bytes);
    *seen += whole as u64;
    Ok(String::from_utf8_lossy(&bytes[..whole]).into_owned())
}

async fn read(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// How many of the bytes are there without half a character at their end.
fn complete(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let begins = |byte: &u8| *byte >= 0b1100_0000;
    let Some(begin) = bytes[tail..].iter().rposition(begins) else {
        return bytes.len();
    };
    let begin = tail + begin;
    match std::str::from_utf8(&bytes[begin..]) {
        Err(error) if error.error_len().is_none() => begin,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_at_the_end_is_seen() {
        let cases: &[(&[u8], usize)] = &[
            (b"", 0),
            (b"abc", 3),
            ("aä".as_bytes(), 3),
            (b"a\xc3", 1),
            (b"a\xe2\x82", 1),
            (b"a\xf0\x9f\x98", 1),
            (b"a\xff", 2),
            (b"\x82\x82\x82\x82", 4),
        ];
        for (bytes, whole) in cases {
            assert_eq!(complete(bytes), *whole, "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn a_file_is_read_from_both_ends_and_in_turns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        std::fs::write(&path, "aäbcdöe").unwrap();
        let first = first(&path, 2).await.unwrap();
        assert_eq!((first.text.as_str(), first.is_cut), ("a", true));
        let last = last(&path, 2).await.unwrap();
        assert_eq!((last.text.as_str(), last.total_bytes), ("e", 9));
        let mut seen = 0;
        let mut pieces = Vec::new();
        for _ in 0..4 {
            pieces.push(next(&path, &mut seen, 4).await.unwrap());
        }
        assert_eq!(pieces, ["aäb", "cdö", "e", ""]);
    }
}
