//! The description is of what there is: every route, and nothing else; what lets a client in; what comes back.

use std::collections::BTreeSet;

use serde_json::Value;
use utoipa::OpenApi as _;

use super::Description;

fn document() -> Value {
    serde_json::to_value(Description::openapi()).unwrap()
}

/// The paths and methods that a router is made of, as its source says.
fn routes(source: &str) -> BTreeSet<(String, String)> {
    let source: String = source.split_whitespace().collect();
    let mut found = BTreeSet::new();
    for route in source.split(".route(\"").skip(1) {
        let (path, rest) = route.split_once('"').unwrap();
        let handlers = rest.split(".layer(").next().unwrap();
        for method in ["get", "post", "put", "patch", "delete"] {
            if handlers.contains(&format!("{method}(")) {
                found.insert((path.to_owned(), method.to_owned()));
            }
        }
    }
    found
}

#[test]
fn every_route_is_described_and_nothing_else_is() {
    let mut there = routes(
        include_str!("../api.rs")
            .split("#[derive(OpenApi)]")
            .next()
            .unwrap(),
    );
    there.extend(routes(include_str!("../../web.rs")));
    // OpenAPI has no words for what goes on over a WebSocket.
    there.retain(|(path, _)| !path.starts_with("/ws"));
    assert!(there.len() > 20, "the source is not understood: {there:?}");
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let described: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(move |method| (path.clone(), method.clone()))
        })
        .collect();
    assert_eq!(described, there);
}

#[test]
fn a_client_can_tell_from_the_description_what_lets_it_in() {
    let document = document();
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!(schemes["bearer"]["scheme"], "bearer", "{schemes}");
    assert_eq!(schemes["cookie"]["in"], "cookie", "{schemes}");
    assert_eq!(document["security"].as_array().unwrap().len(), 2);
    for (path, method) in [("/healthz", "get"), ("/api/login", "post")] {
        let needed = &document["paths"][path][method]["security"];
        assert_eq!(*needed, serde_json::json!([{}]), "{path} is for anyone");
    }
}

#[test]
fn what_comes_back_with_200_is_described() {
    let document = document();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let ok = &operation["responses"]["200"];
            if !ok.is_null() {
                assert!(ok["content"].is_object(), "{method} {path}: {ok}");
            }
        }
    }
}

/// Everything that can be asked, with its path and method.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            found.push((path.as_str(), method.as_str(), operation));
        }
    }
    found
}

/// The parameters of an operation that stand in one place, and which of them have to be there.
fn parameters<'d>(operation: &'d Value, place: &str) -> BTreeSet<(&'d str, bool)> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    all.filter(|parameter| parameter["in"] == place)
        .map(|parameter| {
            let name = parameter["name"].as_str().unwrap();
            (name, parameter["required"] == true)
        })
        .collect()
}

#[test]
fn what_stands_in_a_path_is_declared_there_and_all_else_in_the_query() {
    let document = document();
    let mut required = BTreeSet::new();
    let mut optional = 0;
    for (path, method, operation) in operations(&document) {
        let in_template = path.split('{').skip(1);
        let in_template = in_template.map(|rest| (rest.split('}').next().unwrap(), true));
        assert_eq!(
            parameters(operation, "path"),
            in_template.collect(),
            "{method} {path}"
        );
        let in_query = parameters(operation, "query");
        let count = operation["parameters"].as_array().map_or(0, Vec::len);
        let in_path = parameters(operation, "path");
        assert_eq!(count, in_path.len() + in_query.len(), "{method} {path}");
        for (name, is_required) in in_query {
            if is_required {
                required.insert((path, name));
            } else {
                optional += 1;
            }
        }
    }
    let expected = [
        ("/api/diff", "directory"),
        ("/api/directory", "directory"),
        ("/api/file", "directory"),
        ("/api/files", "directory"),
        ("/api/search", "words"),
        ("/api/trust", "directory"),
    ];
    assert_eq!(required, expected.into());
    assert!(optional > 15, "{optional}");
}

#[test]
fn a_message_is_words_or_blocks() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let content = &schemas["MessageContent"]["oneOf"];
    assert_eq!(content[0]["type"], "string", "{content}");
    assert_eq!(content[1]["type"], "array", "{content}");
    let blocks = schemas["MessageBlock"]["oneOf"].as_array().unwrap();
    let kinds: Vec<_> = blocks
        .iter()
        .map(|block| &block["properties"]["type"]["enum"][0])
        .collect();
    assert_eq!(kinds, ["text", "image", "document"]);
    let message = &schemas["Message"]["properties"]["content"];
    let reference = &message["$ref"];
    assert_eq!(
        reference, "#/components/schemas/MessageContent",
        "{message}"
    );
}

#[test]
fn problems_are_declared_where_they_come_from_and_all_look_the_same() {
    let document = document();
    for (path, method, operation) in operations(&document) {
        let responses = operation["responses"].as_object().unwrap();
        let mut declared = BTreeSet::new();
        for (status, response) in responses
            .iter()
            .filter(|(status, _)| status.as_str() >= "400")
        {
            declared.insert(status.as_str());
            let content = response["content"].as_object().unwrap();
            assert!(!content.is_empty(), "{method} {path} {status}");
            if let Some(json) = content.get("application/json") {
                let schema = &json["schema"]["$ref"];
                assert_eq!(
                    schema, "#/components/schemas/Problem",
                    "{method} {path} {status}"
                );
            }
        }
        let mut expected = BTreeSet::from(["403"]);
        if operation["security"].is_null() {
            expected.extend(["401", "429"]);
        }
        if operation["requestBody"].is_object() {
            expected.extend(["400", "408", "413", "415", "422"]);
        }
        if !parameters(operation, "query").is_empty() {
            expected.insert("400");
        }
        if path.starts_with("/api/sessions/{id}") {
            expected.extend(["404", "503"]);
        }
        assert!(
            expected.is_subset(&declared),
            "{method} {path}: {declared:?} without some of {expected:?}"
        );
    }
}

#[test]
fn whatever_the_description_refers_to_is_in_it() {
    fn references<'d>(value: &'d Value, found: &mut BTreeSet<&'d str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for reference in found {
        let pointer = reference.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}
