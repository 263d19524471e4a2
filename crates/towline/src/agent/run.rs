//! Lets the agent work: its lines on standard input and output as they are, or made of text and made to text.

use std::{
    io::{IsTerminal as _, Write as _},
    pin::pin,
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, Stdout},
    sync::mpsc,
    time::timeout,
};
use towline_agent::{Config, Credential, Exit, Provider, Signal, serve};
use towline_protocol::{LineDecoder, ToAgent, User, Wire};

use super::{
    Refusal,
    choices::{InputFormat, OutputFormat},
    config::Plan,
    first_line, key_helper,
    print::{Ending, Printer},
    signals::Signals,
};
use crate::dialect;

/// Does what is planned. Gives the exit code of the process.
pub(super) async fn run(plan: Plan) -> anyhow::Result<ExitCode> {
    let signals = Signals::listen().context("cannot listen for signals")?;
    let (tell, heard) = mpsc::channel(SIGNALS);
    let work = pin!(work(plan, heard));
    let code = tokio::select! {
        // What is dropped ends, with all that it started.
        code = signals.tell(tell) => code,
        exit = work => {
            let exit = exit?;
            if let Some(complaint) = exit.complaint {
                // Nobody is left to tell when this fails.
                writeln!(std::io::stderr().lock(), "{complaint}").ok();
            }
            exit.code
        }
    };
    Ok(ExitCode::from(code))
}

async fn work(mut plan: Plan, mut signals: mpsc::Receiver<Signal>) -> anyhow::Result<Exit> {
    if let (Some(command), Provider::Api(api)) = (&plan.key_helper, &mut plan.config.provider) {
        let key = key_helper::key(command, &plan.config.cwd, &plan.config.environment).await?;
        api.credential = Some(Credential::Key(key));
    }
    match plan.formats.input {
        InputFormat::StreamJson => Box::pin(converse(plan, signals)).await,
        InputFormat::Text => {
            let prompt = tokio::select! {
                prompt = prompt(plan.prompt) => prompt?,
                // There is no turn yet to interrupt, and so the process is meant.
                Some(signal) = signals.recv() => return Ok(Exit::with(signal.exit_code())),
            };
            let line = ToAgent::User(Box::new(User::say(prompt.as_str())));
            let line = format!("{}\n", line.to_standard_json().as_str());
            Box::pin(answer(plan.config, plan.formats.output, line, signals)).await
        }
    }
}

/// A conversation in lines, in the protocol that the host speaks.
async fn converse(plan: Plan, mut signals: mpsc::Receiver<Signal>) -> anyhow::Result<Exit> {
    let mut stdin = tokio::io::stdin();
    let opened = tokio::select! {
        opened = first_line::open(&mut stdin, plan.expects_dialect) => opened,
        // There is no turn yet to interrupt: the session is over, as after one.
        Some(signal) = signals.recv() => return Ok(Exit::with(match signal {
            Signal::Interrupt => 0,
            Signal::Terminate | Signal::Hangup => signal.exit_code(),
        })),
    };
    let opened = opened.context("cannot read standard input")?;
    let input = opened.read.as_slice().chain(stdin);
    if opened.is_dialect {
        return Box::pin(dialect::serve_session(plan.config, input, signals)).await;
    }
    Ok(serve(plan.config, input, tokio::io::stdout(), signals).await)
}

/// One prompt, one answer.
async fn answer(
    config: Config,
    format: OutputFormat,
    line: String,
    signals: mpsc::Receiver<Signal>,
) -> anyhow::Result<Exit> {
    if format == OutputFormat::StreamJson {
        return Ok(serve(config, line.as_bytes(), tokio::io::stdout(), signals).await);
    }
    let (output, lines) = tokio::io::duplex(PIECE);
    let printer = Printer::new(format, config.limits);
    let mut printed = pin!(print(printer, lines));
    let mut served = pin!(serve(config, line.as_bytes(), output, signals));
    let (mut exit, ending) = tokio::select! {
        exit = &mut served => (exit, printed.await?),
        ending = &mut printed => {
            // Whoever reads has seen enough: the agent is not waited for.
            let ending = ending?;
            (served.await, ending)
        }
    };
    // What the last result says of it was told already.
    exit.complaint = exit
        .complaint
        .filter(|complaint| !ending.stderr.contains(complaint.as_str()));
    Ok(match (exit.code, ending.failed) {
        (0, true) => Exit { code: 1, ..exit },
        _ => exit,
    })
}

/// Prints what the agent says until it has ended; gives what was said at the end.
async fn print(mut printer: Printer, mut lines: DuplexStream) -> anyhow::Result<Ending> {
    let mut stdout = tokio::io::stdout();
    let mut decoder = LineDecoder::default();
    let mut buffer = vec![0; PIECE].into_boxed_slice();
    loop {
        let length = lines.read(&mut buffer).await?;
        let mut piece = &buffer[..length];
        while let Some(line) = match length {
            0 => decoder.finish(),
            _ => decoder.next_line(&mut piece),
        } {
            let printed = printer.handle(line);
            if let Some(text) = printed.stdout {
                write(&mut stdout, &text).await?;
            }
            if let Some(text) = printed.stderr {
                complain(&text).await;
            }
        }
        if length == 0 {
            break;
        }
    }
    let ending = printer.finish();
    write(&mut stdout, &ending.stdout).await?;
    complain(&ending.stderr).await;
    Ok(ending)
}

async fn complain(text: &str) {
    // With standard error gone there is nobody left to tell.
    let mut stderr = tokio::io::stderr();
    stderr.write_all(text.as_bytes()).await.ok();
    stderr.flush().await.ok();
}

async fn write(stdout: &mut Stdout, text: &str) -> std::io::Result<()> {
    stdout.write_all(text.as_bytes()).await?;
    stdout.flush().await
}

/// The prompt: the argument, what is piped in, or one behind the other.
async fn prompt(argument: Option<String>) -> anyhow::Result<String> {
    let piped = match std::io::stdin().is_terminal() {
        true => String::new(),
        false => piped(argument.is_some()).await?,
    };
    match (argument, piped.trim().is_empty()) {
        (Some(argument), true) => Ok(argument),
        (Some(argument), false) => Ok(format!("{argument}\n{piped}")),
        (None, false) => Ok(piped),
        (None, true) if !piped.is_empty() => Err(Refusal::new(
            "Error: Input contained only whitespace. Provide a prompt with text through stdin or as a prompt argument \
             when using --print",
        )
        .into()),
        (None, true) => Err(Refusal::new(
            "Error: Input must be provided either through stdin or as a prompt argument when using --print",
        )
        .into()),
    }
}

/// What is piped in. Some hosts leave the pipe open and never write: with a prompt at hand that is not waited for.
async fn piped(has_prompt: bool) -> anyhow::Result<String> {
    let mut stdin = tokio::io::stdin().take(LONGEST + 1);
    let mut piped = Vec::new();
    if has_prompt {
        let Ok(read) = timeout(PATIENCE, stdin.read_buf(&mut piped)).await else {
            tokio::io::stderr()
                .write_all(b"towline: nothing came through standard input for 3 seconds, going on without it; `</dev/null` spares the wait\n")
                .await
                .ok();
            return Ok(String::new());
        };
        read.context("cannot read standard input")?;
    }
    stdin
        .read_to_end(&mut piped)
        .await
        .context("cannot read standard input")?;
    if piped.len() as u64 > LONGEST {
        return Err(Refusal::new(format!(
            "Error: standard input is longer than {LONGEST} bytes"
        ))
        .into());
    }
    Ok(String::from_utf8_lossy(&piped).into_owned())
}

const PIECE: usize = 64 << 10;
/// As long as a line of the protocol may be.
const LONGEST: u64 = 64 << 20;
const SIGNALS: usize = 8;
/// CLI 2.1.325 waits as long.
const PATIENCE: Duration = Duration::from_secs(3);
