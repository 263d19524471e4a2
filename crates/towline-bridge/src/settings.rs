//! [`ServeConfig`]: how `towline serve` is to run, from flags, environment and a file, in that order. Pure: texts are given
//! in.

mod file;
mod layers;

use std::{ffi::OsString, fmt, net::SocketAddr, path::PathBuf, time::Duration};

use thiserror::Error;

use crate::{
    access::{AllowedHosts, Rate, Reach, Token},
    agents::{AgentChoice, AnyRule, Bypass},
};

/// How the bridge is to run, with everything filled in.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Under which names others reach it.
    pub public: Vec<String>,
    /// How it is encrypted.
    pub encryption: Encryption,
    /// The folders that may be used.
    pub roots: Vec<PathBuf>,
    /// Where it keeps its token, its log and its audit.
    pub data: PathBuf,
    /// The token that a person chose; else the one in the data folder.
    pub token: Option<Token>,
    /// Whether the file holds a token, so that whoever can read it can get in.
    pub has_token_in_file: bool,
    /// The name of the agent for who does not choose.
    pub agent: Option<String>,
    /// Agents beside those that are found.
    pub agents: Vec<AgentChoice>,
    /// Whether sessions may run without asking.
    pub bypass_permissions: Bypass,
    /// Whether an answer may change permissions in other ways than were shown with its question.
    pub any_rule: AnyRule,
    /// How much there may be of everything.
    pub limits: Limits,
}

/// Who encrypts what goes over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// Nobody: it does not leave the machine.
    None,
    /// The bridge.
    Tls {
        /// The file with the certificates.
        cert: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    /// A proxy in front of it, which says so in each request.
    BehindProxy,
}

/// How much there may be of everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions whose agents run.
    pub sessions: usize,
    /// Connections.
    pub viewers: usize,
    /// How long an agent that nobody uses goes on; for ever if there is nothing.
    pub idle_stop: Option<Duration>,
    /// How long a question waits before it is denied; for ever if there is nothing.
    pub question_timeout: Option<Duration>,
    /// The largest message of a client.
    pub frame_bytes: usize,
    /// How fast a client may send messages.
    pub rate: Rate,
}

/// What was given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--listen`
    pub listen: Option<String>,
    /// `--public`, each
    pub public: Vec<String>,
    /// `--root`, each
    pub roots: Vec<PathBuf>,
    /// `--data`
    pub data: Option<PathBuf>,
    /// `--token`
    pub token: Option<Secret>,
    /// `--agent`
    pub agent: Option<String>,
    /// `--tls-cert`
    pub tls_cert: Option<PathBuf>,
    /// `--tls-key`
    pub tls_key: Option<PathBuf>,
    /// `--behind-proxy`
    pub behind_proxy: Option<bool>,
    /// `--allow-bypass-permissions`
    pub allow_bypass_permissions: Option<bool>,
    /// `--allow-any-rule`
    pub allow_any_rule: Option<bool>,
}

/// Words that are not for `Debug`.
#[derive(Clone)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Everything that the configuration is made of.
pub struct Sources<'a> {
    /// The file with its name, if there is one.
    pub file: Option<(&'a str, &'a str)>,
    /// Looks up a variable of the environment.
    pub environment: &'a dyn Fn(&str) -> Option<OsString>,
    /// What was given on the command line.
    pub flags: Flags,
    /// Where the program was started: the root if none is given.
    pub directory: PathBuf,
}

/// What is wrong with a configuration, one line each: what, where, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", problems.join("\n"))]
pub struct Problems {
    /// The lines.
    pub problems: Vec<String>,
}

impl ServeConfig {
    /// Puts the configuration together: a flag goes over a variable, that over the file, that over the default.
    ///
    /// ```
    /// use towline_bridge::settings::{Flags, ServeConfig, Sources};
    ///
    /// let config = ServeConfig::read(&Sources {
    ///     file: Some(("towline.toml", "listen = \"127.0.0.1:9000\"\n")),
    ///     environment: &|name| (name == "HOME").then(|| "/home/ann".into()),
    ///     flags: Flags::default(),
    ///     directory: "/home/ann/project".into(),
    /// })?;
    /// assert_eq!(config.listen.port(), 9000);
    /// assert_eq!(config.data, std::path::Path::new("/home/ann/.local/share/towline"));
    /// # Ok::<(), towline_bridge::settings::Problems>(())
    /// ```
    ///
    /// # Errors
    /// When something is wrong: all that is, if the file can be read at all.
    pub fn read(sources: &Sources<'_>) -> Result<Self, Problems> {
        let one = |problem| Problems {
            problems: vec![problem],
        };
        let file = match sources.file {
            Some((name, text)) => file::read(name, text).map_err(one)?,
            None => file::File::default(),
        };
        let mut problems = Vec::new();
        let config = layers::merge(sources, file, &mut problems);
        match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(Problems { problems }),
        }
    }

    /// How it is reached.
    pub fn reach(&self) -> Reach {
        match self.encryption {
            Encryption::None => Reach::Plain,
            Encryption::Tls { .. } => Reach::Tls,
            Encryption::BehindProxy => Reach::BehindProxy,
        }
    }

    fn check(&self, problems: &mut Vec<String>) {
        if self.encryption == Encryption::None && !self.listen.ip().is_loopback() {
            problems.push(format!(
                "listen: {} can be reached from other machines and nothing is encrypted; give tls.cert and tls.key \
                 (--tls-cert, --tls-key), set behind_proxy (--behind-proxy) if a proxy in front encrypts, or listen on \
                 127.0.0.1",
                self.listen
            ));
        }
        if self.encryption == Encryption::None
            && self.listen.ip().is_loopback()
            && let Some(name) = self.public.first()
        {
            problems.push(format!(
                "public: {name} is for other machines, and nothing is encrypted; give tls.cert and tls.key (--tls-cert, \
                 --tls-key), set behind_proxy (--behind-proxy) if a proxy in front encrypts, or leave it out"
            ));
        }
        if self.encryption != Encryption::None
            && self.listen.ip().is_unspecified()
            && self.public.is_empty()
        {
            problems.push(format!(
                "listen: {} is every address, so nobody can tell by which name it is reached; name it with public \
                 (--public HOST), or listen on one address",
                self.listen
            ));
        }
        if let Err(error) = AllowedHosts::new(self.listen, self.reach(), &self.public) {
            problems.push(format!("public: {error}"));
        }
        if self.roots.is_empty() {
            problems.push(
                "roots: there are none; name the folders that may be used, or leave it out"
                    .to_owned(),
            );
        }
        for root in self.roots.iter().filter(|root| root.is_relative()) {
            problems.push(format!(
                "roots: {} is not absolute; give the whole path",
                root.display()
            ));
        }
        if self.data.is_relative() {
            problems.push(format!(
                "data: {} is not absolute; give the whole path",
                self.data.display()
            ));
        }
        for (number, agent) in self.agents.iter().enumerate() {
            let name = &agent.name;
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || !name.chars().all(fits) {
                problems.push(format!(
                    "agents: {name:?} is no name; use letters, digits and any of `-_.`"
                ));
            }
            if self.agents[..number]
                .iter()
                .any(|other| other.name == *name)
            {
                problems.push(format!("agents: there are two called {name:?}; rename one"));
            }
            if agent.command.as_os_str().is_empty() {
                problems.push(format!(
                    "agents: {name:?} has an empty command; name its program"
                ));
            }
        }
        self.limits.check(problems);
    }
}

impl Limits {
    fn check(&self, problems: &mut Vec<String>) {
        let counts = [
            ("sessions", self.sessions),
            ("viewers", self.viewers),
            ("rate_burst", self.rate.burst as usize),
            ("rate_per_second", self.rate.per_second as usize),
        ];
        for (name, _) in counts.iter().filter(|(_, count)| *count == 0) {
            problems.push(format!(
                "limits.{name}: 0 would let nothing through; give 1 or more"
            ));
        }
        if !FRAME_BYTES.contains(&self.frame_bytes) {
            let (least, most) = (FRAME_BYTES.start(), FRAME_BYTES.end());
            let given = self.frame_bytes;
            problems.push(format!(
                "limits.frame_bytes: {given} is not between {least} and {most}"
            ));
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 32,
            viewers: 64,
            idle_stop: Some(Duration::from_secs(30 * 60)),
            question_timeout: Some(Duration::from_secs(60 * 60)),
            frame_bytes: 16 << 20,
            rate: Rate {
                burst: 200,
                per_second: 50,
            },
        }
    }
}

impl fmt::Debug for Sources<'_> {
    /// Without the text of the file, which may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("file", &self.file.map(|(name, _)| name))
            .field("flags", &self.flags)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A picture fits in, and a bad one does not take the memory away.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = (64 << 10)..=(256 << 20);
