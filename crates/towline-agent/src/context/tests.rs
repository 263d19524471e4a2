//! What the model is told, for all ways to ask for it.

use std::path::PathBuf;

use serde_json::Value;

use super::{PROMPT, Surroundings, system_blocks};
use crate::{config::PromptOptions, repository::Repository};

fn surroundings() -> Surroundings {
    Surroundings {
        cwd: PathBuf::from("/srv/app"),
        directories: vec![PathBuf::from("/data")],
        repository: Some(Repository {
            root: PathBuf::from("/srv/app"),
            branch: Some("main".to_owned()),
        }),
        platform: "linux".to_owned(),
        os_version: Some("Linux 6.18.1".to_owned()),
        shell: Some("bash".to_owned()),
        date: "2026-11-16".to_owned(),
        model: "claude-opus-5-5".to_owned(),
    }
}

fn texts(replace: Option<&str>, append: Option<&str>, memory: Option<&str>) -> Vec<String> {
    let options = PromptOptions {
        replace: replace.map(str::to_owned),
        append: append.map(str::to_owned),
        ..PromptOptions::default()
    };
    let blocks = system_blocks(&options, &surroundings(), memory);
    let blocks = blocks.iter().map(|block| block.parse::<Value>().unwrap());
    blocks
        .map(|block| {
            assert_eq!(block["type"], "text");
            block["text"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn the_prompt_is_replaced_and_appended_to_as_asked() {
    let around = surroundings().text();
    let ours = PROMPT.to_owned();
    let cases = [
        (None, None, ours.clone()),
        (Some("A"), None, "A".to_owned()),
        (None, Some("B"), format!("{ours}\n\nB")),
        (Some("A"), Some("B"), "A\n\nB".to_owned()),
        (Some("A"), Some(" "), "A".to_owned()),
    ];
    for (replace, append, prompt) in cases {
        assert_eq!(texts(replace, append, None), [prompt.as_str(), &around]);
        assert_eq!(
            texts(replace, append, Some("M")),
            [prompt.as_str(), &around, "M"]
        );
    }
    // An empty prompt is one: nothing of ours comes back.
    assert_eq!(texts(Some(""), None, None), [around]);
}

#[test]
fn the_surroundings_are_told_line_by_line() {
    let expected = "\
# Surroundings

- working directory: /srv/app
- also to work in: /data
- git repository: /srv/app, on branch `main`
- platform: linux
- operating system: Linux 6.18.1
- shell: bash
- today: 2026-11-16
- you are the model: claude-opus-5-5";
    assert_eq!(surroundings().text(), expected);

    let folder = tempfile::tempdir().unwrap();
    let text = Surroundings::of(folder.path()).text();
    assert!(text.contains("- git repository: no\n"), "{text}");
}
