//! Where things are: folders of projects, names of files, ids.

use std::path::Path;

use towline_store::{Error, Home, SessionKey, project_folder_name};

use crate::made::{Made, key};

/// Each was seen with CLI 2.1.325, but for the last three, which follow from them.
#[test]
fn folders_of_projects_are_named_as_the_cli_names_them() {
    let d100 = "d".repeat(100);
    let e100 = "e".repeat(100);
    let e90 = "e".repeat(90);
    let f191 = "f".repeat(191);
    let base = "/srv/app";
    let encoded = "-srv-app";
    for (cwd, folder) in [
        (
            format!("{base}/a_b.v1 x_é"),
            format!("{encoded}-a-b-v1-x--"),
        ),
        (
            format!("{base}/emoji-😀-x"),
            format!("{encoded}-emoji----x"),
        ),
        // Not composed to `é` first.
        (
            format!("{base}/nfd-e\u{301}-x"),
            format!("{encoded}-nfd-e--x"),
        ),
        (format!("{base}/{f191}"), format!("{encoded}-{f191}")),
        (
            format!("{base}/{f191}f"),
            format!("{encoded}-{f191}-wytxf9"),
        ),
        (
            format!("{base}/{d100}/{e100}"),
            format!("{encoded}-{d100}-{e90}-om3vty"),
        ),
        (
            format!("{base}/{d100}/{e100}/{}", "é😀".repeat(20)),
            format!("{encoded}-{d100}-{e90}-b6wul1"),
        ),
        ("/".to_owned(), "-".to_owned()),
        (String::new(), String::new()),
        (r"C:\Users\ann".to_owned(), "C--Users-ann".to_owned()),
    ] {
        assert_eq!(project_folder_name(&cwd), folder, "{cwd}");
    }
}

#[test]
fn only_a_uuid_with_hyphens_is_a_session_id() {
    for id in [
        "11111111-2222-4333-8444-555555555555",
        "AAAAAAAA-bbbb-4ccc-8ddd-eeeeeeeeeeee",
        "00000000-0000-0000-0000-000000000000",
    ] {
        assert_eq!(id.parse::<SessionKey>().unwrap().as_str(), id);
    }
    for id in [
        "",
        "..",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "11111111-2222-4333-8444-55555555555",
        "11111111-2222-4333-8444-5555555555555",
        "11111111222243338444555555555555",
        "{11111111-2222-4333-8444-555555555555}",
        "urn:uuid:11111111-2222-4333-8444-555555555555",
        "1111111/-2222-4333-8444-555555555555",
        "11111111-2222-4333-8444-55555555555\0",
        "11111111-2222-4333-8444-55555555555g",
        "11111111_2222_4333_8444_555555555555",
        "１1111111-2222-4333-8444-5555555555",
    ] {
        let error = id.parse::<SessionKey>().unwrap_err();
        assert!(matches!(error, Error::BadId { .. }), "{id}");
        assert!(error.to_string().contains("UUID"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_working_directory_behind_a_link_is_the_project_it_leads_to() {
    let made = Made::new();
    let real = made.folder.path().join("real").canonicalize();
    assert!(real.is_err());
    let folder = made.folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("real")).unwrap();
    std::os::unix::fs::symlink(folder.join("real"), folder.join("link")).unwrap();
    assert_eq!(
        made.home.project_folder(folder.join("link")),
        made.home.project_folder(folder.join("real"))
    );
}

#[test]
fn a_session_is_found_in_whichever_project_has_it() {
    let made = Made::new();
    let empty = made.session_in("/a", 1);
    std::fs::write(empty.path(), "").unwrap();
    let full = made.session_in("/b", 1);
    std::fs::write(full.path(), "{}\n").unwrap();
    assert_eq!(made.home.session(full.key()).unwrap(), full);

    let missing = key(2).parse().unwrap();
    let error = made.home.session(&missing).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }));
    let nowhere = Home::new("/no/such/folder").session(&missing);
    assert!(matches!(nowhere, Err(Error::NotFound { .. })));
}

#[test]
fn subagents_and_tool_results_lie_in_the_folder_of_the_session() {
    let made = Made::new();
    let session = made.with(1, "{}\n");
    assert_eq!(session.subagents().unwrap(), []);
    assert_eq!(session.tool_results().unwrap(), [""; 0].map(Path::new));
    for file in [
        "subagents/agent-b.jsonl",
        "subagents/agent-b.meta.json",
        "subagents/workflows/run/agent-a.jsonl",
        "subagents/notes.txt",
        "tool-results/1.txt",
    ] {
        let path = session.folder().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }
    let subagents = session.subagents().unwrap();
    let found: Vec<_> = subagents.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(found, ["b", "a"]);
    assert!(subagents[0].metadata_path().is_file());
    assert_eq!(
        session.tool_results().unwrap(),
        [session.folder().join("tool-results/1.txt")]
    );
}
