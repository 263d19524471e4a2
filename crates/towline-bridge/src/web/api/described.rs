//! What the description says of requests that are not done: the problems that operations share, and what the guard says
//! before any of them is reached.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses, Modify, PartialSchema as _,
    openapi::{
        ContentBuilder, OpenApi, Ref, RefOr,
        path::{Operation, PathItem},
        response::{Response, ResponseBuilder},
    },
};

type Responses = BTreeMap<String, RefOr<Response>>;

/// What anything may get that asks the bridge.
pub(in crate::web) struct OfBridge;

impl IntoResponses for OfBridge {
    fn responses() -> Responses {
        problems([(503, "the bridge has too much to do, or is ending")])
    }
}

/// What anything may get that is about one session.
pub(super) struct OfSession;

impl IntoResponses for OfSession {
    fn responses() -> Responses {
        let own = problems([
            (403, "it works outside of the roots"),
            (404, "there is no such session"),
        ]);
        own.into_iter().chain(OfBridge::responses()).collect()
    }
}

/// What anything may get that takes a query.
pub(super) struct OfQuery;

impl IntoResponses for OfQuery {
    fn responses() -> Responses {
        problems([(400, "the query says what nobody understands")])
    }
}

/// What anything may get that takes a body.
pub(super) struct OfBody;

impl IntoResponses for OfBody {
    fn responses() -> Responses {
        problems([
            (400, "the body is no JSON, or asks for what cannot be"),
            (415, "the body is not said to be JSON"),
            (422, "the body is JSON of another form"),
        ])
    }
}

/// What anything may get that reads what was written down.
pub(super) struct OfLog;

impl IntoResponses for OfLog {
    fn responses() -> Responses {
        problems([(500, "what was written down cannot be read")])
    }
}

/// What anything may get that looks at files of a project.
pub(super) struct OfProject;

impl IntoResponses for OfProject {
    fn responses() -> Responses {
        problems([
            (403, "it is outside of the roots"),
            (404, "it is not there"),
            (
                422,
                "it is something else than was asked for, or cannot be read",
            ),
            (504, "looking took too long and was stopped"),
        ])
    }
}

fn problems<const COUNT: usize>(list: [(u16, &str); COUNT]) -> Responses {
    let problem = |(status, words): (u16, &str)| {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
        let response = ResponseBuilder::new()
            .description(words)
            .content("application/json", content.build());
        (status.to_string(), response.build().into())
    };
    list.into_iter().map(problem).collect()
}

/// Adds to each operation what the guard says in words of its own.
pub(super) struct Guarded;

impl Modify for Guarded {
    fn modify(&self, document: &mut OpenApi) {
        for item in document.paths.paths.values_mut() {
            for operation in operations(item) {
                say(
                    operation,
                    403,
                    "the host or the origin is not of this bridge",
                );
                // Those that say what lets one in are for anyone.
                if operation.security.is_none() {
                    say(operation, 401, "no token was shown, or a wrong one");
                    say(operation, 429, "too many wrong tokens were shown");
                    say(
                        operation,
                        503,
                        "there are as many connections as there may be",
                    );
                }
                if operation.request_body.is_some() {
                    say(operation, 408, "the body did not come in time");
                    say(operation, 413, "the body is too large");
                }
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem {
        get,
        post,
        patch,
        delete,
        ..
    } = item;
    [get, post, patch, delete].into_iter().flatten()
}

fn say(operation: &mut Operation, status: u16, words: &str) {
    let responses = &mut operation.responses.responses;
    let response = responses
        .entry(status.to_string())
        .or_insert_with(|| ResponseBuilder::new().build().into());
    let RefOr::T(response) = response else {
        return;
    };
    if response.description.is_empty() {
        words.clone_into(&mut response.description);
    } else {
        response.description = format!("{}; or {words}", response.description);
    }
    let content = ContentBuilder::new().schema(Some(String::schema()));
    let content = content.build().into();
    response.content.insert("text/plain".to_owned(), content);
}
