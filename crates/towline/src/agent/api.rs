//! How the Messages API and the web are reached, from the environment (pure).

use std::time::Duration;

use towline_agent::{ApiOptions, Credential, ProxyOptions, Web};

use super::surroundings::{Environment, number, variable};

/// What the environment says of the API.
pub(super) fn options(environment: &Environment) -> ApiOptions {
    let text = |name| variable(environment, name).map(ToOwned::to_owned);
    let token = text("ANTHROPIC_AUTH_TOKEN").map(Credential::Token);
    let base_url = text("ANTHROPIC_BASE_URL").unwrap_or_else(|| BASE_URL.to_owned());
    ApiOptions {
        base_url: base_url.trim_end_matches('/').to_owned(),
        credential: token.or_else(|| text("ANTHROPIC_API_KEY").map(Credential::Key)),
        proxy: proxies(environment),
        max_retries: number(environment, "CLAUDE_CODE_MAX_RETRIES").unwrap_or(MAX_RETRIES),
        timeout: number(environment, "API_TIMEOUT_MS").map_or(TIMEOUT, Duration::from_millis),
        headers: headers(variable(environment, "ANTHROPIC_CUSTOM_HEADERS").unwrap_or_default()),
    }
}

/// What the environment says of the web.
pub(super) fn web(environment: &Environment) -> Web {
    Web {
        proxy: proxies(environment),
        ..Web::default()
    }
}

/// What it says of proxies.
fn proxies(environment: &Environment) -> ProxyOptions {
    // Programs differ in which spelling they look for; the small one is older and wins.
    let either = |small, large| {
        let named = variable(environment, small).or_else(|| variable(environment, large));
        named.map(ToOwned::to_owned)
    };
    ProxyOptions {
        http: either("http_proxy", "HTTP_PROXY"),
        https: either("https_proxy", "HTTPS_PROXY"),
        none: either("no_proxy", "NO_PROXY"),
    }
}

/// One header a line: `Name: value`. A line without a colon is none.
fn headers(text: &str) -> Vec<(String, String)> {
    let rows = text.lines().filter_map(|line| line.split_once(':'));
    let rows = rows.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    rows.filter(|(name, _)| !name.is_empty()).collect()
}

const BASE_URL: &str = "https://api.anthropic.com";
const MAX_RETRIES: u64 = 10;
const TIMEOUT: Duration = Duration::from_secs(600);
