//! `towline doctor`: what is found, what is missing, and how to put it right. It changes nothing.

use std::{
    io::{self, Write},
    net::TcpListener,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use anyhow::Context;
use clap::Args;
use towline_bridge::{
    access::Roots,
    agents::{Agents, ApiKey},
    settings::ServeConfig,
};
use towline_host::AgentCommand;

use crate::serve::{self, ServeOptions};

/// Say what is found, what is missing, and how to put it right.
///
/// Takes the same flags as `serve` and looks at what that would use. Exits with 1 if `serve` could not start.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    options: ServeOptions,
}

/// What one look came to.
enum Finding {
    Good(String),
    /// It works, but less than it could.
    Lacking(String),
    Bad(String),
}

impl Doctor {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let findings = runtime.block_on(self.look());
        let mut out = io::stdout().lock();
        let mut is_well = true;
        for (what, finding) in findings {
            let (mark, words) = match finding {
                Finding::Good(words) => ("ok     ", words),
                Finding::Lacking(words) => ("note   ", words),
                Finding::Bad(words) => {
                    is_well = false;
                    ("problem", words)
                }
            };
            writeln!(out, "{mark}  {what}: {words}")?;
        }
        Ok(if is_well {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    async fn look(self) -> Vec<(&'static str, Finding)> {
        let config = match self.options.config() {
            Ok(config) => config,
            Err(error) => return vec![("configuration", Finding::Bad(format!("{error:#}")))],
        };
        let mut findings = vec![
            ("configuration", configuration()),
            ("listen", listen(&config)),
            ("roots", roots(&config)),
            ("data", data(&config.data)),
        ];
        findings.extend(agents(&config).await);
        findings.push(("git", git()));
        findings
    }
}

fn configuration() -> Finding {
    match serve::usual_file() {
        Some(file) if file.exists() => Finding::Good(format!("read from {}", file.display())),
        Some(file) => Finding::Good(format!("none at {}, so defaults are used", file.display())),
        None => Finding::Lacking("there is no home folder to find one in".to_owned()),
    }
}

fn listen(config: &ServeConfig) -> Finding {
    match TcpListener::bind(config.listen) {
        Ok(_) => Finding::Good(format!("{} is free", config.listen)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Finding::Bad(format!(
            "something listens on {} already, perhaps another `towline serve`; choose another port with --listen",
            config.listen
        )),
        Err(error) => Finding::Bad(format!("{}: {error}", config.listen)),
    }
}

fn roots(config: &ServeConfig) -> Finding {
    match Roots::new(&config.roots) {
        Ok(roots) => {
            let folders = roots
                .folders()
                .iter()
                .map(|folder| folder.display().to_string());
            Finding::Good(folders.collect::<Vec<_>>().join(", "))
        }
        Err(error) => Finding::Bad(error.to_string()),
    }
}

fn data(folder: &Path) -> Finding {
    let shown = folder.display();
    match folder.metadata() {
        Ok(metadata) if !metadata.is_dir() => {
            Finding::Bad(format!("{shown} is no folder; choose another with --data"))
        }
        Ok(metadata) if metadata.permissions().readonly() => Finding::Bad(format!(
            "{shown} cannot be written to; change its mode, or choose another with --data"
        )),
        Ok(_) => Finding::Good(format!("{shown} is there")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::Good(format!("{shown} will be made"))
        }
        Err(error) => Finding::Bad(format!("{shown}: {error}")),
    }
}

async fn agents(config: &ServeConfig) -> Vec<(&'static str, Finding)> {
    let around = match serve::surroundings() {
        Ok(around) => around,
        Err(error) => return vec![("agents", Finding::Bad(format!("{error:#}")))],
    };
    let mut findings = Vec::new();
    match Agents::new(&around.found, &config.agents, config.agent.as_deref()) {
        Ok(agents) => findings.push(("agents", Finding::Good(serve::agents(&agents)))),
        Err(error) => findings.push(("agents", Finding::Bad(error.to_string()))),
    }
    findings.push((
        "claude",
        match &around.found.claude {
            None => Finding::Lacking(
                "not found on the PATH or in the usual places; install it to use it here"
                    .to_owned(),
            ),
            Some(program) => match AgentCommand::new(program).version().await {
                Ok(version) => Finding::Good(format!("{version} at {}", program.display())),
                Err(error) => Finding::Bad(format!("{}: {error}", program.display())),
            },
        },
    ));
    findings.push(("API key", match around.found.api_key {
        ApiKey::Present => Finding::Good("there is one, for towline's own agent".to_owned()),
        ApiKey::Absent => Finding::Lacking(
            "none, so towline's own agent answers offline; set ANTHROPIC_API_KEY to use a model".to_owned(),
        ),
    }));
    findings
}

fn git() -> Finding {
    let ran = Command::new("git")
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    match ran {
        Ok(output) if output.status.success() => {
            Finding::Good(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        _ => Finding::Lacking("not found; changes of projects cannot be shown".to_owned()),
    }
}
