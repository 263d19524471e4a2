//! Pages that the agent fetches and searches that it has the API make, through the whole program.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use towline_testkit::script_api::{Recorded, Reply, Script, ScriptApi};

use crate::driven::{Driven, api, block_on, prompt, towline_room};

/// A server on this machine: a page at `/page`, at `/away` a way to another name of the same machine, at `/round` a way to
/// the page. Gives its port.
async fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = vec![0; 4096];
            let length = stream.read(&mut asked).await.unwrap_or_default();
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let path = asked.split(' ').nth(1).unwrap_or_default();
            let answer = match path {
                "/away" => moved(&format!("http://localhost:{port}/page")),
                "/round" => moved("/page"),
                _ => "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 11\r\nconnection: close\r\n\r\nprivate tea"
                    .to_owned(),
            };
            stream.write_all(answer.as_bytes()).await.ok();
        }
    });
    port
}

fn moved(to: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

/// Has the agent make one call, and gives the block of its result and the requests to the API.
async fn call(
    arguments: &[&str],
    tool: &str,
    input: Value,
    side: impl IntoIterator<Item = Reply>,
) -> (Value, Vec<Value>) {
    let room = towline_room();
    let replies = [Reply::message().tool(tool, input)]
        .into_iter()
        .chain(side)
        .chain([Reply::text("Done.")]);
    let api = api(Script::new(replies)).await;
    let mut agent = Driven::start(&room, &api.url(), arguments);
    agent.say(&prompt("do it")).await;
    let line = agent.hear_kind("user").await;
    let result = agent.hear_kind("result").await;
    assert_eq!(result["subtype"], "success", "{result}");
    let ended = agent.close_and_end().await;
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    (line["message"]["content"][0].clone(), bodies(&api))
}

fn bodies(api: &ScriptApi) -> Vec<Value> {
    let requests = api.requests();
    requests.iter().map(Recorded::body).collect()
}

#[test]
fn a_private_address_is_fetched_only_where_a_rule_names_its_host() {
    let settings = r#"{"permissions":{"allow":["WebFetch(domain:127.0.0.1)"]}}"#;
    let anywhere = "--dangerously-skip-permissions";
    let (fetched, refused) = ("private tea", "not on the public internet");
    for (arguments, host, path, words) in [
        (
            &["--allowedTools", "WebFetch(domain:127.0.0.1)"][..],
            "127.0.0.1",
            "page",
            fetched,
        ),
        (&["--settings", settings], "127.0.0.1", "page", fetched),
        (&["--settings", settings], "127.0.0.1", "round", fetched),
        (
            &["--allowedTools", "WebFetch(domain:localhost)"],
            "localhost",
            "page",
            fetched,
        ),
        // Not a rule for everything, nor one for another name of the same machine.
        (
            &["--allowedTools", "WebFetch"],
            "127.0.0.1",
            "page",
            refused,
        ),
        (
            &["--allowedTools", "WebFetch(domain:*)"],
            "127.0.0.1",
            "page",
            refused,
        ),
        (&[anywhere], "127.0.0.1", "page", refused),
        (
            &[anywhere, "--settings", settings],
            "localhost",
            "page",
            refused,
        ),
        (
            &[anywhere, "--settings", settings],
            "127.0.0.2",
            "page",
            refused,
        ),
        // A way to another host is for the model to take, and asked about anew.
        (
            &["--settings", settings],
            "127.0.0.1",
            "away",
            "REDIRECT DETECTED",
        ),
    ] {
        let shown = format!("{arguments:?} {host} {path}");
        block_on(async {
            let url = format!("http://{host}:{}/{path}", server().await);
            let (result, _) = call(arguments, "WebFetch", json!({"url": url}), []).await;
            let content = result["content"].as_str().unwrap();
            assert!(content.contains(words), "{shown}: {result}");
            assert_eq!(result["is_error"] == true, words == refused, "{shown}");
            assert_eq!(content.contains("tea"), words == fetched, "{shown}");
        });
    }
}

#[test]
fn a_page_is_read_with_the_question_of_the_call() {
    block_on(async {
        let url = format!("http://127.0.0.1:{}/page", server().await);
        let allowed = ["--allowedTools", "WebFetch(domain:127.0.0.1)"];
        let input = json!({"url": url, "prompt": "What is there to drink?"});
        let (result, requests) = call(&allowed, "WebFetch", input, [Reply::text("Tea.")]).await;
        assert_eq!(result["content"], "Tea.");
        let asked = requests[1]["messages"].to_string();
        assert!(asked.contains("private tea"), "{asked}");
        assert!(asked.contains("What is there to drink?"), "{asked}");
    });
}

#[test]
fn a_search_is_made_by_the_api_and_its_results_are_read() {
    let found = Reply::message()
        .block(json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cats"}}))
        .block(json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
            {"type": "web_search_result", "title": "Cats", "url": "https://example.org/cats", "encrypted_content": "x", "page_age": null},
            {"type": "web_search_result", "title": "More", "url": "https://example.org/more", "encrypted_content": "x", "page_age": null},
        ]}))
        .and_text("About cats.");
    let input = json!({"query": "cats", "blocked_domains": ["example.com"]});
    let allowed = ["--allowedTools", "WebSearch"];
    let (result, requests) = block_on(call(&allowed, "WebSearch", input, [found]));
    let content = result["content"].as_str().unwrap();
    let links = r#"Links: [{"title":"Cats","url":"https://example.org/cats"},{"title":"More","url":"https://example.org/more"}]"#;
    assert!(content.contains(links), "{content}");
    assert!(content.contains("About cats."), "{content}");
    let mut tools = requests[1]["tools"].clone();
    tools[0].as_object_mut().unwrap().remove("cache_control");
    assert_eq!(
        tools,
        json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 8, "blocked_domains": ["example.com"]}])
    );
    assert!(requests[1]["messages"].to_string().contains("cats"));
}

#[test]
fn a_search_that_fails_is_told_with_its_code() {
    let failed = Reply::message()
        .block(json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cats"}}))
        .block(json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content":
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}));
    let allowed = ["--allowedTools", "WebSearch"];
    let input = json!({"query": "cats"});
    let (result, _) = block_on(call(&allowed, "WebSearch", input, [failed]));
    let content = result["content"].as_str().unwrap();
    assert!(
        content.contains("Web search error: max_uses_exceeded"),
        "{content}"
    );
    assert!(!content.contains("No links found"), "{content}");
}
