//! Witnesses of PROTOCOL.md and the part of Towline that each of them runs. `checklist` compares that with the area of
//! the statement.
//!
//! A library is run by any test of its crate. The agent and the bridge are programs: only a test that starts the program
//! runs them, so unit tests of their crates stand beside such a test and do not replace it. A test starts it itself, or by a
//! function of its file.

mod calls;

use std::{fmt, fs, path::Path};

use crate::documents::{ROOT, conversations_had, source_of};

use calls::text_of_test;

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
    pub(crate) const ALL: [Self; 7] = [
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
    pub(crate) fn runs(&self) -> Result<Vec<Area>, String> {
        match self {
            Self::Conversation(trace) if conversations_had().contains(trace) => {
                Ok(vec![Area::Agent])
            }
            Self::Conversation(trace) => Err(format!(
                "{trace} is not in parity.toml: name a conversation that the agent has"
            )),
            Self::Documentation(item) if is_documented(item) => Ok(vec![Area::Protocol]),
            Self::Documentation(item) => Err(format!(
                "{item} is not in the documentation of towline-protocol: name an item that has an example"
            )),
            Self::Test { place, test } => {
                let part = part_of(place)?;
                let source = source_of(place).ok_or_else(|| {
                    format!("{place} is no module: name the file that has the test")
                })?;
                let text = text_of_test(&source, test).ok_or_else(|| {
                    format!("{place} has no test `{test}`: name one that is there")
                })?;
                Ok(match part {
                    Part::Library(area) => vec![area],
                    Part::Pieces => Vec::new(),
                    Part::Programs(starts) => started(starts, &text),
                })
            }
        }
    }
}

/// The kind of place that a test stands in.
enum Part {
    /// A library, which each of them runs.
    Library(Area),
    /// Parts of a program, which none of them starts.
    Pieces,
    /// Programs, which one of them runs if it has these words.
    Programs(&'static [Start]),
}

fn part_of(place: &str) -> Result<Part, String> {
    let (name, module) = place.split_once('/').unwrap_or(("protocol", place));
    match name {
        "protocol" => Ok(Part::Library(Area::Protocol)),
        "host" => Ok(Part::Library(Area::Host)),
        "permission" => Ok(Part::Library(Area::Permission)),
        "store" => Ok(Part::Library(Area::Store)),
        "agent" | "bridge" => Ok(Part::Pieces),
        "towline" if module.starts_with("src/") => Ok(Part::Pieces),
        "towline" => {
            let found = MODULES.iter().find(|(name, _)| *name == module);
            let (_, starts) = found.ok_or_else(|| {
                format!(
                    "crates/towline/tests/it has no module `{module}` in MODULES of witnesses.rs: add it there with the \
                     parts that it runs"
                )
            })?;
            Ok(Part::Programs(starts))
        }
        other => Err(format!("there is no crate `{other}`")),
    }
}

/// The parts that a text starts.
fn started(starts: &[Start], text: &str) -> Vec<Area> {
    let found = starts.iter().filter(|(_, word)| text.contains(word));
    found.map(|(area, _)| *area).collect()
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

/// A part, and words that start it.
type Start = (Area, &'static str);

/// A module of crates/towline/tests/it, and what its tests start.
type Module = (&'static str, &'static [Start]);

const DRIVEN: &[Start] = &[(Area::Agent, "Driven::start")];
const SERVED: &[Start] = &[
    (Area::Bridge, "Served::start"),
    (Area::Bridge, "Served::with"),
];

/// Modules without a part hold what others share, or run another command.
const MODULES: &[Module] = &[
    ("agent", &[(Area::Agent, "CARGO_BIN_EXE_towline")]),
    ("answers", DRIVEN),
    ("api_failures", DRIVEN),
    ("background", DRIVEN),
    ("backpressure", DRIVEN),
    ("bad_input", DRIVEN),
    ("clear", DRIVEN),
    ("control_requests", DRIVEN),
    ("crash", DRIVEN),
    // A dialect is part of the protocol: the agent behind this one is a script.
    (
        "dialect_session",
        &[(Area::Protocol, "\"dialect\", \"session\"")],
    ),
    ("differential", &[(Area::Agent, "CARGO_BIN_EXE_towline")]),
    ("differential/classes", &[]),
    ("differential/inside", DRIVEN),
    ("differential/lines", &[]),
    ("differential/sandbox", &[]),
    ("differential/setting", &[]),
    ("driven", &[]),
    ("fetched_files", DRIVEN),
    (
        "hosted",
        &[(Area::Agent, "rooms("), (Area::Host, "AgentCommand::new")],
    ),
    ("identity", DRIVEN),
    ("links", DRIVEN),
    ("main", &[]),
    ("notices", DRIVEN),
    ("page", &[(Area::Bridge, "Bridge::start")]),
    // Its conversations are witnesses, each by its own name.
    ("parity", &[]),
    ("permission", &[(Area::Permission, "\"permission\"")]),
    ("permission_real", &[(Area::Permission, "\"permission\"")]),
    ("planning", DRIVEN),
    ("pocket", SERVED),
    ("pocket_pressure", SERVED),
    ("pocket_reconnect", SERVED),
    ("pocket_start", SERVED),
    ("pull_requests", DRIVEN),
    ("requests", DRIVEN),
    ("resume", DRIVEN),
    ("run", &[]),
    ("script_api", &[]),
    ("sdk_flags", &[(Area::Agent, "towline_room()")]),
    ("sdks", &[]),
    ("serve", &[]),
    (
        "serve/answers",
        &[(Area::Bridge, "Served::with"), (Area::Bridge, "bridge()")],
    ),
    ("serve/continued", SERVED),
    ("serve/faults", SERVED),
    ("serve/http", &[]),
    ("serve/links", SERVED),
    ("serve/programs", SERVED),
    ("serve/ready", SERVED),
    ("serve/roots", SERVED),
    ("serve/security", SERVED),
    ("serve/tls", SERVED),
    ("serve/trust", SERVED),
    ("session_dialect", SERVED),
    ("sessions", &[(Area::Store, "\"sessions\"")]),
    ("signals", DRIVEN),
    ("snapshots", SERVED),
    ("snapshots/logs", SERVED),
    ("snapshots/page_texts", &[]),
    ("snapshots/settings", DRIVEN),
    (
        "statements",
        &[
            (Area::Agent, "Driven::start"),
            (Area::Agent, "room.command("),
        ],
    ),
    ("terminal", &[(Area::Agent, "towline_room()")]),
    ("tool_inputs", DRIVEN),
    ("trace_check", &[]),
    ("trace_record", &[]),
    ("trace_replay", &[]),
    ("trace_show", &[]),
    ("trust", DRIVEN),
    ("unasked", DRIVEN),
    ("web", DRIVEN),
];

/// Problems of a table of modules, given the files that exist.
fn misclassified(modules: &[Module], files: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, source) in files {
        let name = file.trim_end_matches(".rs");
        let Some((_, starts)) = modules.iter().find(|(module, _)| *module == name) else {
            problems.push(format!(
                "{name} is not in MODULES of witnesses.rs: add it with the parts that its tests run"
            ));
            continue;
        };
        let has = started(starts, source);
        for (area, word) in starts.iter().filter(|(area, _)| !has.contains(area)) {
            problems.push(format!(
                "{name} is said to start the {area} by {word:?}, which is not in it: correct its row in MODULES"
            ));
        }
        for (area, word) in [DRIVEN, SERVED].concat() {
            if source.contains(word) && !starts.iter().any(|(started, _)| *started == area) {
                problems.push(format!(
                    "{name} has {word}, which starts the {area}: say so in MODULES"
                ));
            }
        }
    }
    for (name, _) in modules {
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
    let modules: &[Module] = &[("one", &[(Area::Agent, "Driven::start")])];
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
            &[("one", &[(Area::Bridge, "Served::start")])],
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
