//! Failures and sizes in words.

use std::{io, path::Path};

/// What went wrong with a file, in the form that models know: `EACCES: permission denied, open '/a'`.
pub(in crate::tools) fn in_words(error: &io::Error, what: &str, path: &Path) -> String {
    let (code, words) = match error.kind() {
        io::ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        io::ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        io::ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        io::ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        io::ErrorKind::StorageFull => ("ENOSPC", "no space left on device"),
        io::ErrorKind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        io::ErrorKind::InvalidFilename => ("ENAMETOOLONG", "name too long"),
        _ => return format!("{error}, {what} '{}'", path.display()),
    };
    format!("{code}: {words}, {what} '{}'", path.display())
}

/// `44 bytes`, `976.6KB`, `1.2MB`
pub(in crate::tools) fn size_in_words(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let (mut size, mut unit) = (bytes as f64 / 1024.0, "KB");
    for larger in ["MB", "GB", "TB"] {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    let size = format!("{size:.1}");
    format!("{}{unit}", size.strip_suffix(".0").unwrap_or(&size))
}

#[cfg(test)]
mod tests {
    use super::size_in_words;

    #[test]
    fn sizes_are_as_in_the_recorded_lines() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (44, "44 bytes"),
            (1023, "1023 bytes"),
            (3584, "3.5KB"),
            (256 << 10, "256KB"),
            (1_000_000, "976.6KB"),
            (16 << 20, "16MB"),
            (u64::MAX, "16777216TB"),
        ] {
            assert_eq!(size_in_words(bytes), words);
        }
    }
}
