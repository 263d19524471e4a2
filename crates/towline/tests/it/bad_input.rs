//! What goes wrong at the agent's input: a line that says nothing, half of one, a flag that is none. A bad line is told in
//! an `error` line, and the session goes on; a bad start is one line on standard error and the exit code 1.

use serde_json::json;
use towline_testkit::{
    not_run,
    script_api::{Reply, Script},
};

use crate::driven::{Driven, api, block_on, prompt, towline_room};

/// What a line brings.
#[derive(Debug)]
enum Brings {
    /// Nothing at all.
    Nothing,
    /// An `error` line with these words, this often.
    Error(&'static str, usize),
    /// A `control_response` with this error.
    Refusal(&'static str),
    /// A turn of its own.
    Turn,
}

#[test]
fn a_bad_line_is_told_and_the_next_prompt_is_answered() {
    use Brings::{Error, Nothing, Refusal, Turn};
    let hello = prompt("hello").to_string();
    let pretty = serde_json::to_string_pretty(&prompt("hello")).unwrap();
    let deep = "[".repeat(100_000);
    let deeper = format!(
        r#"{{"type":"user","message":{}"#,
        r#"{"a":"#.repeat(100_000)
    );
    let both = format!("{hello}{hello}");
    let carriage_return = format!("{hello}\r");
    let nul = format!("{hello}\0");
    let invalid = hello.replace("hello", "h@llo").into_bytes();
    let invalid: Vec<u8> = invalid
        .into_iter()
        .map(|byte| if byte == b'@' { 0xff } else { byte })
        .collect();
    let table: &[(&[u8], Brings)] = &[
        (br#"{"type":"user","mess"#, Error("the line ends inside a string at byte 20", 1)),
        (br#"{"type":"user""#, Error("the line ends too early", 1)),
        (b"no JSON", Error("this line cannot be read", 1)),
        (both.as_bytes(), Error("expected the end of the line at byte", 1)),
        (pretty.as_bytes(), Error("this line cannot be read", pretty.lines().count())),
        (deep.as_bytes(), Error("this line cannot be read", 1)),
        (deeper.as_bytes(), Error("this line cannot be read", 1)),
        (nul.as_bytes(), Error("expected the end of the line", 1)),
        (b"null", Error("expected an object", 1)),
        (b"5", Error("expected an object", 1)),
        (br#""text""#, Error("expected an object", 1)),
        (b"[1]", Error("expected an object", 1)),
        (b"true", Error("expected an object", 1)),
        (br#"{"type":"banana"}"#, Nothing),
        (br#"{"no":"type"}"#, Nothing),
        (b"", Nothing),
        (b" \t ", Nothing),
        (b"\r", Nothing),
        (carriage_return.as_bytes(), Turn),
        (&invalid, Turn),
        (br#"{"type":"user"}"#, Error("missing field `message`", 1)),
        (br#"{"type":"user","message":"x"}"#, Error("expected an object in `message`", 1)),
        (br#"{"type":"user","message":{"role":"user","content":5}}"#, Error("`message.content`", 1)),
        (br#"{"type":"user","message":{"role":"assistant","content":"x"}}"#, Error("must have the role `user`", 1)),
        (br#"{"type":"user","message":{"content":"no role"}}"#, Turn),
        (br#"{"type":"control_request","request_id":"1"}"#, Error("missing field `request`", 1)),
        (
            br#"{"type":"control_request","request_id":"1","request":{"subtype":"banana"}}"#,
            Refusal("Unsupported control request subtype: banana"),
        ),
        (
            br#"{"type":"control_request","request_id":"1","request":{}}"#,
            Refusal("Unsupported control request subtype: "),
        ),
        (br#"{"type":"control_response"}"#, Error("missing field `response`", 1)),
        (br#"{"type":"control_response","response":5}"#, Nothing),
        (
            br#"{"type":"control_response","response":{"subtype":"success","request_id":"nobody's","response":{}}}"#,
            Nothing,
        ),
    ];
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([]).default_reply(Reply::text("Hello."))).await;
        // First in a process of its own, where it is the first line; then all in one, where none may harm the next.
        let mut together = Driven::start(&room, &api.url(), &["--no-session-persistence"]);
        for (line, brings) in table {
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
            let mut alone = Driven::start(&room, &api.url(), &["--no-session-persistence"]);
            check(&mut alone, line, brings, &shown).await;
            let ended = alone.close_and_end().await;
            assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{shown}");
            check(&mut together, line, brings, &shown).await;
        }
        let ended = together.close_and_end().await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    });
}

/// Says a line, waits for what it brings, and has a turn.
async fn check(agent: &mut Driven, line: &[u8], brings: &Brings, shown: &str) {
    agent.write(&[line, b"\n"].concat()).await.unwrap();
    let (mut errors, mut refusals) = (0, 0);
    if let Brings::Turn = brings {
        agent.hear_kind("result").await;
    }
    agent.say(&prompt("hello")).await;
    loop {
        let heard = agent.line().await.unwrap();
        match (heard["type"].as_str().unwrap(), brings) {
            ("error", Brings::Error(words, _)) => {
                let text = heard["error"]["message"].as_str().unwrap();
                // What is laid out over several lines is wrong in several ways.
                assert!(text.contains(words), "{shown}: {text}");
                errors += 1;
            }
            ("control_response", Brings::Refusal(words)) => {
                let response = &heard["response"];
                assert_eq!(
                    (&response["subtype"], &response["request_id"]),
                    (&json!("error"), &json!("1"))
                );
                assert_eq!(response["error_code"], "unsupported_request", "{shown}");
                assert!(
                    response["error"].as_str().unwrap().starts_with(words),
                    "{response}"
                );
                refusals += 1;
            }
            ("result", _) => {
                assert_eq!(heard["result"], "Hello.", "{shown}");
                break;
            }
            ("system" | "assistant", _) => {}
            _ => panic!("{shown} brought {heard}"),
        }
    }
    let expected = match brings {
        Brings::Error(_, times) => (*times, 0),
        Brings::Refusal(_) => (0, 1),
        Brings::Nothing | Brings::Turn => (0, 0),
    };
    assert_eq!((errors, refusals), expected, "{shown}");
}

#[test]
fn a_line_past_the_bound_is_told_once_and_the_next_prompt_is_answered() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([]).default_reply(Reply::text("Hello."))).await;
        let mut agent = Driven::start(&room, &api.url(), &["--no-session-persistence"]);
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..65 {
            agent.write(&piece).await.unwrap();
        }
        let brings = Brings::Error("a line of more than 67108864 bytes was left out", 1);
        check(&mut agent, b"", &brings, "65 MiB without a line end").await;
        let ended = agent.close_and_end().await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    });
}

#[test]
fn the_end_of_input_ends_it_when_all_is_done() {
    let hello = prompt("hello").to_string();
    let byte_order_mark = format!("\u{feff}{hello}\n");
    let endless = format!("{hello}\n{{\"type\":");
    for (input, results) in [
        ("", 0),
        ("\n \n", 0),
        (&hello, 1),
        (&byte_order_mark, 1),
        (&endless, 1),
    ] {
        block_on(async {
            let room = towline_room();
            let api = api(Script::new([]).default_reply(Reply::text("Hello."))).await;
            let mut agent = Driven::start(&room, &api.url(), &[]);
            agent.write(input.as_bytes()).await.unwrap();
            let ended = agent.close_and_end().await;
            assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{input}");
            let heard = ended.lines.iter().filter(|line| line["type"] == "result");
            assert_eq!(heard.count(), results, "{input}: {:?}", ended.lines);
            assert!(results > 0 || ended.lines.is_empty(), "{:?}", ended.lines);
        });
    }
}

#[test]
fn what_was_asked_is_finished_after_the_end_of_input() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([
            Reply::text("one two three four").hold_after_events(4, "streams"),
            Reply::message().tool(
                "Bash",
                json!({"command": "sleep 0.2; echo done > done.txt"}),
            ),
            Reply::text("the end"),
        ]))
        .await;
        let mut agent = Driven::start(&room, &api.url(), &["--allowedTools", "Bash"]);
        agent.say(&prompt("first")).await;
        api.wait_until_held("streams").await.unwrap();
        agent.say(&prompt("second")).await;
        agent.close();
        api.release("streams");
        let ended = agent.end().await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let results = ended.lines.iter().filter(|line| line["type"] == "result");
        let results: Vec<_> = results.map(|line| line["result"].clone()).collect();
        assert_eq!(results, ["one two three four", "the end"]);
        assert!(room.project().join("done.txt").exists());
    });
}

#[test]
fn the_exit_code_tells_of_the_last_result() {
    for (status, prompts, expected) in [
        (400, &["fail"][..], 1),
        (400, &["fail", "go on"], 0),
        (400, &["go on", "fail"], 1),
        (403, &["fail"], 1),
        (404, &["fail"], 1),
        (413, &["fail"], 1),
    ] {
        block_on(async {
            let room = towline_room();
            // What failed is asked again with what is said next.
            let fine = Reply::text("fine").when_prompt_contains("go on").forever();
            let failure = Reply::error(status).when_prompt_contains("fail").forever();
            let api = api(Script::new([fine, failure])).await;
            let mut agent = Driven::start(&room, &api.url(), &[]);
            for prompt in prompts {
                let result = agent.ask(prompt).await;
                assert_eq!(result["is_error"], *prompt == "fail", "{status}: {result}");
                assert_eq!(result["subtype"], "success", "{status}: {result}");
            }
            let ended = agent.close_and_end().await;
            assert_eq!(ended.code, Some(expected), "{status}: {prompts:?}");
        });
    }
}

#[test]
fn a_start_that_cannot_be_is_one_line_and_exit_code_1() {
    for (arguments, complaint) in [
        (&["--banana"][..], "error: unknown option '--banana'"),
        (
            &["--permission-mode", "fast"],
            "error: option '--permission-mode <mode>' argument 'fast' is invalid.",
        ),
        (
            &["--max-turns", "many"],
            "error: option '--max-turns <turns>' argument 'many' is invalid.",
        ),
        (&["--session-id", "x"], "Error: Invalid session ID."),
        (&["--mcp-config", "{"], "Error: Invalid MCP configuration: "),
        (
            &["--mcp-config", "no-such-file.json"],
            "Error: Invalid MCP configuration",
        ),
        (
            &["--settings", "no-such-file.json"],
            "Error: Settings file not found: ",
        ),
        (
            &["--output-format", "json"],
            "Error: --input-format=stream-json requires output-format=stream-json.",
        ),
        (
            &["--output-format", "text"],
            "Error: --input-format=stream-json requires output-format=stream-json.",
        ),
        (
            &["--resume", UNKNOWN],
            "No conversation found with session ID: ",
        ),
        (
            &["--resume", "no title"],
            "Error: --resume requires a valid session ID or session title",
        ),
    ] {
        block_on(async {
            let room = towline_room();
            let mut agent = Driven::start(&room, "http://127.0.0.1:9", arguments);
            // It may be gone already.
            agent
                .write(format!("{}\n", prompt("hello")).as_bytes())
                .await
                .ok();
            let ended = agent.close_and_end().await;
            assert_eq!(ended.code, Some(1), "{arguments:?}");
            assert_eq!(
                ended.stderr.lines().count(),
                1,
                "{arguments:?}: {}",
                ended.stderr
            );
            assert!(
                ended.stderr.starts_with(complaint),
                "{arguments:?}: {}",
                ended.stderr
            );
            let is_resumed = arguments[0] == "--resume";
            assert_eq!(ended.lines.len(), usize::from(is_resumed), "{arguments:?}");
            for result in ended.lines {
                assert_eq!(result["subtype"], "error_during_execution");
                assert_eq!(
                    (&result["num_turns"], &result["total_cost_usd"]),
                    (&json!(0), &json!(0))
                );
                assert!(
                    result["errors"][0].as_str().unwrap().starts_with(complaint),
                    "{result}"
                );
            }
        });
    }
}

#[test]
fn a_session_that_cannot_be_gone_on_with_is_told_once_and_in_words_that_fit() {
    let room = towline_room();
    let project = room.project();
    let empty = format!("{UNKNOWN}.jsonl");
    for (name, content) in [
        ("notes.txt", "notes"),
        ("notes.jsonl", "{}\n"),
        (&empty, "{}\n"),
    ] {
        std::fs::write(project.join(name), content).unwrap();
    }
    std::fs::create_dir_all(project.join("folder.jsonl")).unwrap();
    let in_folder = project.join("notes.txt");
    let elsewhere = format!("missing/{UNKNOWN}.jsonl");
    for (which, words) in [
        (UNKNOWN, "No conversation found with session ID: "),
        (
            "no title",
            "`no title` is no UUID, and no session has it as its title",
        ),
        ("notes.txt", "`notes.txt`: it is no transcript of a session"),
        (
            "notes.jsonl",
            "`notes.jsonl`: it is no transcript of a session",
        ),
        (
            in_folder.to_str().unwrap(),
            "notes.txt`: it is no transcript of a session",
        ),
        (&empty, "it holds no conversation"),
        ("./missing", "`./missing`: there is no such file"),
        ("missing.jsonl", "`missing.jsonl`: there is no such file"),
        (&elsewhere, "there is no such file"),
        ("folder.jsonl", "`folder.jsonl`: it is a directory"),
        ("/", "`/`: it is a directory"),
    ] {
        for format in [
            &["text"][..],
            &["json"],
            &["json", "--verbose"],
            &["stream-json", "--verbose"],
        ] {
            let ran = room
                .command("http://127.0.0.1:9")
                .args(["-p", "hi", "--resume", which, "--output-format"])
                .args(format)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let shown = format!("{which} {format:?}");
            assert_eq!(ran.status.code(), Some(1), "{shown}");
            let stderr = String::from_utf8(ran.stderr).unwrap();
            assert_eq!(stderr.lines().count(), 1, "{shown}: {stderr}");
            assert!(stderr.contains(words), "{shown}: {stderr}");
            // Lines are told of it in a line, too.
            let is_lines = format[0] == "stream-json";
            assert_eq!(ran.stdout.is_empty(), !is_lines, "{shown}");
        }
    }
}

#[test]
fn the_superuser_does_not_skip_permissions_by_accident() {
    if !rustix::process::geteuid().is_root() {
        not_run::enter("only the superuser can see that");
        return;
    }
    block_on(async {
        let room = towline_room();
        let arguments = ["--dangerously-skip-permissions"];
        let agent = Driven::start_with(&room, "http://127.0.0.1:9", &arguments, |command| {
            command.env_remove("IS_SANDBOX");
        });
        let ended = agent.close_and_end().await;
        assert_eq!((ended.code, ended.lines.len()), (Some(1), 0));
        assert!(
            ended.stderr.contains("cannot be used with root/sudo"),
            "{}",
            ended.stderr
        );
    });
}

#[test]
fn without_a_key_the_answer_says_so() {
    block_on(async {
        let room = towline_room();
        let mut agent = Driven::start_with(&room, "http://127.0.0.1:9", &[], |command| {
            command.env_remove("ANTHROPIC_API_KEY");
        });
        agent.say(&prompt("hello")).await;
        let said = agent.hear_kind("assistant").await;
        assert_eq!(said["error"], "authentication_failed", "{said}");
        let result = agent.hear_kind("result").await;
        assert_eq!(result["is_error"], true, "{result}");
        assert_eq!(agent.close_and_end().await.code, Some(1));
    });
}

#[test]
fn a_prompt_of_5_mb_is_asked_whole() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::text("That was long.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let long = "many words ".repeat(5 << 20 >> 3);
        let result = agent.ask(&long).await;
        assert_eq!(result["result"], "That was long.");
        let asked = api.requests()[0].body().to_string();
        assert!(asked.contains(&long));
        assert_eq!(agent.close_and_end().await.code, Some(0));
    });
}

#[test]
fn a_prompt_argument_beside_lines_is_passed_over() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([]).default_reply(Reply::text("Hello."))).await;
        let mut agent = Driven::start(&room, &api.url(), &["-p", "an argument"]);
        assert_eq!(agent.ask("a line").await["result"], "Hello.");
        assert_eq!(agent.close_and_end().await.code, Some(0));
        let asked: Vec<_> = api
            .requests()
            .iter()
            .map(|asked| asked.body().to_string())
            .collect();
        assert!(
            asked.iter().all(|asked| asked.contains("a line")),
            "{asked:?}"
        );
        assert!(
            !asked.iter().any(|asked| asked.contains("an argument")),
            "{asked:?}"
        );
    });
}

#[test]
fn too_many_turns_are_an_error() {
    block_on(async {
        let room = towline_room();
        let look = Reply::message().tool("Bash", json!({"command": "true"}));
        let api = api(Script::new([look.forever()])).await;
        let arguments = ["--max-turns", "2", "--allowedTools", "Bash"];
        let mut agent = Driven::start(&room, &api.url(), &arguments);
        let result = agent.ask("look").await;
        assert_eq!(result["subtype"], "error_max_turns");
        assert_eq!(
            result["errors"],
            json!(["Reached maximum number of turns (2)"])
        );
        assert_eq!(agent.close_and_end().await.code, Some(1));
    });
}

/// A session that nobody has.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000009";
