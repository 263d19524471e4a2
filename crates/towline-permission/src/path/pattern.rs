//! [`Pattern`]: the content of a path rule, made ready once when the rule is added.
//!
//! Contents are written as in a `.gitignore`: a name alone matches at any depth, a slash ties it to a place, and what
//! matches a directory matches everything in it. They differ in what they are relative to: `//x` is absolute, `~/x`
//! is at home, `/x` is where the settings file belongs, and everything else is in the project.

use fast_glob::{glob_match, validate};
use towline_protocol::{Behavior, Destination};

use super::{Access, below};
use crate::{policy::Places, rule::Entry};

/// What a path rule covers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    /// What is done to the path.
    pub(crate) access: Access,
    anchor: Anchor,
    case: Case,
    /// Whether it is about the matching path, too, or only about what is in it (`x/`).
    itself: bool,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Anchor {
    Root,
    Home,
    Project,
    Config,
    Flag,
}

/// What denies or asks holds in every spelling, since some file systems do not tell them apart; what allows does not.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    Exact,
    Folded,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// Everything below the anchor.
    Everything,
    /// A name at any depth.
    Name(String),
    /// A pattern for one name, at any depth.
    NamePattern(String),
    /// A place below the anchor.
    Place(String),
    /// A pattern for a place, and the same for everything in it.
    PlacePattern { own: String, inner: String },
}

impl Pattern {
    /// The pattern of a rule; nothing if it is about no path, or can never match one.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let content = entry.rule.content()?;
        let allows = entry.behavior == Behavior::Allow;
        let access = match entry.rule.tool() {
            "Read" => Access::Read,
            "Edit" => Access::Write,
            // It never matches in CLI 2.1.325. Whoever wrote one meant it, so here it does where that is stricter.
            "Write" | "MultiEdit" if !allows => Access::Write,
            _ => return None,
        };
        // `Tool(*)` is about the tool and not about paths.
        if entry.rule.is_tool_wide() {
            return None;
        }
        let (anchor, rest) = anchor(content, &entry.source)?;
        let (case, rest) = if allows {
            (Case::Exact, rest.to_owned())
        } else {
            (Case::Folded, rest.trim_end().to_lowercase())
        };
        // What ends in a slash names a directory. When it allows, the directory itself is left out.
        let itself = !allows || !rest.ends_with('/');
        let shape = Shape::of(&rest);
        Some(Self {
            access,
            anchor,
            case,
            itself,
            shape,
        })
    }

    /// The directory that all it is about is in, as far as it has one that is known, and the name that it is about at any
    /// depth below. Without regard to case.
    pub(crate) fn root(&self, places: &Places) -> (String, Option<&str>) {
        let base = match self.anchor {
            Anchor::Root => "",
            Anchor::Home => &places.home,
            Anchor::Project => &places.project,
            Anchor::Config => &places.config,
            Anchor::Flag => places.flag_settings.as_deref().unwrap_or(&places.project),
        };
        let (inner, floating) = match &self.shape {
            Shape::Everything => ("", None),
            Shape::Name(name) | Shape::NamePattern(name) => ("", Some(name.as_str())),
            Shape::Place(place) => (place.as_str(), None),
            Shape::PlacePattern { own, .. } => {
                let special = own.find(['*', '?', '[', '\\']).unwrap_or(own.len());
                (
                    own[..special]
                        .rsplit_once('/')
                        .map_or("", |(fixed, _)| fixed),
                    None,
                )
            }
        };
        let root = format!("{}/{inner}", base.trim_end_matches('/'));
        (root.trim_end_matches('/').to_lowercase(), floating)
    }

    /// Whether it is about a place.
    pub(crate) fn covers(&self, place: &Place) -> bool {
        let relative = match self.case {
            Case::Exact => place.exact.from(self.anchor),
            Case::Folded => place.folded.from(self.anchor),
        };
        match relative {
            None | Some("") => false,
            Some(relative) => self.shape.matches(relative, self.itself),
        }
    }
}

fn anchor<'c>(content: &'c str, source: &Destination) -> Option<(Anchor, &'c str)> {
    if content.starts_with('!') {
        return None;
    }
    Some(if content.starts_with("//") {
        (Anchor::Root, &content[1..])
    } else if content.starts_with("~/") {
        (Anchor::Home, &content[1..])
    } else if content.starts_with('/') {
        let anchor = match source {
            Destination::UserSettings => Anchor::Config,
            Destination::FlagSettings => Anchor::Flag,
            _ => Anchor::Project,
        };
        (anchor, content)
    } else {
        (
            Anchor::Project,
            content.strip_prefix("./").unwrap_or(content),
        )
    })
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut text = text.trim_end_matches('/');
        while let Some(directory) = text.strip_suffix("/**") {
            text = directory.trim_end_matches('/');
        }
        if matches!(text, "" | "**") {
            return Self::Everything;
        }
        let tied = text.trim_start_matches('/');
        let floating = text.strip_prefix("**/").unwrap_or(text);
        match (floating.contains('/'), is_plain(floating)) {
            (false, true) => Self::Name(floating.to_owned()),
            (false, false) => Self::NamePattern(as_glob(floating)),
            (true, _) if is_plain(tied) => Self::Place(tied.to_owned()),
            (true, _) => {
                let own = as_glob(tied);
                let inner = format!("{own}/**");
                Self::PlacePattern { own, inner }
            }
        }
    }

    fn matches(&self, relative: &str, itself: bool) -> bool {
        let names = || {
            let end = if itself {
                relative.len()
            } else {
                relative.rfind('/').unwrap_or(0)
            };
            relative[..end].split('/').filter(|part| !part.is_empty())
        };
        match self {
            Self::Everything => itself || relative.contains('/'),
            Self::Name(name) => names().any(|part| part == name),
            Self::NamePattern(pattern) => names().any(|part| glob_match(pattern, part)),
            Self::Place(place) => {
                below(relative, place).is_some_and(|inner| itself || !inner.is_empty())
            }
            Self::PlacePattern { own, inner } => {
                glob_match(inner, relative) || (itself && glob_match(own, relative))
            }
        }
    }
}

fn is_plain(text: &str) -> bool {
    !text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// A pattern of `.gitignore` in the language of `fast_glob`: braces and `!` mean themselves, `**` is special only as a
/// whole name, and brackets that do not close mean themselves, too.
fn as_glob(text: &str) -> String {
    let glob = translate(text, Brackets::Class);
    match validate(&glob) {
        Ok(()) => glob,
        Err(_) => translate(text, Brackets::Themselves),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Brackets {
    Class,
    Themselves,
}

fn translate(text: &str, brackets: Brackets) -> String {
    let names = text.split('/').map(|name| {
        if name == "**" {
            return name.to_owned();
        }
        let mut glob = String::with_capacity(name.len());
        let mut characters = name.chars();
        while let Some(character) = characters.next() {
            match character {
                '{' | '}' => glob.extend(['\\', character]),
                '[' | ']' if brackets == Brackets::Themselves => glob.extend(['\\', character]),
                '!' if glob.is_empty() => glob.push_str("\\!"),
                '?' => glob.push_str("[!/]"),
                '*' if glob.ends_with('*') => {}
                '\\' => glob.extend(['\\', characters.next().unwrap_or('\\')]),
                other => glob.push(other),
            }
        }
        glob
    });
    names.collect::<Vec<_>>().join("/")
}

/// A path as the patterns look at it: from each anchor, as it is written and without regard to case.
pub(crate) struct Place {
    exact: Sight,
    folded: Sight,
}

/// A path, and how much of it each anchor takes away.
struct Sight {
    path: String,
    starts: [Option<usize>; 5],
}

impl Place {
    pub(crate) fn new(path: &str, places: &Places) -> Self {
        Self {
            exact: Sight::new(path.to_owned(), places, str::to_owned),
            folded: Sight::new(path.to_lowercase(), places, str::to_lowercase),
        }
    }
}

impl Sight {
    fn new(path: String, places: &Places, fold: impl Fn(&str) -> String) -> Self {
        let flag = places.flag_settings.as_deref().unwrap_or(&places.project);
        let bases = ["", &places.home, &places.project, &places.config, flag];
        let starts = bases.map(|base| {
            let rest = below(&path, &fold(base))?;
            Some(path.len() - rest.len())
        });
        Self { path, starts }
    }

    fn from(&self, anchor: Anchor) -> Option<&str> {
        let start = self.starts[anchor as usize]?;
        self.path.get(start..)
    }
}
