//! [`AllowedHosts`]: under which names the bridge is reached, and pages of which origins may talk to it. Pure.
//!
//! A page of somebody else can send requests to loopback, and can have its own name lead there (DNS rebinding). The
//! first is seen by its `Origin`, the second by its `Host`: neither is a name of ours.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use thiserror::Error;

/// How the bridge is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Over HTTP, from this machine.
    Plain,
    /// Over HTTPS.
    Tls,
    /// Through a proxy that encrypts, and says so in each request.
    BehindProxy,
}

/// The names of the bridge.
///
/// ```
/// use towline_bridge::access::{AllowedHosts, Reach};
///
/// let hosts = AllowedHosts::new("127.0.0.1:8765".parse()?, Reach::Plain, &[])?;
/// assert!(hosts.check(Some("localhost:8765"), None).is_ok());
/// assert!(hosts.check(Some("evil.example:8765"), None).is_err());
/// assert!(hosts.check(Some("localhost:8765"), Some("https://evil.example")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AllowedHosts {
    listen: SocketAddr,
    reach: Reach,
    public: Vec<Authority>,
}

/// A name that cannot be one of ours.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{name}` is no host: give a name or an address, with a port if it is neither 443, 80 nor the one listened on"
)]
pub struct HostError {
    /// What was given.
    pub name: String,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostRefusal {
    /// It does not say which host it wants.
    #[error("the request has no Host header")]
    NoHost,
    /// It wants a host that is not this one.
    #[error("`{0}` is no name of this bridge: to be reached by it, start with `--public {0}`")]
    Host(String),
    /// It comes from a page of somebody else.
    #[error("pages of `{0}` may not use this bridge")]
    Origin(String),
}

/// A host and perhaps a port, as in a header; names in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(IpAddr),
}

impl AllowedHosts {
    /// The names that go with where it listens, and those under which others reach it.
    ///
    /// # Errors
    /// When one of those cannot be a host.
    pub fn new(listen: SocketAddr, reach: Reach, public: &[String]) -> Result<Self, HostError> {
        let parse = |name: &String| {
            name.parse()
                .map_err(|NotAHost| HostError { name: name.clone() })
        };
        let public = public.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self {
            listen,
            reach,
            public,
        })
    }

    /// Whether a request may go on, by its `Host` and its `Origin` as they came.
    ///
    /// Programs send no `Origin`; a browser does with everything that could do harm.
    ///
    /// # Errors
    /// When one of them is not ours.
    pub fn check(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), HostRefusal> {
        let host = host.ok_or(HostRefusal::NoHost)?;
        let default_port = match self.reach {
            Reach::Plain => 80,
            Reach::Tls | Reach::BehindProxy => 443,
        };
        let ours = host.parse().is_ok_and(|host| self.has(&host, default_port));
        if !ours {
            return Err(HostRefusal::Host(shown(host)));
        }
        match origin {
            None => Ok(()),
            Some(origin) if self.is_own_page(origin) => Ok(()),
            Some(origin) => Err(HostRefusal::Origin(shown(origin))),
        }
    }

    /// Where something encrypts, a page that came without is not ours: somebody on the way may have written it.
    fn is_own_page(&self, origin: &str) -> bool {
        // `null` is what sandboxed frames and files say: anybody.
        let Some((scheme, authority)) = origin.split_once("://") else {
            return false;
        };
        let default_port = match (self.reach, scheme) {
            (Reach::Plain, "http") => 80,
            (Reach::Tls | Reach::BehindProxy, "https") => 443,
            _ => return false,
        };
        authority
            .parse()
            .is_ok_and(|authority| self.has(&authority, default_port))
    }

    fn has(&self, wanted: &Authority, default_port: u16) -> bool {
        let port = wanted.port.unwrap_or(default_port);
        let here = self.is_here(&wanted.host) && port == self.listen.port();
        here || self.public.iter().any(|ours| {
            let right_port = match ours.port {
                Some(ours) => port == ours,
                None => [80, 443, self.listen.port()].contains(&port),
            };
            ours.host == wanted.host && right_port
        })
    }

    /// An address cannot be made to lead elsewhere, so the one listened on is as good as loopback.
    fn is_here(&self, host: &Host) -> bool {
        match host {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => {
                address.is_loopback() || (*address == self.listen.ip() && !address.is_unspecified())
            }
        }
    }
}

#[derive(Debug)]
struct NotAHost;

impl FromStr for Authority {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, NotAHost> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']').ok_or(NotAHost)?;
                let address: Ipv6Addr = address.parse().map_err(|_| NotAHost)?;
                let port = match port.strip_prefix(':') {
                    Some(port) => Some(port),
                    None if port.is_empty() => None,
                    None => return Err(NotAHost),
                };
                (Host::Address(address.into()), port)
            }
            None => {
                let (name, port) = match text.split_once(':') {
                    Some((name, port)) => (name, Some(port)),
                    None => (text, None),
                };
                (Host::from_name(name)?, port)
            }
        };
        let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let port = match port {
            None => None,
            Some(port) if digits(port) => Some(port.parse().map_err(|_| NotAHost)?),
            Some(_) => return Err(NotAHost),
        };
        Ok(Self { host, port })
    }
}

impl Host {
    fn from_name(name: &str) -> Result<Self, NotAHost> {
        if let Ok(address) = name.parse::<IpAddr>() {
            return Ok(Self::Address(address));
        }
        // `localhost.` is the same name.
        let name = name.strip_suffix('.').unwrap_or(name);
        let label = |label: &str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            !label.is_empty() && label.bytes().all(fits)
        };
        if name.len() > 253 || !name.split('.').all(label) {
            return Err(NotAHost);
        }
        Ok(Self::Name(name.to_ascii_lowercase()))
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Name(name) => f.write_str(name)?,
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
            Host::Address(address) => write!(f, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// A header for a message: what cannot be a host is not repeated to its end, nor with its control characters.
fn shown(header: &str) -> String {
    match header.parse::<Authority>() {
        Ok(authority) => authority.to_string(),
        Err(NotAHost) => header
            .chars()
            .filter(|c| !c.is_control())
            .take(100)
            .collect(),
    }
}
