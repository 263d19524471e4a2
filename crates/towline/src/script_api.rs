//! `towline script-api`: the scripted Messages API of the test kit as a program, for tests in any language.

mod child;
mod port_file;
mod recorder;
mod signals;

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, bail};
use clap::Args;
use towline_testkit::script_api::{self, Options, Reply, Script};

use port_file::PortFile;
use recorder::Recorder;
use signals::Signals;

/// Serve a Messages API on loopback that answers from a script.
///
/// Scripts are TOML, a `[[reply]]` a request; several go one behind the other. Without one, every request is answered
/// with what it was. What was asked can be read at `/_script/requests`; replies can be added at `/_script/replies`.
///
/// A script of one reply: `[[reply]]`, and below it `text = "Hello."`. What else a reply can be is in docs/script-api.md:
/// thoughts, tool calls, usage, pauses, errors and broken streams, chosen in order or by what was asked.
#[derive(Debug, Args)]
pub(crate) struct ScriptApi {
    /// Scripts to answer from.
    #[arg(value_name = "SCRIPT")]
    scripts: Vec<PathBuf>,

    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Listen also where other machines can reach it. They can read all that is asked.
    #[arg(long)]
    allow_remote: bool,

    /// Write each request that ended to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Write the port to this file once it can be used; the file is removed at the end.
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,

    /// Print the address as `export` lines that a shell can read.
    #[arg(long, conflicts_with = "command")]
    print_env: bool,

    /// Run this command with the environment set, and end with its exit code.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl ScriptApi {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        if !self.listen.ip().is_loopback() && !self.allow_remote {
            bail!(
                "`{}` can be reached from other machines; listen on 127.0.0.1, or give --allow-remote",
                self.listen
            );
        }
        let script = self.read_scripts()?;
        let recorder = self.record.as_deref().map(Recorder::create).transpose()?;
        let recorder = recorder.map(Arc::new);
        let options = Options {
            listen: self.listen,
            allow_remote: self.allow_remote,
            on_end: recorder.as_ref().map(|recorder| {
                let recorder = Arc::clone(recorder);
                let on_end: script_api::OnEnd = Arc::new(move |request| recorder.write(request));
                on_end
            }),
            ..Options::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start")?;
        let code = runtime.block_on(self.serve(script, options))?;
        // With it go the connections that are still open; their requests are recorded too.
        drop(runtime);
        if let Some(recorder) = recorder {
            recorder.finish()?;
        }
        Ok(code)
    }

    fn read_scripts(&self) -> anyhow::Result<Script> {
        let mut script = Script::default();
        for path in &self.scripts {
            let file = path.display().to_string();
            let text = fs::read_to_string(path).with_context(|| format!("cannot read `{file}`"))?;
            script = script.followed_by(Script::from_toml_file(&file, &text)?);
        }
        if self.scripts.is_empty() {
            script = script.default_reply(Reply::echo());
        }
        Ok(script)
    }

    async fn serve(&self, script: Script, options: Options) -> anyhow::Result<ExitCode> {
        // Before anyone knows that we are here, so that no signal is missed.
        let mut signals = Signals::listen()?;
        let api = script_api::ScriptApi::start_with(script, options)
            .await
            .with_context(|| format!("cannot listen on {}", self.listen))?;
        let _port_file = match &self.port_file {
            Some(path) => Some(PortFile::write(path, api.address().port())?),
            None => None,
        };
        let code = if self.command.is_empty() {
            self.announce(&api.url())?;
            signals.next().await;
            ExitCode::SUCCESS
        } else {
            child::run(&self.command, &api.url(), &mut signals).await?
        };
        api.stop().await;
        Ok(code)
    }

    fn announce(&self, url: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.print_env {
            for (name, value) in environment(url) {
                writeln!(out, "export {name}={value}")?;
            }
        } else {
            let settings = environment(url).map(|(name, value)| format!("{name}={value}"));
            writeln!(out, "{url} (use it with {})", settings.join(" "))?;
        }
        out.flush()
    }
}

/// What an agent needs to find the server.
fn environment(url: &str) -> [(&'static str, &str); 2] {
    [
        ("ANTHROPIC_BASE_URL", url),
        ("ANTHROPIC_API_KEY", "made-up"),
    ]
}
