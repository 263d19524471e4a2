//! The HTTP client: how the API is reached and what every request carries.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::super::ApiError;
use crate::config::{ApiOptions, Credential, ProxyOptions};

/// A client for one API.
#[derive(Debug)]
pub(in crate::model) struct Client {
    pub(in crate::model) http: reqwest::Client,
    /// Where messages are asked for.
    pub(in crate::model) url: Url,
    /// The API's host and port, for words to a person.
    pub(in crate::model) host: String,
    /// How long the API may be silent.
    pub(in crate::model) timeout: Duration,
}

impl Client {
    /// Connects to nothing yet.
    pub(in crate::model) fn new(options: &ApiOptions) -> Result<Self, ApiError> {
        let base = options.base_url.trim().trim_end_matches('/');
        let url = Url::parse(&format!("{base}/v1/messages?beta=true"))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                setup(&format!(
                    "`{base}` is no address of an API: ANTHROPIC_BASE_URL must be like https://api.anthropic.com"
                ))
            })?;
        let host = match (url.host_str().unwrap_or_default(), url.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        let mut builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .default_headers(headers(options)?)
            // A redirect would carry the key to somebody else.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(options.timeout.min(CONNECT_TIME))
            // Instead of those that the environment names.
            .no_proxy()
            .tls_backend_preconfigured(tls(&url, &options.proxy)?);
        let proxy = options.proxy.to(&url);
        if let Some(proxy) = proxy.map_err(|error| setup(&error.to_string()))? {
            builder = builder.proxy(proxy);
        }
        let http = builder
            .build()
            .map_err(|error| setup(&error.without_url().to_string()))?;
        Ok(Self {
            http,
            url,
            host,
            timeout: options.timeout,
        })
    }
}

fn headers(options: &ApiOptions) -> Result<HeaderMap, ApiError> {
    let mut headers = HeaderMap::new();
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    headers.insert("accept", HeaderValue::from_static("application/json"));
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let (name, value) = match &options.credential {
        Some(Credential::Key(key)) => ("x-api-key", key.trim().to_owned()),
        Some(Credential::Token(token)) => ("authorization", format!("Bearer {}", token.trim())),
        None => return Err(ApiError::not_logged_in()),
    };
    let mut secret = HeaderValue::from_str(&value)
        .map_err(|_| setup("the API key has characters that no header can carry"))?;
    secret.set_sensitive(true);
    headers.insert(name, secret);
    for (name, value) in &options.headers {
        let header = HeaderName::from_bytes(name.trim().as_bytes())
            .map_err(|_| setup(&format!("`{name}` is no name of a header")))?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| {
            setup(&format!(
                "the header `{name}` has a value that cannot be sent"
            ))
        })?;
        headers.insert(header, value);
    }
    Ok(headers)
}

/// Root certificates are read from the disk, which takes longer than all else here: only where there is TLS.
fn tls(url: &Url, proxy: &ProxyOptions) -> Result<ClientConfig, ApiError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| setup(&format!("no TLS here: {error}")))?;
    let mut addresses = [&proxy.http, &proxy.https].into_iter().flatten();
    if url.scheme() == "http" && !addresses.any(|address| address.starts_with("https:")) {
        let nobody = RootCertStore::empty();
        return Ok(builder.with_root_certificates(nobody).with_no_client_auth());
    }
    let builder = builder.with_platform_verifier().map_err(|error| {
        setup(&format!(
            "the system's certificates cannot be read: {error}"
        ))
    })?;
    Ok(builder.with_no_client_auth())
}

/// The client cannot be set up: what is wrong with the configuration.
fn setup(what: &str) -> ApiError {
    ApiError::without_status("invalid_request", format!("API Error: {what}"))
}

const USER_AGENT: &str = concat!("towline/", env!("CARGO_PKG_VERSION"));

/// A connection that takes longer will not come.
const CONNECT_TIME: Duration = Duration::from_secs(30);
