//! Documentation: what a library offers is shown by an example that runs, so that no example goes stale.

use std::{io, path::Path};

use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, Type, Visibility};

use super::{Problem, Source, rust_files};

/// Every public item of the listed crates has an example in its documentation, and the example runs.
///
/// Variants, fields and re-exports need none. What a macro makes is not seen: such a macro makes the examples too.
/// That `pub` means public is the business of the lint `unreachable_pub`.
///
/// # Errors
/// When a file cannot be read, or is no Rust.
pub fn examples_run(root: &Path) -> io::Result<Vec<Problem>> {
    let folders: Vec<_> = CRATES
        .iter()
        .map(|name| format!("crates/{name}/src"))
        .collect();
    let folders: Vec<_> = folders.iter().map(String::as_str).collect();
    let files = rust_files(root, &folders)?;
    let mut problems = Vec::new();
    for file in &files {
        problems.extend(without_example(file)?);
    }
    for (path, _, _) in NOT_RUN {
        if !files.iter().any(|file| file.path == *path) {
            problems.push(Problem::new(
                path,
                "is in the list of examples that cannot run and does not exist",
                "take it out of NOT_RUN in crates/towline-testkit/src/tidy/examples.rs",
            ));
        }
    }
    Ok(problems)
}

fn without_example(file: &Source) -> io::Result<Vec<Problem>> {
    let parsed = syn::parse_file(&file.text)
        .map_err(|error| io::Error::other(format!("{}: {error}", file.path)))?;
    let mut items = Vec::new();
    collect(&parsed.items, &mut items);
    Ok(items
        .into_iter()
        .filter_map(|(name, attributes)| {
            let shown = shown_by(attributes);
            let enough = if cannot_run(&file.path, &name) {
                Shown::NotRun
            } else {
                Shown::Run
            };
            let broken = match shown {
                shown if shown >= enough => return None,
                Shown::Nothing => format!("`{name}` has no example"),
                Shown::NotRun | Shown::Run => format!("the example of `{name}` does not run"),
            };
            Some(Problem::new(
                &file.path,
                broken,
                "show its use in a ``` block of its documentation; towline_testkit::in_session! has an agent \
                 for it, in_home! has sessions on disk",
            ))
        })
        .collect())
}

/// What documentation shows, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Nothing,
    NotRun,
    Run,
}

/// The public items, with the names they are known by.
fn collect<'a>(items: &'a [Item], found: &mut Vec<(String, &'a [Attribute])>) {
    for item in items {
        let (visibility, name, attributes) = match item {
            Item::Const(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Enum(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs),
            Item::Static(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Struct(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Trait(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Type(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Union(item) => (&item.vis, &item.ident, &item.attrs),
            Item::Mod(item) => {
                if let Some((_, items)) = &item.content {
                    collect(items, found);
                }
                continue;
            }
            Item::Impl(item) if item.trait_.is_none() => {
                collect_members(&item.self_ty, &item.items, found);
                continue;
            }
            _ => continue,
        };
        if is_public(visibility) {
            found.push((name.to_string(), attributes));
        }
    }
}

fn collect_members<'a>(
    of: &Type,
    members: &'a [ImplItem],
    found: &mut Vec<(String, &'a [Attribute])>,
) {
    let of = match of {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let of = of.map_or_else(String::new, |segment| segment.ident.to_string());
    for member in members {
        let (visibility, name, attributes) = match member {
            ImplItem::Fn(member) => (&member.vis, &member.sig.ident, &member.attrs),
            ImplItem::Const(member) => (&member.vis, &member.ident, &member.attrs),
            _ => continue,
        };
        if is_public(visibility) {
            found.push((format!("{of}::{name}"), attributes));
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The best example in the doc comment.
fn shown_by(attributes: &[Attribute]) -> Shown {
    let mut best = Shown::Nothing;
    let mut inside = false;
    let words: Vec<_> = attributes.iter().filter_map(documentation).collect();
    for line in words.iter().flat_map(|words| words.lines()) {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        if !inside {
            best = best.max(kind_of(language));
        }
        inside = !inside;
    }
    best
}

/// What rustdoc does with a block, by what stands behind its ```.
fn kind_of(language: &str) -> Shown {
    let mut words = language
        .split([',', ' '])
        .map(str::trim)
        .filter(|word| !word.is_empty());
    if words
        .clone()
        .all(|word| word.starts_with("edition") || RUNS.contains(&word))
    {
        Shown::Run
    } else if words.any(|word| word == "no_run") {
        Shown::NotRun
    } else {
        Shown::Nothing
    }
}

fn documentation(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(value) if pair.path.is_ident("doc") => match &value.lit {
            Lit::Str(words) => Some(words.value()),
            _ => None,
        },
        _ => None,
    }
}

fn cannot_run(path: &str, name: &str) -> bool {
    NOT_RUN
        .iter()
        .any(|(file, item, _)| *file == path && *item == name)
}

/// The crates that are held to this.
const CRATES: &[&str] = &["towline-host", "towline-store"];

/// Items whose example is only compiled, each with the reason.
const NOT_RUN: &[(&str, &str, &str)] = &[(
    "crates/towline-host/src/answer.rs",
    "ask",
    "starts `claude`, wherever it is",
)];

/// What a block that runs may say of itself.
const RUNS: &[&str] = &["rust", "should_panic", "standalone_crate"];

#[cfg(test)]
mod tests {
    use super::{NOT_RUN, Source, examples_run, without_example};

    fn check(path: &str, text: &str) -> Vec<String> {
        let file = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let problems = without_example(&file).unwrap();
        problems.into_iter().map(|problem| problem.broken).collect()
    }

    #[test]
    fn every_kind_of_public_item_needs_an_example() {
        for (text, name) in [
            ("pub fn f() {}", "f"),
            ("pub async fn f() {}", "f"),
            ("/// Words.\npub struct S { pub field: u8 }", "S"),
            ("pub enum E { Variant }", "E"),
            ("pub trait T {}", "T"),
            ("pub type A = u8;", "A"),
            ("pub const C: u8 = 1;", "C"),
            ("impl S { pub fn m(&self) {} }", "S::m"),
            ("impl<T> a::S<T> { pub const C: u8 = 1; }", "S::C"),
            ("pub mod inside { pub fn f() {} }", "f"),
            ("/// ```text\n/// words\n/// ```\npub fn f() {}", "f"),
            ("/// ```ignore\n/// f();\n/// ```\npub fn f() {}", "f"),
            ("/// ```compile_fail\n/// f();\n/// ```\npub fn f() {}", "f"),
            // What ends a block does not begin one.
            ("/// ```text\n/// ```\n/// Words.\npub fn f() {}", "f"),
        ] {
            assert_eq!(check("a.rs", text), [format!("`{name}` has no example")]);
        }
    }

    #[test]
    fn an_example_that_is_only_compiled_is_found() {
        for text in [
            "/// ```no_run\n/// f();\n/// ```\npub fn f() {}",
            "/// ```rust,no_run\n/// f();\n/// ```\npub fn f() {}",
        ] {
            assert_eq!(check("a.rs", text), ["the example of `f` does not run"]);
        }
    }

    #[test]
    fn what_needs_no_example_or_has_one_is_fine() {
        for text in [
            "/// Does it.\n///\n/// ```\n/// f();\n/// ```\npub fn f() {}",
            "/// ```rust,should_panic\n/// f();\n/// ```\n#[must_use]\npub fn f() {}",
            "/// ```text\n/// ```\n/// ```\n/// f();\n/// ```\npub fn f() {}",
            "fn f() {}",
            "pub(crate) fn f() {}",
            "pub use a::B;",
            "pub mod a;",
            "impl Display for S { fn fmt(&self) {} }",
            "impl S { fn private(&self) {} }",
            "macro_rules! m { () => { pub fn f() {} } }",
            "m! { pub fn f() {} }",
        ] {
            assert_eq!(check("a.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_item_on_the_list_needs_an_example_that_compiles() {
        let (path, name, _) = NOT_RUN[0];
        let bare = format!("pub fn {name}() {{}}");
        assert_eq!(check(path, &bare), [format!("`{name}` has no example")]);
        let shown = format!("/// ```no_run\n/// ```\n{bare}");
        assert_eq!(check(path, &shown), [""; 0]);
        assert_eq!(check("other.rs", &shown).len(), 1);
    }

    #[test]
    fn a_list_that_names_what_is_gone_is_found() {
        let root = tempfile::tempdir().unwrap();
        let problems = examples_run(root.path()).unwrap();
        assert_eq!(problems.len(), NOT_RUN.len(), "{problems:?}");
    }

    #[test]
    fn what_is_no_rust_is_an_error_with_its_file() {
        let file = Source {
            path: "a.rs".to_owned(),
            text: "fn {".to_owned(),
        };
        let error = without_example(&file).unwrap_err().to_string();
        assert!(error.starts_with("a.rs: "), "{error}");
    }
}
