//! HTTP/1.1 as far as it is needed here: one request a connection.

use std::{fmt::Write as _, net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::Result;

/// Where a server is, and what lets a client in.
#[derive(Clone, Debug)]
pub struct Address {
    pub socket: SocketAddr,
    pub token: Option<String>,
}

impl Address {
    /// Asks for something, and gives the status and the body of the answer.
    pub async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer> {
        let mut stream = self.send(method, path, body).await?;
        let mut bytes = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut bytes)).await??;
        let end = memchr::memmem::find(&bytes, b"\r\n\r\n").ok_or("no answer")?;
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = status(&head)?;
        let mut body = bytes.split_off(end + 4);
        if head.contains("transfer-encoding: chunked") {
            body = one_chunk(&body)?;
        }
        Ok(Answer { status, body })
    }

    /// Opens an event stream. What has come with the head is given too.
    pub async fn open(&self, path: &str) -> Result<(TcpStream, Vec<u8>)> {
        let mut stream = self.send("GET", path, None).await?;
        let mut bytes = Vec::new();
        loop {
            if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
                let rest = bytes.split_off(end + 4);
                let head = String::from_utf8_lossy(&bytes).to_lowercase();
                if status(&head)? != 200 || !head.contains("transfer-encoding: chunked") {
                    let rest = String::from_utf8_lossy(&rest);
                    return Err(format!("no event stream at {path}: {head}{rest}").into());
                }
                return Ok((stream, rest));
            }
            if timeout(PATIENCE, stream.read_buf(&mut bytes)).await?? == 0 {
                return Err(format!("no answer for {path}").into());
            }
        }
    }

    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.socket).await?;
        stream.set_nodelay(true)?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let (host, length) = (self.socket, body.len());
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
        if let Some(token) = &self.token {
            write!(request, "Authorization: Bearer {token}\r\n")?;
        }
        if length > 0 {
            request += "Content-Type: application/json\r\n";
        }
        write!(
            request,
            "Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        stream.write_all(request.as_bytes()).await?;
        Ok(stream)
    }
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    body: Vec<u8>,
}

impl Answer {
    /// The body, if all went well.
    pub fn json(&self) -> Result<Value> {
        if !(200..300).contains(&self.status) {
            let body = String::from_utf8_lossy(&self.body);
            return Err(format!("answered {}: {body}", self.status).into());
        }
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        Ok(serde_json::from_slice(&self.body)?)
    }
}

fn status(head: &str) -> Result<u16> {
    let word = head.split(' ').nth(1).ok_or("no status")?;
    Ok(word.parse()?)
}

/// A short answer is in one chunk.
fn one_chunk(body: &[u8]) -> Result<Vec<u8>> {
    let end = memchr::memmem::find(body, b"\r\n").ok_or("no chunk")?;
    let size = usize::from_str_radix(std::str::from_utf8(&body[..end])?, 16)?;
    let chunk = body.get(end + 2..end + 2 + size);
    Ok(chunk.ok_or("half a chunk")?.to_vec())
}

/// Longer than anything here takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);
