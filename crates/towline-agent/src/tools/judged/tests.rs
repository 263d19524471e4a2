//! Every tool that takes a path opens what was judged, whatever links there are and whenever they come.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use towline_permission::{Destination, PermissionMode, Places, Rule};

use super::*;
use crate::tools::{Outcome, Place, ToolCall, definitions};

/// The name of a tool, and the input of a call for a path.
type CallOfPath = (&'static str, fn(&str) -> Value);

/// Tools that open a path.
const WITH_PATH: &[CallOfPath] = &[
    ("Read", |path| json!({"file_path": path})),
    (
        "Write",
        |path| json!({"file_path": path, "content": "written"}),
    ),
    (
        "Edit",
        |path| json!({"file_path": path, "old_string": "side", "new_string": "edited"}),
    ),
    (
        "MultiEdit",
        |path| json!({"file_path": path, "edits": [{"old_string": "side", "new_string": "edited"}]}),
    ),
    (
        "NotebookRead",
        |path| json!({"notebook_path": format!("{path}.ipynb")}),
    ),
    (
        "NotebookEdit",
        |path| json!({"notebook_path": format!("{path}.ipynb"), "cell_id": "c", "new_source": "edited"}),
    ),
    ("Glob", |path| json!({"pattern": "**", "path": path})),
    (
        "Grep",
        |path| json!({"pattern": "side", "path": path, "output_mode": "content"}),
    ),
    ("LS", |path| json!({"path": path})),
];

/// Tools that open no path that the model names. Bash opens by itself, and its command line is judged elsewhere.
const WITHOUT_PATH: &[&str] = &[
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "KillBash",
    "KillShell",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
];

const NOTEBOOK: &str = r#"{"cells":[{"cell_type":"code","id":"c","source":"CONTENT","metadata":{},"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;

/// `inside` and `outside` with the same names, but that files tell where they are.
struct Scene {
    _folder: TempDir,
    base: PathBuf,
    place: Place,
    runtime: Runtime,
}

impl Scene {
    fn new(links: &[(String, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for side in ["inside", "outside"] {
            for directory in ["a", "b/c", "d"] {
                fs::create_dir_all(base.join(side).join(directory)).unwrap();
            }
            for file in ["file", "a/file", "b/file", "b/c/file", "d/file"] {
                let path = base.join(side).join(file);
                fs::write(&path, format!("{side} text\n")).unwrap();
                let notebook = NOTEBOOK.replace("CONTENT", &format!("{side} cell"));
                fs::write(path.with_extension("ipynb"), notebook).unwrap();
            }
        }
        for directory in ["outside", "outside/a", "outside/b", "outside/b/c"] {
            fs::write(base.join(directory).join("OUTSIDE-only"), "side\n").unwrap();
        }
        for (link, target) in links {
            let target = target.replace("BASE", base.to_str().unwrap());
            symlink(target, base.join("inside").join(link)).ok();
        }
        let (place, _) = Place::in_folder(&base);
        let inside = base.join("inside");
        Self {
            place: Place {
                current: inside.clone(),
                project: inside.into(),
                must_read_first: false,
                ..place
            },
            _folder: folder,
            base,
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    fn policy(&self) -> Policy {
        let inside = self.base.join("inside").to_str().unwrap().to_owned();
        let places = Places {
            project: inside.clone(),
            current: inside,
            ..Places::default()
        };
        Policy::new(PermissionMode::AcceptEdits, places)
    }

    /// Runs a call if its target is inside, as the rules would have it.
    fn run_if_inside(&self, tool: &str, input: &Value) -> Option<Outcome> {
        let target = Target::of(&self.policy(), tool, input)?;
        if !target.real.starts_with(self.base.join("inside")) {
            return None;
        }
        let place = Place {
            target: Some(target),
            ..self.place.clone()
        };
        let call = ToolCall::read(tool, input).unwrap().unwrap();
        Some(self.runtime.block_on(call.run(&place)))
    }

    /// Calls every tool for a path; nothing that is told comes from outside.
    fn call_all(&self, path: &str) {
        for (tool, input) in WITH_PATH {
            let Some(outcome) = self.run_if_inside(tool, &input(path)) else {
                continue;
            };
            let told = format!("{} {}", outcome.content.text(), outcome.data);
            // Messages have the path of the call in them.
            let told = if path.is_empty() {
                told
            } else {
                told.replace(path, "")
            };
            let leaks = ["OUTSIDE-only", "outside cell", "outside text"];
            let leak = leaks.iter().find(|leak| told.contains(**leak));
            assert_eq!(leak, None, "{tool} of {path}: {told}");
        }
    }

    /// All that is outside, with its content.
    fn outside(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.base.join("outside")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path.clone(), fs::read(path).ok()));
            }
        }
        found.sort();
        found
    }
}

#[test]
fn a_tool_that_takes_a_path_is_in_the_table() {
    let scene = Scene::new(&[]);
    for definition in definitions() {
        let name = definition.name;
        let call = WITH_PATH.iter().find(|(tool, _)| *tool == name);
        assert_eq!(
            call.is_some(),
            !WITHOUT_PATH.contains(&name),
            "{name} must be in one table"
        );
        let fields = definition.schema["properties"].as_object();
        let takes_path = fields.is_some_and(|fields| {
            let mut names = fields.keys();
            names.any(|field| field == "path" || field.ends_with("_path"))
        });
        assert_eq!(takes_path, call.is_some(), "{name} takes a path");
        let Some((tool, input)) = call else { continue };
        let input = input("d/file");
        let found = target(&scene.policy(), &Call::new(tool, &input));
        assert!(found.is_some(), "the rules know no path of {name}");
    }
}

#[test]
fn a_link_and_a_step_up_lead_where_the_words_say() {
    let links = [
        ("u".to_owned(), "BASE/outside/b".to_owned()),
        ("in".to_owned(), "b/c".to_owned()),
    ];
    let scene = Scene::new(&links);
    let before = scene.outside();
    for path in [
        "u/../file",
        "u/../elsewhere",
        "u/..",
        "u/../b/file",
        "in/../file",
    ] {
        let absolute = scene.base.join("inside").join(path);
        scene.call_all(path);
        scene.call_all(absolute.to_str().unwrap());
    }
    let read = scene.run_if_inside("Read", &json!({"file_path": "u/../d/file"}));
    assert_eq!(read.unwrap().content.text(), "1\tinside text\n2\t");
    // Links that stay inside are followed.
    let read = scene.run_if_inside("Read", &json!({"file_path": "in/file"}));
    assert_eq!(read.unwrap().content.text(), "1\tinside text\n2\t");
    for tool in ["Read", "Write", "Edit", "LS"] {
        let (_, input) = WITH_PATH.iter().find(|(name, _)| *name == tool).unwrap();
        assert!(
            scene.run_if_inside(tool, &input("u/file")).is_none(),
            "{tool}"
        );
    }
    assert_eq!(scene.outside(), before);
}

#[test]
fn a_search_leaves_out_what_may_not_be_read() {
    let scene = Scene::new(&[]);
    let mut policy = scene.policy();
    let rule = Rule::with_content("Read", "b/**");
    policy.add(rule, Behavior::Deny, Destination::UserSettings);
    for input in [
        json!({"pattern": "inside", "output_mode": "content"}),
        json!({"pattern": "**"}),
    ] {
        let tool = if input["output_mode"].is_null() {
            "Glob"
        } else {
            "Grep"
        };
        let place = Place {
            target: Target::of(&policy, tool, &input),
            hidden: Hidden::by(&policy),
            ..scene.place.clone()
        };
        let call = ToolCall::read(tool, &input).unwrap().unwrap();
        let told = scene.runtime.block_on(call.run(&place)).content.text();
        assert!(told.contains("d/file"), "{tool}: {told}");
        assert!(!told.contains("b/"), "{tool}: {told}");
    }
}

fn path() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "c", "A", "l", "m", "..", ".", "file", "new"]);
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.join("/"))
}

fn links() -> impl Strategy<Value = Vec<(String, String)>> {
    let at = prop::sample::select(vec!["l", "m", "a/l", "b/m", "b/c/l", "d/l"]);
    let target = prop_oneof![
        path(),
        path().prop_map(|path| format!("BASE/outside/{path}")),
        path().prop_map(|path| format!("BASE/inside/{path}")),
        Just("nowhere".to_owned()),
        Just("l".to_owned()),
    ];
    prop::collection::vec((at.prop_map(str::to_owned), target), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_tool_leaves_the_project_by_any_path(links in links(), paths in prop::collection::vec(path(), 1..6)) {
        let scene = Scene::new(&links);
        let before = scene.outside();
        for path in &paths {
            scene.call_all(path);
        }
        prop_assert_eq!(before, scene.outside());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn no_tool_leaves_the_project_while_folders_are_swapped_for_links(
        links in links(),
        paths in prop::collection::vec(path(), 1..4),
    ) {
        let scene = Scene::new(&links);
        let before = scene.outside();
        let done = AtomicBool::new(false);
        let base = scene.base.clone();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for name in ["a", "b", "b/c"] {
                        let folder = base.join("inside").join(name);
                        let aside = folder.with_extension("aside");
                        if fs::rename(&folder, &aside).is_ok() {
                            symlink(base.join("outside").join(name), &folder).ok();
                            fs::remove_file(&folder).ok();
                            fs::rename(&aside, &folder).ok();
                        }
                    }
                }
            });
            let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for _ in 0..25 {
                    for path in paths.iter().map(String::as_str).chain(["a/file", "b/c/file", "b", ""]) {
                        scene.call_all(path);
                    }
                }
            }));
            done.store(true, Ordering::Relaxed);
            if let Err(panic) = called {
                std::panic::resume_unwind(panic);
            }
        });
        prop_assert_eq!(before, scene.outside());
    }
}
