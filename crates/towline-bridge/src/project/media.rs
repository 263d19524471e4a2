//! What a file is, by its name and its first bytes. Pure.

use std::path::Path;

use towline_protocol::dialect::pocket::FileKind;

/// The kind and the media type of what is shown as it is, by the name of the file.
pub(super) fn media(path: &Path) -> Option<(FileKind, &'static str)> {
    let extension = extension(path)?;
    let (_, media) = MEDIA.iter().find(|(known, _)| *known == extension)?;
    let kind = match media.split('/').next() {
        Some("image") => FileKind::Image,
        Some("audio") => FileKind::Audio,
        _ => FileKind::Video,
    };
    Some((kind, media))
}

/// The media type of a picture, SVG included.
pub(super) fn picture(path: &Path) -> Option<&'static str> {
    if is_svg(path) {
        return Some("image/svg+xml");
    }
    media(path).and_then(|(kind, media)| (kind == FileKind::Image).then_some(media))
}

/// Whether it is a drawing in words.
pub(super) fn is_svg(path: &Path) -> bool {
    extension(path).as_deref() == Some("svg")
}

/// The language of a text, by the name of the file, as highlighters call it.
pub(super) fn language(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let by_name = NAMES.iter().find(|(known, _)| *known == name);
    let by_extension = || {
        let extension = extension(path)?;
        LANGUAGES.iter().find(|(known, _)| *known == extension)
    };
    by_name.or_else(by_extension).map(|(_, language)| *language)
}

/// Whether bytes are no text. Enough of them tell: texts hold no zero bytes.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8 << 10)].contains(&0)
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

const MEDIA: &[(&str, &str)] = &[
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("m4a", "audio/mp4"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("png", "image/png"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
];

const NAMES: &[(&str, &str)] = &[
    ("CMakeLists.txt", "cmake"),
    ("Cargo.lock", "toml"),
    ("Dockerfile", "dockerfile"),
    ("GNUmakefile", "makefile"),
    ("Makefile", "makefile"),
];

const LANGUAGES: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("c", "c"),
    ("cc", "cpp"),
    ("cpp", "cpp"),
    ("cs", "csharp"),
    ("css", "css"),
    ("dart", "dart"),
    ("diff", "diff"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("go", "go"),
    ("h", "c"),
    ("hpp", "cpp"),
    ("hs", "haskell"),
    ("html", "html"),
    ("ini", "ini"),
    ("java", "java"),
    ("jl", "julia"),
    ("js", "javascript"),
    ("json", "json"),
    ("jsonl", "json"),
    ("jsx", "javascript"),
    ("kt", "kotlin"),
    ("lua", "lua"),
    ("md", "markdown"),
    ("mjs", "javascript"),
    ("nix", "nix"),
    ("patch", "diff"),
    ("php", "php"),
    ("pl", "perl"),
    ("proto", "protobuf"),
    ("py", "python"),
    ("r", "r"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("scala", "scala"),
    ("scss", "scss"),
    ("sh", "bash"),
    ("sql", "sql"),
    ("svg", "xml"),
    ("swift", "swift"),
    ("tf", "hcl"),
    ("toml", "toml"),
    ("ts", "typescript"),
    ("tsx", "typescript"),
    ("vue", "vue"),
    ("xml", "xml"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("zig", "zig"),
    ("zsh", "bash"),
];
