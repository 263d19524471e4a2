//! The least that a server can do: it reads an agent's pipe and writes each line to every viewer, without a look at it.
//! What is late here is late by pipes, sockets, the client and the machine; what another server adds to that is its own.

use std::{cell::RefCell, net::SocketAddr, path::Path, process::Stdio, rc::Rc};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    process::{ChildStdin, ChildStdout, Command},
    task::spawn_local,
};

use crate::Result;

/// Serves until it is killed.
pub async fn serve(address: SocketAddr, agent: &Path) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    let mut sessions = Vec::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        answer(stream, agent, &mut sessions).await?;
    }
}

struct Session {
    prompts: ChildStdin,
    viewers: Rc<RefCell<Vec<TcpStream>>>,
}

/// Requests come one after the other: none of them takes long.
async fn answer(mut stream: TcpStream, agent: &Path, sessions: &mut Vec<Session>) -> Result<()> {
    let (head, body) = request(&mut stream).await?;
    let mut words = head.split([' ', '/']).filter(|word| !word.is_empty());
    let (method, place) = (words.next(), words.next());
    let session = place.and_then(|place| place.parse().ok());
    let session = session.and_then(|number: usize| sessions.get_mut(number));
    let answer = match (method, session) {
        (Some("GET"), Some(session)) => {
            stream.write_all(STREAM).await?;
            session.viewers.borrow_mut().push(stream);
            return Ok(());
        }
        (Some("POST"), Some(session)) => {
            let message = json!({"role": "user", "content": body["content"]});
            let line = format!("{}\n", json!({"type": "user", "message": message}));
            session.prompts.write_all(line.as_bytes()).await?;
            Value::Null
        }
        (Some("POST"), None) => {
            let mut command = Command::new(agent);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn()?;
            let viewers = Rc::<RefCell<Vec<TcpStream>>>::default();
            let said = child.stdout.take().ok_or("no output")?;
            spawn_local(copy(said, Rc::clone(&viewers)));
            let prompts = child.stdin.take().ok_or("no input")?;
            sessions.push(Session { prompts, viewers });
            json!({"id": sessions.len() - 1})
        }
        _ => Value::Null,
    };
    let (answer, length) = (answer.to_string(), answer.to_string().len());
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all((head + &answer).as_bytes()).await?;
    Ok(())
}

async fn copy(said: ChildStdout, viewers: Rc<RefCell<Vec<TcpStream>>>) -> Result<()> {
    let mut lines = BufReader::new(said).lines();
    while let Some(line) = lines.next_line().await? {
        let event = format!("data: {line}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        for viewer in viewers.borrow().iter() {
            // Nobody is slow at this pace; whoever were would miss something, and the client would tell.
            viewer.try_write(chunk.as_bytes()).ok();
        }
    }
    Ok(())
}

/// The first line of a request, and its body.
async fn request(stream: &mut TcpStream) -> Result<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.split("content-length: ").nth(1).unwrap_or("0");
            let length: usize = length.split("\r\n").next().unwrap_or("0").parse()?;
            let body = &bytes[end + 4..];
            if body.len() >= length {
                let body = serde_json::from_slice(body).unwrap_or(Value::Null);
                let first = String::from_utf8_lossy(&bytes[..end]);
                return Ok((first.lines().next().unwrap_or("").to_owned(), body));
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err("half a request".into());
        }
    }
}

const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
