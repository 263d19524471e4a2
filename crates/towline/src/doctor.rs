//! `towline doctor`: what is found, what is missing, and how to put it right. It changes nothing.

use std::{
    env,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::Context;
use clap::Args;
use towline_bridge::{
    Checkup, StartError,
    access::{Kept, Roots},
    agents::{Agents, ApiKey, Found},
    settings::ServeConfig,
};
use towline_host::AgentCommand;
use towline_protocol::escaped;

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
            writeln!(out, "{mark}  {what}: {}", escaped(&words))?;
        }
        Ok(if is_well {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    async fn look(self) -> Vec<(&'static str, Finding)> {
        let file = configuration(self.options.named_file());
        let config = match self.options.config() {
            Ok(config) => config,
            Err(error) => {
                let messages = serve::messages(&error).into_iter();
                let findings = messages.map(|message| ("configuration", Finding::Bad(message)));
                return findings.collect();
            }
        };
        let around = match serve::surroundings() {
            Ok(around) => around,
            Err(error) => return vec![("agents", Finding::Bad(format!("{error:#}")))],
        };
        let checkup = Checkup::of(&config, &around).await;
        let mut findings = vec![
            ("configuration", file),
            ("listen", listen(&config, checkup.listen)),
            ("roots", roots(checkup.roots)),
            ("data", data(&config.data, checkup.data)),
            ("token", token(&config, checkup.token)),
        ];
        // Said only where there is something to say.
        if let Err(error) = checkup.hosts {
            findings.push(("public", bad(error)));
        }
        match checkup.tls {
            Ok(None) => {}
            Ok(Some(())) => {
                let words = "the certificates and the key can be used".to_owned();
                findings.push(("TLS", Finding::Good(words)));
            }
            Err(error) => findings.push(("TLS", bad(error))),
        }
        findings.extend(agents(checkup.agents));
        findings.push(("claude", claude(&around.found).await));
        findings.push(("API key", api_key(around.found.api_key)));
        findings.push(("git", git()));
        findings
    }
}

/// An error with all its causes.
fn bad(error: StartError) -> Finding {
    Finding::Bad(format!("{:#}", anyhow::Error::from(error)))
}

fn configuration(named: Option<&Path>) -> Finding {
    let read = |file: &Path| Finding::Good(format!("read from {}", file.display()));
    match (named, serve::usual_file()) {
        (Some(file), _) => read(file),
        (None, Some(file)) if file.exists() => read(&file),
        (None, Some(file)) => {
            Finding::Good(format!("none at {}, so defaults are used", file.display()))
        }
        (None, None) => Finding::Lacking("there is no home folder to find one in".to_owned()),
    }
}

fn listen(config: &ServeConfig, found: Result<SocketAddr, StartError>) -> Finding {
    match found {
        Ok(_) => Finding::Good(format!("{} is free", config.listen)),
        Err(error) => bad(error),
    }
}

fn roots(found: Result<Roots, StartError>) -> Finding {
    match found {
        Ok(roots) => {
            let folders = roots
                .folders()
                .iter()
                .map(|folder| folder.display().to_string().replace('\n', "\\n"));
            Finding::Good(folders.collect::<Vec<_>>().join(", "))
        }
        Err(error) => bad(error),
    }
}

fn data(folder: &Path, found: Result<Option<usize>, StartError>) -> Finding {
    let shown = folder.display();
    match found {
        Ok(Some(count)) => Finding::Good(format!("{shown}, with {count} sessions")),
        Ok(None) if folder.exists() => Finding::Good(format!("{shown}, without a log yet")),
        Ok(None) => Finding::Good(format!("{shown} will be made")),
        Err(error) => bad(error),
    }
}

fn token(config: &ServeConfig, found: Result<Option<Kept>, StartError>) -> Finding {
    match found {
        Ok(_) if config.token.is_some() => Finding::Good("the one that was given".to_owned()),
        Ok(None) => Finding::Good("one will be made".to_owned()),
        Ok(Some(kept)) => match kept.warning {
            Some(warning) => Finding::Lacking(warning),
            None => Finding::Good(format!("read from {}", kept.file.display())),
        },
        Err(error) => bad(error),
    }
}

fn agents(found: Result<Agents, StartError>) -> Vec<(&'static str, Finding)> {
    let agents = match found {
        Ok(agents) => agents,
        Err(error) => return vec![("agents", bad(error))],
    };
    let mut findings = vec![("agents", Finding::Good(serve::agents(&agents)))];
    let default = &agents.default_choice().name;
    for choice in agents.choices() {
        if is_program(&choice.command) {
            continue;
        }
        let words = format!(
            "the program of `{}`, {}, is not found; install it, or correct it in the configuration",
            choice.name,
            choice.command.display()
        );
        let finding = if choice.name == *default {
            Finding::Bad(words)
        } else {
            Finding::Lacking(words)
        };
        findings.push(("agent", finding));
    }
    findings
}

/// Whether a program can be started by this name: a path, or the name of something on the `PATH`.
fn is_program(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    program
        .to_str()
        .is_some_and(|program| on_the_path(program).is_file())
}

/// Where the `PATH` has a program. Relative folders of it do not count: in a project they are the project's.
fn on_the_path(program: &str) -> PathBuf {
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    // Nothing is there by this path.
    found.unwrap_or_else(|| Path::new("/nowhere").join(program))
}

async fn claude(found: &Found) -> Finding {
    let Some(program) = &found.claude else {
        let words = "not found on the PATH or in the usual places; install it to use it here";
        return Finding::Lacking(words.to_owned());
    };
    match AgentCommand::new(program).version().await {
        Ok(version) => Finding::Good(format!("{version} at {}", program.display())),
        Err(error) => Finding::Bad(format!("{}: {error}", program.display())),
    }
}

fn api_key(found: ApiKey) -> Finding {
    match found {
        ApiKey::Present => Finding::Good("there is one, for towline's own agent".to_owned()),
        ApiKey::Absent => Finding::Lacking(
            "none, so towline's own agent answers offline; set ANTHROPIC_API_KEY to use a model"
                .to_owned(),
        ),
    }
}

fn git() -> Finding {
    let ran = Command::new(on_the_path("git"))
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
