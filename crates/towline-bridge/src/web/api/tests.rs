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
