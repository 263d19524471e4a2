//! `--file`: files of the API are there before the session begins, where CLI 2.1.325 puts them and asked for as it asks.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use towline_testkit::real_cli::RealCli;

use crate::driven::{Driven, Ended, block_on, names, prompt, towline_room};

/// An API that keeps files, and says "Done." to every prompt.
struct Keeper {
    url: String,
    /// The heads of the requests for files.
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Keeper {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let seen = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, seen.clone()));
            }
        });
        Self { url, asked, task }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request a connection.
async fn serve(mut stream: TcpStream, asked: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let (status, kind, body) = match path.strip_prefix("/v1/files/") {
        None => (200, "application/json", MESSAGE.to_owned()),
        Some(rest) => {
            let tries = {
                let mut asked = asked.lock().unwrap();
                asked.push(head.clone());
                asked.iter().filter(|head| head.contains(&path)).count()
            };
            match rest.split('/').next()? {
                "missing" => (404, "application/json", "{}".to_owned()),
                "denied" => (401, "application/json", "{}".to_owned()),
                "flaky" if tries == 1 => (500, "application/json", "{}".to_owned()),
                "broken" => (500, "application/json", "{}".to_owned()),
                id => (
                    200,
                    "application/octet-stream",
                    format!("the content of {id}"),
                ),
            }
        }
    };
    let length = match path.contains("/torn/") {
        true => body.len() + 100,
        false => body.len(),
    };
    let answer = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await.ok()
}

const MESSAGE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5",
"content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","stop_sequence":null,
"usage":{"input_tokens":1,"output_tokens":1}}"#;

const ID: &str = "11111111-2222-4333-8444-555555555555";
const TOKEN: &str = "CLAUDE_CODE_SESSION_ACCESS_TOKEN";

async fn run(room: &RealCli, keeper: &Keeper, specs: &[&str], token: Option<&str>) -> Ended {
    let arguments = [&["--session-id", ID, "--file"], specs].concat();
    let mut agent = Driven::start_with(room, &keeper.url, &arguments, |command| {
        if let Some(token) = token {
            command.env(TOKEN, token);
        }
    });
    // It may be gone already.
    agent
        .write(format!("{}\n", prompt("go")).as_bytes())
        .await
        .ok();
    agent.close_and_end().await
}

#[test]
fn files_are_there_before_the_session_begins() {
    let room = towline_room();
    block_on(async {
        let keeper = Keeper::start().await;
        let specs = ["file_one:a.txt", "file_two:sub/b.txt"];
        let ended = run(&room, &keeper, &specs, Some("made-up-token")).await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let folder = room.project().join(ID).join("uploads");
        for (path, content) in [
            ("a.txt", "the content of file_one"),
            ("sub/b.txt", "the content of file_two"),
        ] {
            assert_eq!(std::fs::read_to_string(folder.join(path)).unwrap(), content);
        }
        assert_eq!(
            names(&folder),
            ["a.txt", "sub"],
            "nothing half done is left"
        );
        let asked = keeper.asked();
        assert_eq!(asked.len(), 2);
        for head in asked {
            assert!(head.starts_with("get /v1/files/file_"), "{head}");
            for header in [
                "authorization: bearer made-up-token",
                "anthropic-beta: oauth-2025-04-20",
            ] {
                assert!(head.contains(header), "{head}");
            }
            assert!(!head.contains("x-api-key"), "{head}");
        }
    });
}

#[test]
fn without_a_token_of_its_own_the_key_is_used() {
    block_on(async {
        let (room, keeper) = (towline_room(), Keeper::start().await);
        let ended = run(&room, &keeper, &["flaky:a.txt"], None).await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let asked = keeper.asked();
        assert_eq!(asked.len(), 2, "what may pass is tried again");
        assert!(asked[0].contains("x-api-key: made-up"), "{}", asked[0]);
    });
}

#[test]
fn a_file_that_cannot_be_had_is_one_line_and_nothing_begins() {
    for (spec, complaint) in [
        ("missing:a.txt", "answered 404: there is no such file"),
        (
            "denied:a.txt",
            "answered 401: the key or token may not read it",
        ),
        ("broken:a.txt", "answered 500: it was not given"),
        ("torn:a.txt", "cannot be reached"),
        ("nonsense", "the form is file_id:relative_path"),
        ("file_one:../a.txt", "leads out of the folder"),
        ("file_one:/tmp/a.txt", "leads out of the folder"),
    ] {
        block_on(async {
            let (room, keeper) = (towline_room(), Keeper::start().await);
            let ended = run(&room, &keeper, &["file_two:b.txt", spec], None).await;
            assert_eq!((ended.code, ended.lines.len()), (Some(1), 0), "{spec}");
            let stderr = &ended.stderr;
            assert!(
                stderr.starts_with(&format!("Error: --file {spec}: "))
                    && stderr.contains(complaint),
                "{stderr}"
            );
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
            let folder = room.project().join(ID).join("uploads");
            let left = if folder.exists() {
                names(&folder)
            } else {
                Vec::new()
            };
            assert!(left.iter().all(|name| name == "b.txt"), "{spec}: {left:?}");
        });
    }
}
