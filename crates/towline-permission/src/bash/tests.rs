//! What a line splits into: tables, and a real bash beside it.

use std::{
    env, fs,
    process::{Command as Process, Stdio},
};

use proptest::prelude::*;

use super::{
    shell::{self, Opaque, Script},
    word::Variables,
};

fn parse(line: &str) -> Script {
    shell::parse(line, &Variables::of("/home/me", "/project"))
}

/// The commands of a line, each with its words as they are when it runs.
fn commands(line: &str) -> Vec<Vec<String>> {
    let words = |command: &shell::Command| {
        command
            .words
            .iter()
            .map(|word| word.known().to_owned())
            .collect()
    };
    parse(line).commands.iter().map(words).collect()
}

#[test]
fn what_is_beyond_ascii_is_part_of_words_and_of_no_names() {
    for (line, expected) in [
        (
            "echo Gr\u{fc}\u{df}e; \u{fc}ber",
            &["echo Gr\u{fc}\u{df}e", "\u{fc}ber"][..],
        ),
        (
            "echo '\u{1f600}' \u{10fffd}",
            &["echo \u{1f600} \u{10fffd}"],
        ),
        ("\u{e9}=1 ls", &["\u{e9}=1 ls"]),
        ("cat <<EOF\n\u{fc}ber\nEOF", &["cat"]),
    ] {
        let found: Vec<String> = commands(line).iter().map(|words| words.join(" ")).collect();
        assert_eq!(found, expected, "{line}");
        assert!(!parse(line).is_broken, "{line}");
    }
    // The end of such a here-document could be told from other words only by the shell.
    for line in [
        "cat <<\u{e9}\n..\nrm x\n\u{e9}",
        "cat <<- '\u{e9}'\n\u{e8}\n\u{e9}",
    ] {
        assert!(parse(line).is_broken, "{line}");
    }
}

#[test]
fn a_line_is_split_into_its_commands_wherever_they_stand() {
    for (line, expected) in [
        ("a b && c | d; e", &["a b", "c", "d", "e"][..]),
        ("a; b &\nc", &["a", "b", "c"]),
        (
            "if a; then b; elif c; then d; else e; fi",
            &["a", "b", "c", "d", "e"],
        ),
        ("for x in 1 2; do a; done", &["a"]),
        ("until a; do b; done", &["a", "b"]),
        ("case x in y) a;; z) b;; esac", &["a", "b"]),
        ("f() { a; }; f", &["a", "f"]),
        ("(a; b)", &["a", "b"]),
        ("! a", &["a"]),
        ("a $(b `c`)", &["c", "b $(b `c`)", "a $(b `c`)"]),
        (
            "cat <<EOF | sort && c\n$(b)\nEOF",
            &["sort", "c", "b", "cat"],
        ),
        ("x=$(a) b", &["a", "b"]),
        ("a > >(b)", &["b", "a"]),
        ("[[ $(a) ]]", &["a", "["]),
        ("export ONE=1 TWO", &["export ONE=1 TWO"]),
    ] {
        let mut found: Vec<String> = commands(line)
            .iter()
            .map(|words| words[0].clone())
            .collect();
        let mut expected: Vec<String> = expected
            .iter()
            .map(|command| command.split(' ').next().unwrap_or_default().to_owned())
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn words_are_what_the_shell_makes_of_them() {
    for (line, expected) in [
        (r#"a 'b c' "d e" f\;g"#, &["a", "b c", "d e", "f;g"][..]),
        (r#"r""m 'x'y"z""#, &["rm", "xyz"]),
        (r#"a "b \"c\" \d""#, &["a", r#"b "c" \d"#]),
        ("a $HOME \"$PWD/x\"", &["a", "/home/me", "/project/x"]),
        ("a \\\n b", &["a", "b"]),
        ("X=rm; $X y", &["rm", "y"]),
    ] {
        let found = commands(line).pop().unwrap_or_default();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn what_cannot_be_known_is_said() {
    for (line, expected) in [
        ("a $(b)", Opaque::Substitution),
        ("a `b`", Opaque::Substitution),
        ("a \"$(b)\"", Opaque::QuotedSubstitution),
        ("a <(b)", Opaque::ProcessSubstitution),
        ("a $X", Opaque::Variable),
        ("a ~root/x", Opaque::Variable),
        (
            "for HOME in /etc; do cat $HOME/x; done",
            Opaque::Assignments,
        ),
        ("cd x; cat $PWD/y", Opaque::Variable),
        ("a ${X}", Opaque::BracedVariable),
        ("a $'b'", Opaque::EscapedText),
        ("a {b,c}", Opaque::BraceExpansion),
        ("a {1..3}", Opaque::BraceExpansion),
        ("(a)", Opaque::Subshell),
        ("{ a; }", Opaque::Group),
        ("((1))", Opaque::Group),
        ("f() { a; }", Opaque::Function),
        ("case a in b) c;; esac", Opaque::Case),
        ("a <<EOF\nb\nEOF", Opaque::HereDocument),
        ("a b\\ c", Opaque::EscapedBlank),
        ("a\u{a0}b", Opaque::UnicodeBlank),
    ] {
        assert_eq!(parse(line).opaque.first(), Some(&expected), "{line}");
    }
    for line in [
        "a b",
        "a 'x $(y)'",
        "a <<'EOF'\n$(b)\nEOF",
        "a $((1 + 2))",
        "a \"b c\" {}",
    ] {
        assert_eq!(parse(line).opaque, [], "{line}");
    }
}

#[test]
fn what_is_no_command_line_is_broken() {
    for line in [
        "a \"b",
        "a &&",
        "&& a",
        "a ; ; b",
        "if a; then",
        "$(a",
        "time { a; }",
    ] {
        assert!(parse(line).is_broken, "{line}");
    }
    let deep = "$(".repeat(5000);
    assert!(parse(&deep).is_broken);
    let deep = format!("{}a{}", "(".repeat(3000), ")".repeat(3000));
    assert!(parse(&deep).is_broken);
}

fn word() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z0-9_./%+,:@-]{1,6}",
        1 => "'[a-z $;&|()*\"`\\\\-]{0,6}'",
        1 => "\"[a-z ;&|()*'-]{0,6}\"",
        1 => "\\\\[;&|()*'\"$]",
    ];
    // A word that begins with a dash, a tilde or `=` is left to others.
    prop::collection::vec(piece, 1..3).prop_map(|pieces| format!("w{}", pieces.concat()))
}

fn command() -> impl Strategy<Value = String> {
    let redirect = prop_oneof![
        4 => Just(String::new()),
        1 => Just(" > /dev/null".to_owned()),
        1 => Just(" 2>&1".to_owned()),
        1 => Just(" < /dev/null".to_owned()),
    ];
    let assignment = prop_oneof![4 => Just(String::new()), 1 => Just("A=1 ".to_owned())];
    (
        assignment,
        "c[0-9]",
        prop::collection::vec(word(), 0..3),
        redirect,
    )
        .prop_map(|(assignment, name, words, redirect)| {
            format!(
                "{assignment}{}{redirect}",
                [vec![name], words].concat().join(" ")
            )
        })
}

fn group() -> impl Strategy<Value = String> {
    (command(), 0..12).prop_map(|(command, form)| match form {
        0 => format!("({command})"),
        1 => format!("{{ {command}; }}"),
        2 => format!("if {command}; then {command}; fi"),
        3 => format!("for i in 1; do {command}; done"),
        4 => format!("c0 $({command})"),
        _ => command,
    })
}

fn line() -> impl Strategy<Value = String> {
    let joint = prop_oneof![
        Just("; "),
        Just(" && "),
        Just(" | "),
        Just("\n"),
        Just(" |& ")
    ];
    (group(), prop::collection::vec((joint, group()), 0..3)).prop_map(|(first, rest)| {
        rest.iter().fold(first, |line, (joint, group)| {
            format!("{line}{joint}{group}")
        })
    })
}

/// Characters that mean something to a shell, and letters of which no command of its own can be made: neither a function nor a
/// loop, nor a path that leads out of the folder.
fn heap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[cw01]{1,2}",
        4 => Just(" ".to_owned()),
        4 => "[\\\\\t\n\r\u{b}\u{c}#]",
        3 => "[;&|<>'\"$=]",
        1 => Just("\\\n".to_owned()),
        1 => Just("\\\t".to_owned()),
        1 => Just("\\ ".to_owned()),
    ];
    prop::collection::vec(piece, 1..24).prop_map(|pieces| format!("c {}", pieces.concat()))
}

/// What a real bash starts when it runs a line: it finds no program, and writes down each one it looks for.
fn started_by_bash(line: &str, may_fail: bool) -> Vec<Vec<String>> {
    let folder = env::temp_dir().join(format!(
        "towline-bash-{}-{:x}",
        std::process::id(),
        hash(line)
    ));
    fs::create_dir_all(&folder).unwrap();
    let script = format!(
        "command_not_found_handle() {{ local IFS=$'\\037'; printf '%s\\036' \"$*\" >> \"$LOG\"; }}\n{line}\n"
    );
    let log = folder.join("log");
    let ran = Process::new("/bin/bash")
        .args(["--noprofile", "--norc", "-c", &script])
        .env_clear()
        .env("LOG", &log)
        .env("PATH", &folder)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = fs::read(&log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    fs::remove_dir_all(&folder).ok();
    assert!(
        ran.status.code() != Some(2) || may_fail,
        "{line}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let words = |record: &str| {
        record
            .split_terminator('\u{1f}')
            .map(str::to_owned)
            .collect()
    };
    text.split_terminator('\u{1e}').map(words).collect()
}

fn hash(line: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #[test]
    fn a_real_bash_starts_nothing_that_was_not_found(line in heap()) {
        let script = parse(&line);
        if !script.is_broken && script.opaque.is_empty() {
            let mut found = commands(&line);
            // An empty word at the end is not written down.
            found.iter_mut().for_each(|words| words.retain(|word| !word.is_empty()));
            for mut started in started_by_bash(&line, true) {
                started.retain(|word| !word.is_empty());
                let place = found.iter().position(|words| *words == started);
                prop_assert!(place.is_some(), "{:?} starts {:?}, found {:?}", line, started, found);
                found.remove(place.unwrap_or_default());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_real_bash_starts_what_was_found(line in line()) {
        let mut started = started_by_bash(&line, false);
        let mut found = commands(&line);
        // What a substitution gives is nothing here, and nothing is no word.
        for words in &mut found {
            words.retain(|word| !word.starts_with("$("));
        }
        started.sort();
        found.sort();
        prop_assert_eq!(found, started);
    }

    #[test]
    fn no_text_makes_it_panic(line in "\\PC{0,200}") {
        parse(&line);
    }

    #[test]
    fn no_heap_of_shell_makes_it_panic(line in "[a-z$(){}\\[\\]<>&|;'\"`\\\\ \n#!*?~=0-9-]{0,120}") {
        parse(&line);
    }
}
