//! The words that the page shows: all texts in its modules that a person may read, whatever module they stand in.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tree_sitter::{Node, Parser};

use super::check;

#[test]
fn the_page_says_what_it_said_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../towline-bridge/page");
    let mut texts = Vec::new();
    for module in modules(&folder) {
        texts.extend(texts_in(&fs::read_to_string(module).unwrap()));
    }
    // One that stands in several places is there as often: each of them may be lost.
    texts.sort();
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    let manifest = fs::read_to_string(folder.join("page.webmanifest")).unwrap();
    check(
        "page",
        &format!(
            "{}\n\n---- index.html\n{page}\n---- page.webmanifest\n{manifest}",
            texts.join("\n")
        ),
    );
}

/// The page's own modules, without those that were published by others.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("vendor") {
            found.extend(modules(&path));
        } else if path.extension().is_some_and(|extension| extension == "js") {
            found.push(path);
        }
    }
    found
}

/// The texts of a module that a person may read; `${…}` stands for what is put in.
fn texts_in(source: &str) -> Vec<String> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_javascript::LANGUAGE.into())
        .unwrap();
    let tree = parser.parse(source, None).unwrap();
    assert!(!tree.root_node().has_error(), "{source}");
    let mut texts = Vec::new();
    collect(tree.root_node(), source, &mut texts);
    texts
}

fn collect(node: Node<'_>, source: &str, texts: &mut Vec<String>) {
    if ["string", "template_string"].contains(&node.kind()) {
        let text = text_of(node, source);
        if is_for_a_person(node, source, &text) {
            texts.push(text);
        }
    }
    for child in node.children(&mut node.walk()) {
        collect(child, source, texts);
    }
}

/// A literal without its quotes, on one line.
fn text_of(node: Node<'_>, source: &str) -> String {
    let mut cursor = node.walk();
    let parts = node.named_children(&mut cursor).map(|part| {
        if part.kind() == "template_substitution" {
            "${…}"
        } else {
            &source[part.byte_range()]
        }
    });
    let text: Vec<_> = parts.collect();
    text.concat().replace('\n', "\\n")
}

/// Words, and not a name that only programs read: an address, a class, a module, a kind of element.
fn is_for_a_person(node: Node<'_>, source: &str, text: &str) -> bool {
    if !text.replace("${…}", "").contains(char::is_alphabetic) {
        return false;
    }
    let Some(parent) = node.parent() else {
        return false;
    };
    match parent.kind() {
        "import_statement" | "export_statement" => false,
        "pair" if parent.child_by_field_name("value") == Some(node) => {
            let key = &source[parent.child_by_field_name("key").unwrap().byte_range()];
            let is_read = key == "state" || reads_like_words(text);
            !MACHINE_KEYS.contains(&key.trim_matches('"')) && is_read
        }
        // A state is shown as it is called: `file.state = "deleted"`.
        "assignment_expression" => {
            let assigned = &source[parent.child_by_field_name("left").unwrap().byte_range()];
            assigned.ends_with(".state") || reads_like_words(text)
        }
        // What stands in an element: `h("p", {…}, "text")`.
        "arguments" => {
            let called = parent
                .parent()
                .and_then(|call| call.child_by_field_name("function"));
            let is_element = called.is_some_and(|name| &source[name.byte_range()] == "h");
            let is_first = parent.named_child(0) == Some(node);
            (is_element && !is_first) || reads_like_words(text)
        }
        _ => reads_like_words(text),
    }
}

/// Several words, one beside others (`added: `), or one that begins with a capital.
fn reads_like_words(text: &str) -> bool {
    let is_address = text.starts_with('/') || text.contains("://");
    let has_space = text.contains(' ');
    // The path of a picture has letters, but no word.
    let has_word = text
        .split(|letter: char| !letter.is_alphabetic())
        .any(|word| word.chars().count() > 1);
    let mut letters = text.chars();
    let capital = letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase);
    !is_address && has_word && (has_space || capital)
}

const MACHINE_KEYS: &[&str] = &["class", "type", "role", "accept", "headers", "d"];

#[test]
fn texts_are_told_from_names() {
    let source = r#"
        import { h } from "../Some module.js";
        const a = h("p", { class: "two classes", title: "A title", type: "button" }, "lower", `${n} more`);
        fetch("/api/A place"); element.addEventListener("click", f); throw new Error("Too large");
        const path = "M12 4v8M8 8h8"; const kinds = { one: "Allow once", two: "denied" };
        const line = "added: " + n;
        const file = { state: "changed", name: "n" }; file.state = "deleted"; file.name = "n";
    "#;
    assert_eq!(
        texts_in(source),
        [
            "A title",
            "lower",
            "${…} more",
            "Too large",
            "Allow once",
            "added: ",
            "changed",
            "deleted"
        ]
    );
}
