//! Every route that takes a path, with a link that leads outside and steps up behind it.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use super::Served;

/// The routes with a parameter that is a path, and how it is named.
const ROUTES: &[(&str, &[&str])] = &[
    ("/api/diff", &["directory", "path"]),
    ("/api/directory", &["directory", "path"]),
    ("/api/file", &["directory", "path"]),
    ("/api/files", &["directory", "path"]),
    ("/api/past", &["directory"]),
    ("/api/trust", &["directory"]),
];

#[test]
fn no_route_shows_anything_behind_a_link_that_leads_outside() {
    let served = Served::start();
    let project = served.project();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("deep")).unwrap();
    for file in ["file", "deep/file", "SECRET-name"] {
        fs::write(outside.path().join(file), "SECRET").unwrap();
    }
    fs::create_dir(project.join("sub")).unwrap();
    fs::write(project.join("sub/file"), "shown").unwrap();
    symlink(outside.path().join("deep"), project.join("u")).unwrap();
    symlink("sub", project.join("in")).unwrap();

    let described = served.get("/openapi.json").json();
    let mut found = Vec::new();
    for (route, methods) in described["paths"].as_object().unwrap() {
        let parameters = methods["get"]["parameters"].as_array();
        let names = parameters.into_iter().flatten();
        let names: Vec<_> = names
            .filter(|parameter| parameter["in"] == "query")
            .filter_map(|parameter| parameter["name"].as_str())
            .filter(|name| ["directory", "file", "folder", "path", "project"].contains(name))
            .map(str::to_owned)
            .collect();
        if !names.is_empty() {
            found.push((route.clone(), names));
        }
    }
    let known: Vec<_> = ROUTES
        .iter()
        .map(|(route, names)| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            ((*route).to_owned(), names)
        })
        .collect();
    assert_eq!(found, known, "a route with a path belongs into ROUTES");

    let root = project.to_str().unwrap();
    for (route, _) in ROUTES {
        for (directory, path) in [
            (format!("{root}/u"), "file"),
            (format!("{root}/u/.."), "file"),
            (format!("{root}/u/.."), "SECRET-name"),
            (root.to_owned(), "u/file"),
            (root.to_owned(), "u/../file"),
            (format!("{root}/in"), "../u/file"),
            (format!("{root}/sub"), "../u/../file"),
        ] {
            let answer = served.get(&format!(
                "{route}?directory={directory}&path={path}&hidden=true"
            ));
            let said = answer.body.replace(path, "");
            assert!(
                !said.contains("SECRET"),
                "{route} {directory} {path}: {said}"
            );
        }
    }
    let shown = served.get(&format!("/api/file?directory={root}&path=in/file"));
    assert!(shown.body.contains("shown"), "{shown:?}");
    for directory in ["u", "u/.."] {
        let begin = json!({"directory": format!("{root}/{directory}")});
        let answer = served.post("/api/sessions", &begin);
        assert_eq!(answer.status, 403, "{answer:?}");
    }
}
