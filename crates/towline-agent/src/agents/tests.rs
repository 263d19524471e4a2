//! Agents from JSON, from files, and which one counts.

use std::{fs, path::Path};

use serde_json::json;

use super::*;
use crate::config::MemorySources;

fn agent(name: &str) -> AgentDefinition {
    AgentDefinition {
        name: name.to_owned(),
        description: "d".to_owned(),
        prompt: "p".to_owned(),
        tools: None,
        disallowed_tools: Vec::new(),
        model: None,
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_definition_is_read_or_told_what_is_wrong() {
    let named = agent("x");
    for (definition, expected) in [
        (
            json!({"description": "d", "prompt": "p"}),
            Ok(named.clone()),
        ),
        (
            json!({"description": "d", "prompt": "p", "model": "inherit", "tools": ["*"], "more": 1}),
            Ok(named.clone()),
        ),
        (
            json!({"description": "d", "prompt": "p", "model": "haiku", "tools": ["Read", "Bash(ls:*)"],
                "disallowedTools": ["Write"]}),
            Ok(AgentDefinition {
                tools: Some(strings(&["Read", "Bash"])),
                disallowed_tools: strings(&["Write"]),
                model: Some("haiku".to_owned()),
                ..named
            }),
        ),
        (json!(5), Err("x: an object is expected")),
        (
            json!({"prompt": "p"}),
            Err("x.description: a string is expected"),
        ),
        (
            json!({"description": "d", "prompt": 1}),
            Err("x.prompt: a string is expected"),
        ),
        (
            json!({"description": "d", "prompt": "p", "tools": "Read"}),
            Err("x.tools: an array is expected"),
        ),
        (
            json!({"description": "d", "prompt": "p", "tools": [1]}),
            Err("x.tools: strings are expected"),
        ),
        (
            json!({"description": "d", "prompt": "p", "model": 1}),
            Err("x.model: a string is expected"),
        ),
    ] {
        let read = AgentDefinition::read("x", &definition);
        assert_eq!(read, expected.map_err(ToOwned::to_owned), "{definition}");
    }
}

#[test]
fn a_file_is_a_frontmatter_and_a_prompt() {
    let plain = AgentDefinition {
        description: "helps".to_owned(),
        prompt: "You help.".to_owned(),
        ..agent("helper")
    };
    let with_tools = |tools: &[&str]| AgentDefinition {
        tools: Some(strings(tools)),
        ..plain.clone()
    };
    let head = "name: helper\ndescription: helps\n";
    for (text, expected) in [
        (format!("---\n{head}---\nYou help.\n"), plain.clone()),
        (
            format!("---\r\n{}---\r\n\r\nYou help.", head.replace('\n', "\r\n")),
            plain.clone(),
        ),
        (
            format!("\u{feff}---\n{head}model: inherit\ncolor: red\n---\nYou help."),
            plain.clone(),
        ),
        (
            format!("---\n{head}tools: Read, Bash(ls:*, cat)\n---\nYou help."),
            with_tools(&["Read", "Bash"]),
        ),
        (
            format!("---\n{head}tools:\n  - Read\n  - Edit\n---\nYou help."),
            with_tools(&["Read", "Edit"]),
        ),
        (
            format!("---\n{head}tools: [Read]\n---\nYou help."),
            with_tools(&["Read"]),
        ),
        (
            "---\nname: helper\ndescription: use it so: it's good\nmodel: haiku\n---\nYou help."
                .to_owned(),
            AgentDefinition {
                description: "use it so: it's good".to_owned(),
                model: Some("haiku".to_owned()),
                ..plain.clone()
            },
        ),
    ] {
        assert_eq!(files::definition(&text), Ok(expected), "{text}");
    }
}

#[test]
fn a_file_that_is_no_agent_says_why() {
    let deep = format!("---\nname: {}\n---\n", "[".repeat(100_000));
    let dashes = format!("---\n{} x\n---\n", "- ".repeat(50_000));
    for (text, words) in [
        ("", "does not begin with a frontmatter"),
        ("no frontmatter", "does not begin with a frontmatter"),
        ("---\nname: x\n", "does not begin with a frontmatter"),
        ("---\n---\nx", "has no `name`"),
        ("---\nname: x\n---\nx", "has no `description`"),
        ("---\n- a\n---\nx", "not YAML"),
        ("---\nname: [\n---\nx", "not YAML"),
        (&deep, "nested too deeply"),
        (&dashes, "nested too deeply"),
    ] {
        let why = files::definition(text).unwrap_err();
        let shown: String = text.chars().take(40).collect();
        assert!(why.contains(words), "{shown}: {why}");
    }
}

#[test]
fn the_more_particular_definition_counts() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, name: &str, prompt: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            path,
            format!("---\nname: {name}\ndescription: d\n---\n{prompt}"),
        )
        .unwrap();
    };
    write("config/agents/a.md", "one", "user");
    write("config/agents/b.md", "Two", "user");
    write("config/agents/not-an-agent.txt", "no", "user");
    write(
        "repository/.claude/agents/deep/er/a.md",
        "one",
        "repository",
    );
    write("repository/inner/.claude/agents/a.md", "three", "inner");
    write("repository/inner/.claude/agents/bad.md", "", "bad");
    write(".claude/agents/a.md", "stranger", "above the repository");
    fs::create_dir(folder.path().join("repository/.git")).unwrap();
    let (config, cwd) = (
        folder.path().join("config"),
        folder.path().join("repository/inner"),
    );
    let prompts = |sources: MemorySources, defined: &[AgentDefinition]| {
        let places = AgentPlaces {
            config: &config,
            cwd: Path::new(&cwd),
            sources,
        };
        let agents = Agents::new(&places, defined, None);
        let names = agents.names().into_iter();
        let shown: Vec<String> = names
            .map(|name| format!("{name}={}", agents.known[name].prompt))
            .collect();
        shown.join(" ")
    };
    let all = MemorySources::default();
    assert_eq!(prompts(all, &[]), "one=repository three=inner Two=user");
    assert_eq!(prompts(all, &[agent("one")]), "one=p three=inner Two=user");
    let user = MemorySources {
        project: false,
        ..all
    };
    assert_eq!(prompts(user, &[]), "one=user Two=user");
    let nobody = MemorySources {
        user: false,
        ..user
    };
    assert_eq!(prompts(nobody, &[]), "");
}

#[test]
fn the_host_may_define_the_agent_that_the_session_is() {
    let mut agents = Agents {
        wanted: Some("late".to_owned()),
        ..Agents::default()
    };
    assert_eq!((agents.main(), agents.missing()), (None, Some("late")));
    let Value::Object(definitions) =
        json!({"late": {"description": "d", "prompt": "p"}, "bad": {"prompt": "p"}})
    else {
        unreachable!("an object is written here");
    };
    assert_eq!(
        agents.add(&definitions),
        ["bad.description: a string is expected"]
    );
    let late = agent("late");
    assert_eq!((agents.main(), agents.missing()), (Some(&late), None));
}

#[test]
fn an_agent_has_the_tools_it_lists_but_for_those_it_must_not_have() {
    let all = agent("all");
    let some = AgentDefinition {
        tools: Some(strings(&["Read", "Bash"])),
        disallowed_tools: strings(&["Bash"]),
        ..agent("some")
    };
    assert!(all.has("Write"));
    assert_eq!(
        ["Read", "Bash", "Write"].map(|tool| some.has(tool)),
        [true, false, false]
    );
}
