//! Goes to an address and brings back what is there.
//!
//! A name is looked up here, every address it has is checked, and the connection goes to one of those: a name that
//! means something else a moment later (DNS rebinding) leads nowhere. So each hop has a client of its own. Behind a
//! proxy there may be no names to look up: there only what an address itself says is checked.

use std::{net::SocketAddr, time::Duration};

use futures_util::StreamExt as _;
use reqwest::{Client, Response, StatusCode, header, redirect};
use url::{Host, Url};

use super::address;
use crate::Web;

/// What was found at an address.
#[derive(Debug)]
pub(super) enum Fetched {
    /// A page.
    Page {
        status: StatusCode,
        /// What it is, as `content-type` says.
        kind: String,
        body: Vec<u8>,
    },
    /// It is on another host.
    Moved { status: StatusCode, to: Url },
}

/// Fetches an address that was checked; follows redirects on the same host.
pub(super) async fn fetch(mut url: Url, web: &Web) -> Result<Fetched, String> {
    for _ in 0..MOST_REDIRECTS {
        let client = client(&url, web).await?;
        let request = client.get(url.clone()).header(header::ACCEPT, ACCEPT);
        let response = request
            .send()
            .await
            .map_err(|error| format!("{url}: {}", reason(error)))?;
        let status = response.status();
        let Some(to) = destination(&url, &response)? else {
            return page(&url, response).await;
        };
        let to = address::check(to, web).map_err(|error| format!("{url} redirects: {error}"))?;
        // Other hosts are for the model and its permissions to decide on.
        if !address::is_same_place(&url, &to) {
            return Ok(Fetched::Moved { status, to });
        }
        url = to;
    }
    Err(format!("{url}: more than {MOST_REDIRECTS} redirects"))
}

/// Where an answer redirects to.
fn destination(url: &Url, response: &Response) -> Result<Option<Url>, String> {
    let status = response.status().as_u16();
    if ![301, 302, 303, 307, 308].contains(&status) {
        return Ok(None);
    }
    let location = response.headers().get(header::LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let location = location.ok_or_else(|| format!("{url} redirects to nowhere ({status})"))?;
    let to = url.join(location);
    to.map(Some)
        .map_err(|error| format!("{url} redirects to {location:?}, which is no address: {error}"))
}

async fn page(url: &Url, response: Response) -> Result<Fetched, String> {
    let status = response.status();
    if !status.is_success() {
        return Err(format!("{url}: the server answered {status}"));
    }
    let too_large = || format!("{url}: the page is larger than {} MB", MOST_BYTES >> 20);
    if response
        .content_length()
        .is_some_and(|length| length > MOST_BYTES as u64)
    {
        return Err(too_large());
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or("text/plain").to_owned();
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| format!("{url}: {}", reason(error)))?;
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Fetched::Page { status, kind, body })
}

/// A client that can reach one host: through a proxy, or at addresses that were checked.
async fn client(url: &Url, web: &Web) -> Result<Client, String> {
    // Whoever came first has chosen already, which is as good.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        // Instead of those that the environment names.
        .no_proxy()
        .connect_timeout(CONNECT)
        .user_agent(USER_AGENT);
    let may_be_private = address::may_be_private(url, web);
    let proxy = web.proxy.to(url);
    if let Some(proxy) = proxy.map_err(|error| format!("{url}: {error}"))? {
        if address::is_private(url) && !may_be_private {
            return Err(private(url, url.host_str().unwrap_or_default()));
        }
        builder = builder.proxy(proxy);
    } else {
        let addresses = addresses(url).await?;
        let mut found = addresses.iter().map(SocketAddr::ip);
        if let Some(address) = found.find(|address| !address::is_public(*address))
            && !may_be_private
        {
            return Err(private(url, &address.to_string()));
        }
        if let Some(Host::Domain(name)) = url.host() {
            builder = builder.resolve_to_addrs(name, &addresses);
        }
        if url.scheme() == "http" {
            // A machine without certificates can still fetch this.
            builder = builder.tls_certs_only([]);
        }
    }
    let client = builder.build();
    client.map_err(|error| format!("{url}: {}", reason(error)))
}

fn private(url: &Url, place: &str) -> String {
    let host = url.host_str().unwrap_or_default();
    format!(
        "{url} is at {place}, which is not on the public internet; such addresses are fetched only where a rule allows it: \
         WebFetch(domain:{host})"
    )
}

async fn addresses(url: &Url) -> Result<Vec<SocketAddr>, String> {
    let port = url.port_or_known_default().unwrap_or(443);
    let found: Vec<SocketAddr> = match url.host() {
        Some(Host::Ipv4(address)) => vec![(address, port).into()],
        Some(Host::Ipv6(address)) => vec![(address, port).into()],
        Some(Host::Domain(name)) => tokio::net::lookup_host((name, port))
            .await
            .map_err(|error| format!("{url}: the host is not known: {error}"))?
            .take(MOST_ADDRESSES)
            .collect(),
        None => Vec::new(),
    };
    if found.is_empty() {
        return Err(format!("{url}: the host has no address"));
    }
    Ok(found)
}

/// Why it did not work, down to what really happened.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = inner.source();
    }
    text
}

/// More than that is a circle.
const MOST_REDIRECTS: usize = 10;

/// The largest page, in bytes.
const MOST_BYTES: usize = 10 << 20;

/// More addresses than any host has.
const MOST_ADDRESSES: usize = 64;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);

/// What is best to have.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// Who asks.
const USER_AGENT: &str = concat!("towline/", env!("CARGO_PKG_VERSION"));
