//! `towline trace wrapper`: a program that records an agent, for hosts that want one program without arguments.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;

use crate::terminal::escaped;

/// Write a program that records every run of an agent.
///
/// The program is a script for `/bin/sh` and takes the agent's place: give it to a host as the agent to start, such
/// as `cli_path` of the Python SDK or `pathToClaudeCodeExecutable` of the TypeScript SDK. Every run of it is a new
/// trace in FOLDER.
#[derive(Debug, Args)]
pub(crate) struct Wrapper {
    /// The program to write; it must not exist.
    path: PathBuf,

    /// Where the traces go; made if it does not exist.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// The agent, and arguments that come before those of the host.
    #[arg(last = true, required = true, value_name = "CLI")]
    command: Vec<OsString>,
}

impl Wrapper {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let towline = env::current_exe().context("cannot tell where this program is")?;
        let folder = make_folder(&self.out)?;
        let mut command = self.command;
        command[0] = absolute(&command[0])?;
        let script = script(&towline, &folder, &command);
        let cannot_write = || format!("cannot write `{}`", self.path.display());
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o755)
            .open(&self.path)
            .with_context(cannot_write)?;
        file.write_all(&script).with_context(cannot_write)?;
        let (path, folder) = (self.path.display(), folder.display());
        let told = escaped(&format!("{path} records into {folder}"));
        writeln!(io::stdout().lock(), "{told}").context("cannot write to standard output")?;
        Ok(ExitCode::SUCCESS)
    }
}

fn make_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    fs::canonicalize(folder).with_context(|| format!("cannot use `{}`", folder.display()))
}

/// A program that is named by its path is found from any folder; one that is not is looked for each time.
fn absolute(program: &OsStr) -> anyhow::Result<OsString> {
    if !program.as_bytes().contains(&b'/') {
        return Ok(program.to_owned());
    }
    let path = std::path::absolute(program)
        .with_context(|| format!("cannot find `{}`", program.display()))?;
    if !path.is_file() {
        bail!("cannot find `{}`: no such program", path.display());
    }
    Ok(path.into())
}

/// A script that becomes the recorder, under the same process id.
fn script(towline: &Path, folder: &Path, command: &[OsString]) -> Vec<u8> {
    let mut script =
        b"#!/bin/sh\n# Written by `towline trace wrapper`: records every run of an agent.\nexec "
            .to_vec();
    quote(towline.as_os_str(), &mut script);
    script.extend(b" trace record ");
    let folder = folder.as_os_str().as_bytes();
    let mut name = Vec::new();
    for byte in folder {
        name.extend(if *byte == b'%' {
            &b"%%"[..]
        } else {
            std::slice::from_ref(byte)
        });
    }
    name.extend(b"/%t-%p.jsonl");
    quote(OsStr::from_bytes(&name), &mut script);
    script.extend(b" --");
    for word in command {
        script.push(b' ');
        quote(word, &mut script);
    }
    script.extend(b" \"$@\"\n");
    script
}

/// A word as the shell reads it back.
fn quote(word: &OsStr, script: &mut Vec<u8>) {
    script.push(b'\'');
    for byte in word.as_bytes() {
        match byte {
            b'\'' => script.extend(br"'\''"),
            other => script.push(*other),
        }
    }
    script.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let command = ["it's".into(), "$HOME".into(), "".into()];
        let script = script("/a b/towline".as_ref(), "/50% off".as_ref(), &command);
        let script = String::from_utf8(script).unwrap();
        insta::assert_snapshot!(script, @r#"
        #!/bin/sh
        # Written by `towline trace wrapper`: records every run of an agent.
        exec '/a b/towline' trace record '/50%% off/%t-%p.jsonl' -- 'it'\''s' '$HOME' '' "$@"
        "#);
    }
}
