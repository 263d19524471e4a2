//! [`Token`]: the one secret of the bridge. Made on the first start, kept in a file that only its owner can read.
//!
//! A browser trades it for a cookie, which is a keyed hash: who reads the cookie does not have the token, and a new token
//! makes all cookies worthless. Nothing here writes a log; [`without_token`] is for those who do.

mod file;

use std::{borrow::Cow, fmt, io, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use super::Reach;

/// The secret that lets somebody in. It is never shown by `Debug`.
///
/// ```
/// use towline_bridge::access::{Presented, Token, Way};
///
/// let token = Token::generate()?;
/// let bearer = format!("Bearer {}", token.expose());
/// let presented = Presented { authorization: Some(&bearer), ..Presented::default() };
/// assert_eq!(token.check(&presented), Ok(Way::Header));
/// assert_eq!(format!("{token:?}"), "Token(…)");
/// # Ok::<(), towline_bridge::access::TokenError>(())
/// ```
#[derive(Clone)]
pub struct Token(String);

/// A token from its file.
#[derive(Debug)]
pub struct Kept {
    /// The token.
    pub token: Token,
    /// Where it is kept.
    pub file: PathBuf,
    /// Whether it was made just now.
    pub created: bool,
    /// What had to be put right, for the person who started the bridge.
    pub warning: Option<String>,
}

/// What a request has to show for itself, header by header as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Presented<'a> {
    /// `Authorization`
    pub authorization: Option<&'a str>,
    /// `Cookie`
    pub cookie: Option<&'a str>,
    /// `Sec-WebSocket-Protocol`
    pub subprotocols: Option<&'a str>,
    /// What stands behind the `?` of the URI.
    pub query: Option<&'a str>,
}

/// How somebody got in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `Authorization: Bearer`
    Header,
    /// The session cookie.
    Cookie,
    /// A WebSocket subprotocol.
    Subprotocol,
    /// `?token=`
    Query,
}

/// Why somebody did not get in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Nothing was shown. That is no attempt to guess.
    #[error("a token is needed: open the link that `towline serve` printed")]
    Missing,
    /// What was shown is wrong.
    #[error("the token is wrong or no longer valid: open the link that `towline serve` printed")]
    Wrong,
}

/// Why there is no token.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The text cannot be a token.
    #[error(
        "a token has {SHORTEST} to {LONGEST} letters, digits or any of `-._~`, and this one {0}"
    )]
    Malformed(String),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    NoRandomness(getrandom::Error),
    /// Its file cannot be used.
    #[error("token file {}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
}

impl Token {
    /// A new one of 256 random bits.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).map_err(TokenError::NoRandomness)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bits)))
    }

    /// One that a person chose. It must fit into a URI and into a header as it is.
    ///
    /// # Errors
    /// When it is too short, too long, or has a character that needs escaping somewhere.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !text.bytes().all(fits) {
            return Err(TokenError::Malformed("has other characters".to_owned()));
        }
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return Err(TokenError::Malformed(format!("has {}", text.len())));
        }
        Ok(Self(text.to_owned()))
    }

    /// The token itself, for the link that is printed and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The link to open: the token stands in the fragment, which a browser sends to nobody.
    pub fn link(&self, base: &str) -> String {
        format!("{}/#token={}", base.trim_end_matches('/'), self.0)
    }

    /// Whether what somebody says is the token. Takes the same time wherever they differ.
    pub fn matches(&self, said: &str) -> bool {
        // Hashes have one length, so that not even the length can be measured.
        let ours = Sha256::digest(self.0.as_bytes());
        Sha256::digest(said.as_bytes()).ct_eq(&ours).into()
    }

    /// Whether a request may come in. One right thing is enough: a browser may send an old cookie along.
    ///
    /// # Errors
    /// When it shows nothing, or nothing that is right.
    pub fn check(&self, presented: &Presented<'_>) -> Result<Way, Refusal> {
        let mut refusal = Refusal::Missing;
        let mut decide = |way, right| {
            refusal = Refusal::Wrong;
            if right { Some(way) } else { None }
        };
        if let Some(said) = presented.authorization.and_then(bearer)
            && let Some(way) = decide(Way::Header, self.matches(said))
        {
            return Ok(way);
        }
        for said in cookies(presented.cookie, &self.cookie_name()) {
            if let Some(way) = decide(Way::Cookie, self.is_cookie(said)) {
                return Ok(way);
            }
        }
        for said in
            offered(presented.subprotocols).filter_map(|name| name.strip_prefix(SUBPROTOCOL_PREFIX))
        {
            if let Some(way) = decide(Way::Subprotocol, self.matches(said)) {
                return Ok(way);
            }
        }
        let query = presented.query.unwrap_or_default();
        for (_, said) in
            form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "token")
        {
            if let Some(way) = decide(Way::Query, self.matches(&said)) {
                return Ok(way);
            }
        }
        Err(refusal)
    }

    /// The `Set-Cookie` header for a browser that has shown the token. It stays good as long as the token does.
    pub fn cookie(&self, reach: Reach) -> String {
        let secure = match reach {
            Reach::Tls => "; Secure",
            // Whether the browser's side is encrypted is not known here, and a secure cookie is lost where it is not.
            Reach::Plain | Reach::BehindProxy => "",
        };
        format!(
            "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}{secure}",
            self.cookie_name(),
            self.keyed("cookie")
        )
    }

    /// The `Set-Cookie` header that takes the cookie away again.
    pub fn expired_cookie(&self) -> String {
        format!(
            "{}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0",
            self.cookie_name()
        )
    }

    fn is_cookie(&self, said: &str) -> bool {
        said.as_bytes()
            .ct_eq(self.keyed("cookie").as_bytes())
            .into()
    }

    /// Browsers do not tell ports apart in cookies, so each bridge on a machine has a name of its own.
    fn cookie_name(&self) -> String {
        format!("towline_{}", &self.keyed("name")[..8])
    }

    fn keyed(&self, purpose: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes())
            .expect("HMAC takes a key of any length");
        mac.update(b"towline bridge ");
        mac.update(purpose.as_bytes());
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl TokenError {
    fn file(path: &std::path::Path, problem: impl Into<String>) -> Self {
        let path = path.to_owned();
        let problem = problem.into();
        Self::File { path, problem }
    }

    fn io(path: &std::path::Path, error: &io::Error) -> Self {
        Self::file(path, error.to_string())
    }
}

/// Which of the subprotocols that a WebSocket client offers goes into the answer: one without the token, if there is one.
///
/// ```
/// use towline_bridge::access::answered_subprotocol;
///
/// assert_eq!(answered_subprotocol("towline.token.abc, towline.v1"), Some("towline.v1"));
/// ```
pub fn answered_subprotocol(header: &str) -> Option<&str> {
    let mut without = offered(Some(header)).filter(|name| !name.starts_with(SUBPROTOCOL_PREFIX));
    // A browser ends the connection if it offered some and none is chosen.
    without.next().or_else(|| offered(Some(header)).next())
}

/// A URI for a log: the values of `token` are gone, in the query and in the fragment, however they are spelled.
///
/// ```
/// use towline_bridge::access::without_token;
///
/// assert_eq!(without_token("/ws?a=1&token=secret#x"), "/ws?a=1&token=…#x");
/// ```
pub fn without_token(uri: &str) -> Cow<'_, str> {
    let Some(start) = uri.find(['?', '#']) else {
        return Cow::Borrowed(uri);
    };
    let (path, rest) = uri.split_at(start);
    let mut cleaned = String::from(path);
    for piece in rest.split_inclusive(['?', '#', '&', ';']) {
        let pair = piece.trim_end_matches(['?', '#', '&', ';']);
        let end = &piece[pair.len()..];
        match pair.split_once('=') {
            Some((name, _)) if is_token(name) => {
                cleaned.push_str(name);
                cleaned.push_str("=…");
            }
            _ => cleaned.push_str(pair),
        }
        cleaned.push_str(end);
    }
    Cow::Owned(cleaned)
}

/// A query without the token that it shows; nothing if it shows none.
///
/// ```
/// use towline_bridge::access::query_without_token;
///
/// assert_eq!(query_without_token("a=1&token=secret&b=%20").as_deref(), Some("a=1&b=%20"));
/// assert_eq!(query_without_token("a=1"), None);
/// ```
pub fn query_without_token(query: &str) -> Option<String> {
    let shows = |pair: &&str| {
        let mut read = form_urlencoded::parse(pair.as_bytes());
        read.next().is_some_and(|(name, _)| name == "token")
    };
    query.split('&').find(shows)?;
    let rest = query.split('&').filter(|pair| !shows(pair));
    Some(rest.collect::<Vec<_>>().join("&"))
}

fn is_token(name: &str) -> bool {
    form_urlencoded::parse(name.as_bytes())
        .next()
        .is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("token"))
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, said) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| said.trim())
}

fn cookies<'a>(header: Option<&'a str>, name: &str) -> impl Iterator<Item = &'a str> {
    let pairs = header.unwrap_or_default().split(';');
    pairs.filter_map(move |pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

fn offered(header: Option<&str>) -> impl Iterator<Item = &str> {
    let names = header.unwrap_or_default().split(',').map(str::trim);
    names.filter(|name| !name.is_empty())
}

/// What a subprotocol begins with that carries the token: `towline.token.<token>`.
pub const SUBPROTOCOL_PREFIX: &str = "towline.token.";

const SHORTEST: usize = 16;
const LONGEST: usize = 256;

/// Thirty days.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;
