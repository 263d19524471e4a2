//! Flags over environment over file over defaults, each with the name by which it is known where it came from.

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use jiff::SignedDuration;

use super::{
    Encryption, Flags, Limits, ServeConfig, Sources,
    file::{File, LimitsTable, TlsTable},
};
use crate::{
    access::{Rate, Token},
    agents::{AnyRule, Bypass},
};

/// Puts the layers together. What is wrong is added to the problems; without a place for the data there is nothing.
pub(super) fn merge(
    sources: &Sources<'_>,
    file: File,
    problems: &mut Vec<String>,
) -> Option<ServeConfig> {
    let before = problems.len();
    let flags = &sources.flags;
    let mut layers = Layers {
        environment: sources.environment,
        problems,
    };
    let listen = flags
        .listen
        .clone()
        .map(|given| ("--listen", given))
        .or_else(|| {
            layers
                .word("TOWLINE_LISTEN")
                .map(|given| ("TOWLINE_LISTEN", given))
        })
        .or(file.listen.map(|given| ("listen", given)))
        .map_or(Some(DEFAULT_LISTEN), |(place, given)| {
            layers.address(place, &given)
        });
    let public = layers
        .list(&flags.public, "TOWLINE_PUBLIC", ',')
        .or(file.public);
    // What is typed is meant from where it is typed.
    let from_here = |path: &PathBuf| sources.directory.join(path);
    let given_roots: Vec<_> = flags.roots.iter().map(from_here).collect();
    let roots = layers
        .list(&given_roots, "TOWLINE_ROOTS", ':')
        .or(file.roots);
    let data = flags
        .data
        .as_ref()
        .map(from_here)
        .or_else(|| layers.path("TOWLINE_DATA"))
        .or(file.data);
    let data = data.or_else(|| layers.default_data());
    let has_token_in_file = file.token.is_some();
    let token = layers.given_token(flags, file.token);
    let encryption = layers.encryption(flags, file.tls, file.behind_proxy);
    let bypass = flags
        .allow_bypass_permissions
        .or_else(|| layers.switch("TOWLINE_ALLOW_BYPASS_PERMISSIONS"))
        .or(file.allow_bypass_permissions);
    let any_rule = flags
        .allow_any_rule
        .or_else(|| layers.switch("TOWLINE_ALLOW_ANY_RULE"))
        .or(file.allow_any_rule);
    let limits = layers.limits(file.limits);
    let agent = flags
        .agent
        .clone()
        .or_else(|| layers.word("TOWLINE_AGENT"))
        .or(file.agent);
    let config = ServeConfig {
        listen: listen?,
        public: public.unwrap_or_default(),
        encryption,
        roots: roots.unwrap_or_else(|| vec![sources.directory.clone()]),
        data: data?,
        token,
        has_token_in_file,
        agent,
        agents: file.agents,
        bypass_permissions: match bypass {
            Some(true) => Bypass::Enabled,
            _ => Bypass::Refused,
        },
        any_rule: match any_rule {
            Some(true) => AnyRule::Allowed,
            _ => AnyRule::Refused,
        },
        limits,
    };
    // Whether the parts fit together can be said of parts that were understood.
    if problems.len() == before {
        config.check(problems);
    }
    Some(config)
}

struct Layers<'a> {
    environment: &'a dyn Fn(&str) -> Option<OsString>,
    problems: &'a mut Vec<String>,
}

impl Layers<'_> {
    /// A variable that says something. An empty one is as good as none.
    fn variable(&self, name: &str) -> Option<OsString> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    fn word(&mut self, name: &str) -> Option<String> {
        let value = self.variable(name)?.into_string();
        value
            .map_err(|_| self.problems.push(format!("{name}: is not UTF-8")))
            .ok()
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from)
    }

    fn list<T: Clone + From<String>>(
        &mut self,
        flags: &[T],
        name: &str,
        between: char,
    ) -> Option<Vec<T>> {
        if !flags.is_empty() {
            return Some(flags.to_vec());
        }
        let words = self.word(name)?;
        let words = words
            .split(between)
            .map(str::trim)
            .filter(|word| !word.is_empty());
        Some(words.map(|word| T::from(word.to_owned())).collect())
    }

    fn switch(&mut self, name: &str) -> Option<bool> {
        let word = self.word(name)?;
        match word.as_str() {
            "1" | "true" | "yes" => Some(true),
            "0" | "false" | "no" => Some(false),
            _ => self.problem(format!("{name}: {word:?} is neither true nor false")),
        }
    }

    fn number<T: FromStr>(&mut self, name: &str) -> Option<T> {
        let word = self.word(name)?;
        match word.parse() {
            Ok(number) => Some(number),
            Err(_) => self.problem(format!("{name}: {word:?} is no number that fits")),
        }
    }

    fn problem<T>(&mut self, problem: String) -> Option<T> {
        self.problems.push(problem);
        None
    }

    /// `127.0.0.1:8765`, a port alone, or `localhost:8765`.
    fn address(&mut self, place: &str, given: &str) -> Option<SocketAddr> {
        let given = given.trim();
        if let Ok(port) = given.parse() {
            return Some(SocketAddr::new(DEFAULT_LISTEN.ip(), port));
        }
        let numeric = given
            .strip_prefix("localhost:")
            .map(|port| format!("127.0.0.1:{port}"));
        match numeric.as_deref().unwrap_or(given).parse() {
            Ok(address) => Some(address),
            Err(_) => self.problem(format!(
                "{place}: {given:?} is no address to listen on; give an address and a port, such as {DEFAULT_LISTEN}"
            )),
        }
    }

    fn given_token(&mut self, flags: &Flags, file: Option<String>) -> Option<Token> {
        let flag = flags.token.clone().map(|given| ("--token", given.0));
        let variable = || {
            let given = self.word("TOWLINE_TOKEN");
            given.map(|given| ("TOWLINE_TOKEN", given))
        };
        let (place, given) = flag
            .or_else(variable)
            .or(file.map(|given| ("token", given)))?;
        self.token(place, &given)
    }

    fn token(&mut self, place: &str, given: &str) -> Option<Token> {
        match Token::parse(given.trim()) {
            Ok(token) => Some(token),
            Err(error) => self.problem(format!("{place}: {error}")),
        }
    }

    fn encryption(
        &mut self,
        flags: &Flags,
        tls: TlsTable,
        behind_proxy: Option<bool>,
    ) -> Encryption {
        let cert = flags.tls_cert.clone();
        let cert = cert.or_else(|| self.path("TOWLINE_TLS_CERT")).or(tls.cert);
        let key = flags.tls_key.clone();
        let key = key.or_else(|| self.path("TOWLINE_TLS_KEY")).or(tls.key);
        let variable = || self.switch("TOWLINE_BEHIND_PROXY");
        let behind_proxy = flags.behind_proxy.or_else(variable).or(behind_proxy);
        let behind_proxy = behind_proxy == Some(true);
        match (cert, key) {
            (Some(_), Some(_)) if behind_proxy => {
                self.problems.push(
                    "behind_proxy: there are tls.cert and tls.key (--tls-cert, --tls-key) too; leave one of the two ways out".to_owned(),
                );
                Encryption::BehindProxy
            }
            (Some(cert), Some(key)) => Encryption::Tls { cert, key },
            (None, None) if behind_proxy => Encryption::BehindProxy,
            (None, None) => Encryption::None,
            (cert, _) => {
                let (missing, flag) = if cert.is_some() {
                    ("tls.key", "--tls-key")
                } else {
                    ("tls.cert", "--tls-cert")
                };
                self.problems.push(format!(
                    "{missing}: is missing; TLS needs a certificate and its key, so give it too ({flag} FILE)"
                ));
                Encryption::None
            }
        }
    }

    fn limits(&mut self, file: LimitsTable) -> Limits {
        let default = Limits::default();
        let idle = file.idle_stop.map(|given| ("limits.idle_stop", given));
        let question = file
            .question_timeout
            .map(|given| ("limits.question_timeout", given));
        Limits {
            sessions: self
                .number("TOWLINE_MAX_SESSIONS")
                .or(file.sessions)
                .unwrap_or(default.sessions),
            viewers: self
                .number("TOWLINE_MAX_VIEWERS")
                .or(file.viewers)
                .unwrap_or(default.viewers),
            idle_stop: self.time("TOWLINE_IDLE_STOP", idle, default.idle_stop),
            question_timeout: self.time(
                "TOWLINE_QUESTION_TIMEOUT",
                question,
                default.question_timeout,
            ),
            frame_bytes: self
                .number("TOWLINE_FRAME_BYTES")
                .or(file.frame_bytes)
                .unwrap_or(default.frame_bytes),
            rate: Rate {
                burst: self
                    .number("TOWLINE_RATE_BURST")
                    .or(file.rate_burst)
                    .unwrap_or(default.rate.burst),
                per_second: self
                    .number("TOWLINE_RATE_PER_SECOND")
                    .or(file.rate_per_second)
                    .unwrap_or(default.rate.per_second),
            },
        }
    }

    /// `30m`, `1h 30m`, `never`.
    fn time(
        &mut self,
        name: &'static str,
        file: Option<(&'static str, String)>,
        default: Option<Duration>,
    ) -> Option<Duration> {
        let Some((place, given)) = self.word(name).map(|given| (name, given)).or(file) else {
            return default;
        };
        if given.trim() == "never" {
            return None;
        }
        let time = given.trim().parse::<SignedDuration>().ok();
        match time.and_then(|time| Duration::try_from(time).ok()) {
            Some(time) if !time.is_zero() => Some(time),
            _ => self.problem(format!(
                "{place}: {given:?} is no time; give one such as \"30m\", or \"never\""
            )),
        }
    }

    fn default_data(&mut self) -> Option<PathBuf> {
        let shared = self.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
        let shared = shared.or_else(|| self.path("HOME").map(|home| home.join(".local/share")));
        match shared {
            Some(shared) => Some(Path::new(&shared).join("towline")),
            None => self.problem(
                "data: there is no HOME to keep it in; name a folder with --data".to_owned(),
            ),
        }
    }
}

const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8765);
