//! Witnesses of PROTOCOL.md and the part of Towline that each of them runs. `checklist` compares that with the area of
//! the statement.
//!
//! A library is run by any test of its crate. The agent and the bridge are programs: only a test that starts the program
//! runs them, so unit tests of their crates stand beside such a test and do not replace it.

use std::{fmt, fs, path::Path};

use crate::documents::{ROOT, conversations_had, source_of};

/// Areas of statements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Area {
    Protocol,
    Host,
    Permission,
    Agent,
    Bridge,
    Store,
    Telegram,
}

impl Area {
    const ALL: [Self; 7] = [
        Self::Protocol,
        Self::Host,
        Self::Permission,
        Self::Agent,
        Self::Bridge,
        Self::Store,
        Self::Telegram,
    ];

    pub(crate) fn read(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|area| area.to_string() == word);
        found.ok_or_else(|| {
            let known = Self::ALL.map(|area| area.to_string()).join(", ");
            format!("there is no area `{word}`: write one of {known}")
        })
    }

    /// The witnesses that show a statement of this area.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Self::Protocol => "a test of towline-protocol",
            Self::Host => "a test of towline-host",
            Self::Permission => "a test of towline-permission",
            Self::Store => "a test of towline-store",
            Self::Agent => {
                "a test of crates/towline/tests/it that starts the agent, or a conversation of parity.toml"
            }
            Self::Bridge => "a test of crates/towline/tests/it that starts the bridge",
            Self::Telegram => "a test that runs it, of which there is none",
        }
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protocol => "protocol",
            Self::Host => "host",
            Self::Permission => "permission",
            Self::Agent => "agent",
            Self::Bridge => "bridge",
            Self::Store => "store",
            Self::Telegram => "telegram",
        })
    }
}

/// One of the names under *shown by*.
#[derive(Debug, PartialEq)]
pub(crate) enum Witness {
    /// `module::test`, in a crate's place: `towline/agent`.
    Test { place: String, test: String },
    /// A documentation test.
    Documentation(String),
    /// A recorded conversation that the agent has.
    Conversation(String),
}

/// Reads a list of names.
pub(crate) fn witnesses(list: &str) -> Result<Vec<Witness>, String> {
    let mut found = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        if !found.is_empty() {
            rest = rest.strip_prefix(", ").ok_or_else(|| misread(rest))?;
        }
        rest = read(rest, &mut found).ok_or_else(|| misread(rest))?;
    }
    if found.is_empty() {
        return Err("it names no witness: write ·, — or the names of tests".to_owned());
    }
    Ok(found)
}

fn misread(rest: &str) -> String {
    format!(
        "{rest:?} begins with no witness: write `module::test`, `Item` (doc) or parity (`trace`), with a comma and a \
         space between them"
    )
}

/// Reads the first name of a list, and gives what is behind it.
fn read<'a>(list: &'a str, found: &mut Vec<Witness>) -> Option<&'a str> {
    if let Some(traces) = list.strip_prefix("parity (") {
        let (traces, rest) = traces.split_once(')')?;
        for trace in traces.split(", ") {
            let trace = trace.strip_prefix('`')?.strip_suffix('`')?;
            found.push(Witness::Conversation(trace.to_owned()));
        }
        return Some(rest);
    }
    let (name, rest) = list.strip_prefix('`')?.split_once('`')?;
    if let Some(rest) = rest.strip_prefix(" (doc)") {
        found.push(Witness::Documentation(name.to_owned()));
        return Some(rest);
    }
    let (place, test) = name.rsplit_once("::")?;
    found.push(Witness::Test {
        place: place.to_owned(),
        test: test.to_owned(),
    });
    Some(rest)
}

impl Witness {
    /// The parts that it runs; none for one that only stands beside another. An error if it does not exist.
    pub(crate) fn runs(&self) -> Result<&'static [Area], String> {
        match self {
            Self::Conversation(trace) if conversations_had().contains(trace) => Ok(&[Area::Agent]),
            Self::Conversation(trace) => Err(format!(
                "{trace} is not in parity.toml: name a conversation that the agent has"
            )),
            Self::Documentation(item) if is_documented(item) => Ok(&[Area::Protocol]),
            Self::Documentation(item) => Err(format!(
                "{item} is not in the documentation of towline-protocol: name an item that has an example"
            )),
            Self::Test { place, test } => {
                let areas = runs_of(place)?;
                let source = source_of(place).ok_or_else(|| {
                    format!("{place} is no module: name the file that has the test")
                })?;
                if has_test(&source, test) {
                    Ok(areas)
                } else {
                    Err(format!(
                        "{place} has no test `{test}`: name one that is there"
                    ))
                }
            }
        }
    }
}

/// The parts that the tests of a place run.
fn runs_of(place: &str) -> Result<&'static [Area], String> {
    let (name, module) = place.split_once('/').unwrap_or(("protocol", place));
    match name {
        "protocol" => Ok(&[Area::Protocol]),
        "host" => Ok(&[Area::Host]),
        "permission" => Ok(&[Area::Permission]),
        "store" => Ok(&[Area::Store]),
        "agent" | "bridge" => Ok(&[]),
        "towline" if module.starts_with("src/") => Ok(&[]),
        "towline" => {
            let found = MODULES.iter().find(|(name, ..)| *name == module);
            let (_, areas, _) = found.ok_or_else(|| {
                format!(
                    "crates/towline/tests/it has no module `{module}` in MODULES of witnesses.rs: add it there with the \
                     parts that it runs"
                )
            })?;
            Ok(areas)
        }
        other => Err(format!("there is no crate `{other}`")),
    }
}

/// Whether a source has a test of this name: a function behind an attribute that makes it one.
fn has_test(source: &str, name: &str) -> bool {
    let Some((before, _)) = source.split_once(&format!("fn {name}(")) else {
        return false;
    };
    // The name may stand behind spaces and `async`.
    let begun = usize::from(!before.ends_with('\n'));
    let above = before.lines().rev().skip(begun).map(str::trim);
    above
        .take_while(|line| !line.is_empty() && *line != "}")
        .any(|line| line == "#[test]" || line.starts_with("#[tokio::test"))
}

/// Whether an item of towline-protocol has an example in its documentation.
fn is_documented(item: &str) -> bool {
    let name = item.rsplit("::").next().unwrap_or(item);
    let declarations = [format!("pub fn {name}("), format!("pub struct {name}")];
    let sources = rust_files(&Path::new(ROOT).join("crates/towline-protocol/src"));
    let has_example = |source: &str| {
        let mut places = declarations
            .iter()
            .filter_map(|one| source.find(one.as_str()));
        places.any(|place| {
            let above = source[..place].lines().rev().map(str::trim);
            above
                .skip_while(|line| line.is_empty() || line.starts_with("#["))
                .take_while(|line| line.starts_with("///"))
                .any(|line| line.starts_with("/// ```"))
        })
    };
    sources.iter().any(|(_, source)| has_example(source))
}

/// The Rust files below a folder, with their paths in it.
fn rust_files(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let below = rust_files(&path).into_iter();
            files.extend(below.map(|(inner, source)| (format!("{name}/{inner}"), source)));
        } else if name.ends_with(".rs") {
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

/// A module of crates/towline/tests/it, the parts that each of its tests runs, and the words by which it starts them.
type Module = (&'static str, &'static [Area], &'static [&'static str]);

/// Modules without a part hold what others share, or run another command.
const MODULES: &[Module] = &[
    ("agent", &[Area::Agent], &["CARGO_BIN_EXE_towline"]),
    ("answers", &[Area::Agent], &["Driven::start"]),
    ("api_failures", &[Area::Agent], &["Driven::start"]),
    ("background", &[Area::Agent], &["Driven::start"]),
    ("backpressure", &[Area::Agent], &["Driven::start"]),
    ("bad_input", &[Area::Agent], &["Driven::start"]),
    ("clear", &[Area::Agent], &["Driven::start"]),
    ("control_requests", &[Area::Agent], &["Driven::start"]),
    ("crash", &[Area::Agent], &["Driven::start"]),
    ("differential", &[Area::Agent], &["CARGO_BIN_EXE_towline"]),
    // A dialect is part of the protocol: the agent behind this one is a script.
    (
        "dialect_session",
        &[Area::Protocol],
        &["\"dialect\", \"session\""],
    ),
    ("driven", &[], &[]),
    ("fetched_files", &[Area::Agent], &["Driven::start"]),
    (
        "hosted",
        &[Area::Agent, Area::Host],
        &["rooms(", "AgentCommand::new"],
    ),
    ("identity", &[Area::Agent], &["Driven::start"]),
    ("main", &[], &[]),
    ("links", &[Area::Agent], &["Driven::start"]),
    ("notices", &[Area::Agent], &["Driven::start"]),
    ("page", &[Area::Bridge], &["Bridge::start"]),
    // Its conversations are witnesses, each by its own name.
    ("parity", &[], &[]),
    ("permission", &[Area::Permission], &["\"permission\""]),
    ("permission_real", &[Area::Permission], &["\"permission\""]),
    ("planning", &[Area::Agent], &["Driven::start"]),
    ("pocket", &[Area::Bridge], &["Served::start"]),
    ("pocket_pressure", &[Area::Bridge], &["Served::start"]),
    ("pocket_reconnect", &[Area::Bridge], &["Served::start"]),
    ("pocket_start", &[Area::Bridge], &["Served::start"]),
    ("pull_requests", &[Area::Agent], &["Driven::start"]),
    ("requests", &[Area::Agent], &["Driven::start"]),
    ("resume", &[Area::Agent], &["Driven::start"]),
    ("run", &[], &[]),
    ("script_api", &[], &[]),
    ("sdk_flags", &[Area::Agent], &["towline_room()"]),
    ("sdks", &[], &[]),
    ("serve", &[], &[]),
    ("serve/answers", &[Area::Bridge], &["Served::with"]),
    ("serve/continued", &[Area::Bridge], &["Served::with"]),
    ("serve/faults", &[Area::Bridge], &["Served::with"]),
    ("serve/http", &[], &[]),
    ("serve/programs", &[Area::Bridge], &["Served::start"]),
    ("serve/links", &[Area::Bridge], &["Served::start"]),
    ("serve/ready", &[Area::Bridge], &["Served::start"]),
    ("serve/roots", &[Area::Bridge], &["Served::start"]),
    ("serve/security", &[Area::Bridge], &["Served::start"]),
    ("serve/tls", &[Area::Bridge], &["Served::with"]),
    ("serve/trust", &[Area::Bridge], &["Served::with"]),
    ("session_dialect", &[Area::Bridge], &["Served::start"]),
    ("sessions", &[Area::Store], &["\"sessions\""]),
    ("signals", &[Area::Agent], &["Driven::start"]),
    ("snapshots", &[Area::Bridge], &["Served::start"]),
    ("snapshots/logs", &[Area::Bridge], &["Served::start"]),
    ("snapshots/page_texts", &[], &[]),
    ("snapshots/settings", &[Area::Agent], &["Driven::start"]),
    ("statements", &[Area::Agent], &["Driven::start"]),
    ("terminal", &[Area::Agent], &["towline_room()"]),
    ("tool_inputs", &[Area::Agent], &["Driven::start"]),
    ("trace_check", &[], &[]),
    ("trace_record", &[], &[]),
    ("trace_replay", &[], &[]),
    ("trace_show", &[], &[]),
    ("trust", &[Area::Agent], &["Driven::start"]),
    ("unasked", &[Area::Agent], &["Driven::start"]),
    ("web", &[Area::Agent], &["Driven::start"]),
];

/// Words that start a part: a module that has them is said to run that part.
const STARTERS: [(&str, Area); 3] = [
    ("Driven::start", Area::Agent),
    ("Served::start", Area::Bridge),
    ("Served::with", Area::Bridge),
];

/// Problems of a table of modules, given the files that exist.
fn misclassified(modules: &[Module], files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, source) in files {
        let name = file.trim_end_matches(".rs");
        let Some((_, areas, words)) = modules.iter().find(|(module, ..)| *module == name) else {
            problems.push(format!(
                "{name} is not in MODULES of witnesses.rs: add it with the parts that its tests run"
            ));
            continue;
        };
        for word in words.iter().filter(|word| !source.contains(**word)) {
            problems.push(format!(
                "{name} is said to start a part by {word:?}, which is not in it: correct its row in MODULES"
            ));
        }
        if areas.len() > words.len() {
            problems.push(format!(
                "{name} is said to run a part: write in MODULES by which words it starts it"
            ));
        }
        for (word, area) in STARTERS {
            if source.contains(word) && !areas.contains(&area) {
                problems.push(format!(
                    "{name} has {word}, which starts the {area}: say so in MODULES"
                ));
            }
        }
    }
    for (name, ..) in modules {
        if !files
            .iter()
            .any(|(file, _)| file.trim_end_matches(".rs") == *name)
        {
            problems.push(format!(
                "{name} of MODULES is no file any more: remove its row"
            ));
        }
    }
    problems
}

#[test]
fn every_module_of_the_command_is_known_by_what_it_runs() {
    let mut files = rust_files(&Path::new(ROOT).join("crates/towline/tests/it"));
    // Parts of `parity`, which no statement names.
    files.retain(|(file, _)| !file.starts_with("parity/"));
    let problems = misclassified(MODULES, &files);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_module_that_is_not_known_or_runs_something_else_is_refused() {
    let file = |name: &str, source: &str| (name.to_owned(), source.to_owned());
    let modules: &[Module] = &[("one", &[Area::Agent], &["Driven::start"])];
    let starts = "let agent = Driven::start(&room);";
    for (modules, files, expected) in [
        (modules, vec![file("one.rs", starts)], ""),
        (
            modules,
            vec![file("one.rs", starts), file("two.rs", starts)],
            "two is not in MODULES",
        ),
        (
            modules,
            vec![file("one.rs", "decode(line);")],
            "which is not in it",
        ),
        (modules, vec![], "no file any more"),
        (
            &[("one", &[Area::Agent], &[])],
            vec![file("one.rs", "")],
            "by which words",
        ),
        (
            &[("one", &[Area::Bridge], &["Served::start"])],
            vec![file("one.rs", "Served::start(); Driven::start();")],
            "which starts the agent",
        ),
    ] {
        let problems = misclassified(modules, &files);
        assert_eq!(problems.is_empty(), expected.is_empty(), "{problems:?}");
        assert!(
            problems.iter().all(|problem| problem.contains(expected)),
            "{problems:?}"
        );
    }
}

#[test]
fn names_are_read_one_by_one() {
    let test = |place: &str, test: &str| Witness::Test {
        place: place.to_owned(),
        test: test.to_owned(),
    };
    let list = "`towline/src/agent/tests::a`, `Peer` (doc), parity (`x`, `y`), `codec::b`";
    assert_eq!(
        witnesses(list).unwrap(),
        [
            test("towline/src/agent/tests", "a"),
            Witness::Documentation("Peer".to_owned()),
            Witness::Conversation("x".to_owned()),
            Witness::Conversation("y".to_owned()),
            test("codec", "b"),
        ]
    );
}
