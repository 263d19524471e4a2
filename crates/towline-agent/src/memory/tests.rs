//! Memory files on a disk made for the purpose.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{Memory, MemoryKind, MemoryPlaces};
use crate::config::MemorySources;

/// A machine with an organisation, a user and a project `work/app` with a directory `src` in it.
struct Machine {
    folder: TempDir,
    cwd: &'static str,
    sources: MemorySources,
    outside_imports: bool,
}

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("work/app/src")).unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            folder,
            cwd: "work/app/src",
            sources: MemorySources::default(),
            outside_imports: false,
        }
    }

    /// The same at work in the project's own folder.
    fn at_top(files: &[(&str, &str)]) -> Self {
        Self {
            cwd: "work/app",
            ..Self::new(files)
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn read(&self) -> Memory {
        Memory::read(&MemoryPlaces {
            managed: &self.path().join("managed"),
            config: &self.path().join("home/.claude"),
            user_home: &self.path().join("home"),
            cwd: &self.path().join(self.cwd),
            sources: self.sources,
            outside_imports: self.outside_imports,
        })
    }

    /// The names of the files that are read, from the folder on.
    fn names(&self) -> Vec<String> {
        let memory = self.read();
        let files = memory.files.iter();
        files
            .map(|file| file.path.strip_prefix(self.path()).unwrap())
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }
}

const ALL: &[(&str, &str)] = &[
    ("managed/CLAUDE.md", "of the organisation"),
    ("home/.claude/CLAUDE.md", "of the user"),
    ("home/.claude/rules/u.md", "a rule of the user"),
    ("work/CLAUDE.md", "above the project"),
    ("work/app/.claude/CLAUDE.md", "inner"),
    ("work/app/.claude/rules/b.md", "b"),
    ("work/app/.claude/rules/a.md", "a"),
    ("work/app/.claude/rules/no.txt", "no"),
    ("work/app/CLAUDE.md", "of the project"),
    ("work/app/CLAUDE.local.md", "local"),
    ("work/app/src/CLAUDE.md", "deepest"),
];

#[test]
fn files_are_read_from_the_most_general_to_the_most_particular() {
    let machine = Machine::new(ALL);
    assert_eq!(
        machine.names(),
        [
            "managed/CLAUDE.md",
            "home/.claude/CLAUDE.md",
            "home/.claude/rules/u.md",
            "work/CLAUDE.md",
            "work/app/CLAUDE.md",
            "work/app/.claude/CLAUDE.md",
            "work/app/.claude/rules/a.md",
            "work/app/.claude/rules/b.md",
            "work/app/CLAUDE.local.md",
            "work/app/src/CLAUDE.md",
        ]
    );
    let memory = machine.read();
    assert_eq!(memory.files[0].kind, MemoryKind::Managed);
    assert_eq!(memory.files[8].kind, MemoryKind::Local);
    assert_eq!(memory.left_out, [] as [&str; 0]);
    let text = memory.text().unwrap();
    for (_, words) in ALL.iter().filter(|(path, _)| path.ends_with(".md")) {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn only_the_sources_that_count_are_read() {
    let sources = |user, project, local| MemorySources {
        user,
        project,
        local,
    };
    let cases = [
        (sources(false, false, false), 1),
        (sources(true, false, false), 3),
        (sources(false, true, false), 7),
        (sources(false, false, true), 2),
    ];
    for (sources, count) in cases {
        let mut machine = Machine::new(ALL);
        machine.sources = sources;
        assert_eq!(machine.names().len(), count, "{sources:?}");
    }
}

#[test]
fn without_files_the_model_is_told_nothing() {
    let machine = Machine::new(&[("work/app/CLAUDE.md", " \n")]);
    assert_eq!(machine.read(), Memory::default());
    assert_eq!(machine.read().text(), None);
}

#[test]
fn imports_stand_behind_their_file_and_circles_end() {
    let machine = Machine::at_top(&[
        (
            "work/app/CLAUDE.md",
            "@docs/a.md @./docs/../docs/a.md @missing.md",
        ),
        ("work/app/docs/a.md", "@b.md"),
        ("work/app/docs/b.md", "@a.md @../CLAUDE.md"),
        ("home/.claude/CLAUDE.md", "@~/other.md"),
        ("home/other.md", "elsewhere"),
    ]);
    assert_eq!(
        machine.names(),
        [
            "home/.claude/CLAUDE.md",
            "home/other.md",
            "work/app/CLAUDE.md",
            "work/app/docs/a.md",
            "work/app/docs/b.md",
        ]
    );
}

#[test]
fn imports_end_at_the_fifth() {
    let names: Vec<(String, String)> = (0..9)
        .map(|n| (format!("work/app/{n}.md"), format!("@{}.md", n + 1)))
        .collect();
    let mut files: Vec<(&str, &str)> = vec![("work/app/CLAUDE.md", "@0.md")];
    files.extend(
        names
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    assert_eq!(
        Machine::at_top(&files).names().last().unwrap(),
        "work/app/4.md"
    );
}

#[test]
fn a_project_cannot_import_what_is_not_its_own() {
    let machine = Machine::at_top(&[
        ("work/app/CLAUDE.md", "@~/secret.md @../other.md @link.md"),
        ("home/secret.md", "secret"),
        ("work/other.md", "of a neighbour"),
    ]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        machine.path().join("home/secret.md"),
        machine.path().join("work/app/link.md"),
    )
    .unwrap();
    assert_eq!(machine.names(), ["work/app/CLAUDE.md"]);
    let left_out = machine.read().left_out;
    assert_eq!(
        left_out.len(),
        if cfg!(unix) { 3 } else { 2 },
        "{left_out:?}"
    );
    assert!(left_out[0].contains("secret.md"), "{left_out:?}");
}

#[test]
fn what_an_approved_project_imports_from_outside_was_left_out() {
    let files = &[
        ("work/app/CLAUDE.md", "@~/shared.md"),
        ("work/app/CLAUDE.local.md", "@~/mine.md"),
        ("home/shared.md", "shared"),
        ("home/mine.md", "mine"),
    ];
    let mut machine = Machine::at_top(files);
    let (project, local) = ("work/app/CLAUDE.md", "work/app/CLAUDE.local.md");
    // A clone can bring either file along: CLI 2.1.325 sends neither import before a person approved it.
    assert_eq!(machine.names(), [project, local]);
    let left_out = machine.read().left_out;
    assert!(
        left_out.len() == 2 && left_out[0].contains("shared.md") && left_out[1].contains("mine.md"),
        "{left_out:?}"
    );
    machine.outside_imports = true;
    let all = [project, "home/shared.md", local, "home/mine.md"];
    assert_eq!(machine.names(), all);
    assert_eq!(machine.read().left_out, [] as [&str; 0]);
}

#[cfg(unix)]
#[test]
fn a_memory_file_that_is_a_link_to_outside_was_told_to_the_model() {
    let mut machine = Machine::at_top(&[
        ("home/secret.md", "secret"),
        ("work/app/AGENTS.md", "the agents"),
    ]);
    let link = |target: &str, at: &str| {
        let at = machine.path().join(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(machine.path().join(target), at).unwrap();
    };
    link("home/secret.md", "work/app/CLAUDE.md");
    link("home/secret.md", "work/app/.claude/rules/a.md");
    // A link that stays inside is followed.
    link("work/app/AGENTS.md", "work/app/.claude/CLAUDE.md");
    assert_eq!(machine.names(), ["work/app/.claude/CLAUDE.md"]);
    let left_out = machine.read().left_out;
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(
        left_out[0].ends_with("it is a link that leads out of the project"),
        "{left_out:?}"
    );
    machine.outside_imports = true;
    assert_eq!(machine.names().len(), 2, "what a person approved counts");
}

#[test]
fn what_cannot_be_told_is_left_out_with_its_reason() {
    let huge = "x".repeat((256 << 10) + 1);
    let machine = Machine::at_top(&[("work/app/CLAUDE.md", &huge), ("work/CLAUDE.md", "fine")]);
    fs::write(
        machine.path().join("work/app/CLAUDE.local.md"),
        [0xff, 0xfe],
    )
    .unwrap();
    fs::create_dir(machine.path().join("work/app/src/CLAUDE.md")).unwrap();
    assert_eq!(machine.names(), ["work/CLAUDE.md"]);
    let left_out = machine.read().left_out;
    assert!(
        left_out[0].ends_with("it is too large to be told to the model"),
        "{left_out:?}"
    );
    assert!(left_out[1].ends_with("it is not UTF-8"), "{left_out:?}");
}

/// The folder above the project is shared with others, and imported what only they should see.
#[cfg(unix)]
#[test]
fn a_file_above_the_project_imported_what_is_outside_of_it() {
    use std::os::unix::fs::symlink;

    let files = &[
        ("work/CLAUDE.md", "@out/secret.md @app/own.md"),
        ("work/out/secret.md", "secret"),
        ("work/app/own.md", "own"),
        ("work/app/CLAUDE.md", "@own.md"),
    ];
    let mut machine = Machine::at_top(files);
    let read = ["work/CLAUDE.md", "work/app/own.md", "work/app/CLAUDE.md"];
    assert_eq!(machine.names(), read);
    machine.outside_imports = true;
    assert!(machine.names().contains(&"work/out/secret.md".to_owned()));
    machine.outside_imports = false;
    fs::remove_file(machine.path().join("work/CLAUDE.md")).unwrap();
    symlink("out/secret.md", machine.path().join("work/CLAUDE.md")).unwrap();
    assert_eq!(machine.names(), ["work/app/CLAUDE.md", "work/app/own.md"]);
}
