//! Functions of a test file: the text that a test runs is its own and that of the functions of its file that it calls.
//! It reads rustfmt's form, in which a function ends with a brace below its beginning.

use std::collections::BTreeSet;

/// The text of a test with that of the functions of its file that it calls, in any depth; `None` if the file has no test
/// of that name. A function that another file has is not followed.
pub(super) fn text_of_test(source: &str, test: &str) -> Option<String> {
    let functions = functions(source);
    let test = functions
        .iter()
        .find(|function| function.is_test && function.name == test)?;
    let (mut text, mut called) = (String::new(), BTreeSet::new());
    let mut waiting = vec![test];
    while let Some(function) = waiting.pop() {
        if called.insert(function.start) {
            text.push_str(&function.code);
            let calls = functions
                .iter()
                .filter(|other| !other.is_test && calls(&function.code, other.name));
            waiting.extend(calls);
        }
    }
    Some(text)
}

struct Function<'a> {
    name: &'a str,
    /// The line where it begins.
    start: usize,
    is_test: bool,
    /// Its lines without comments.
    code: String,
}

fn functions(source: &str) -> Vec<Function<'_>> {
    let lines: Vec<&str> = source.lines().collect();
    let mut functions = Vec::new();
    let mut is_test = false;
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if let Some(name) = declared(code) {
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let inside = lines[start..].iter().take_while(|line| ***line != end);
            let is_code = |line: &&&str| !line.trim_start().starts_with("//");
            functions.push(Function {
                name,
                start,
                is_test,
                code: inside
                    .filter(is_code)
                    .map(|line| format!("{line}\n"))
                    .collect(),
            });
        }
        is_test |= code == "#[test]" || code.starts_with("#[tokio::test");
        // Other attributes stand between.
        is_test &= code.starts_with('#') || code.starts_with("//");
    }
    functions
}

/// The name of the function that a line begins.
fn declared(code: &str) -> Option<&str> {
    let mut words = code
        .split(' ')
        .skip_while(|word| matches!(*word, "async" | "const") || word.starts_with("pub"));
    let is_function = words.next() == Some("fn");
    let rest = words.next().filter(|_| is_function)?;
    rest.split(['(', '<']).next()
}

fn calls(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let is_whole =
            !code[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = &code[at + name.len()..];
        // A function may be an argument, which other tests of this kind have last.
        let is_called = rest.starts_with('(') || rest.starts_with("::<");
        is_whole && (is_called || code[..at].ends_with(", ") && rest.starts_with(')'))
    })
}

#[test]
fn the_text_of_a_test_has_what_it_calls_and_nothing_else() {
    let source = "\
#[test]
fn it_runs() {
    // decodes()
    play(\"x\", outer);
}

#[tokio::test(flavor = \"multi_thread\")]
#[expect(clippy::x)]
async fn it_decodes() {
    decodes();
    let inner = 1;
}

fn outer(n: u32) {
    inner::<u32>(n);
    outer(n);
}

async fn inner<T>(n: T) {
    Driven::start(n);
}

fn decodes() {
    read();
}
";
    let starts = |test: &str| Some(text_of_test(source, test)?.contains("Driven::start"));
    for (test, expected) in [
        ("it_runs", Some(true)),
        ("it_decodes", Some(false)),
        ("decodes", None),
        ("it", None),
    ] {
        assert_eq!(starts(test), expected, "{test}");
    }
    let text = text_of_test(source, "it_runs").unwrap();
    assert!(!text.contains("decodes"), "{text}");
}
