//! Web pages: `WebFetch(domain:host)`.

use towline_protocol::Behavior;
use url::{Host, Url};

use super::{Opinion, settle, suggest, with_content};
use crate::{
    call::Call,
    decision::{Decision, Reason, Verdict},
    policy::Policy,
    rule::Rule,
};

/// Decides about fetching a page.
pub(crate) fn decide(policy: &Policy, call: &Call<'_>) -> Decision {
    let url = call.text("url").and_then(|text| Url::parse(text).ok());
    let Some((url, host)) = url.as_ref().and_then(|url| Some((url, url.host_str()?))) else {
        // Which rules are about it is not known, so nothing allows it.
        let decision = settle(policy, call.tool, Opinion::default());
        return match decision.verdict {
            Verdict::Allow => {
                Decision::ask(Reason::Other("it is no address with a host".to_owned()))
            }
            _ => decision,
        };
    };
    let is_meant = |content: &str| matches(content, host);
    let opinion = Opinion {
        denied: with_content(policy, &Behavior::Deny, call.tool, is_meant),
        asked: with_content(policy, &Behavior::Ask, call.tool, is_meant),
        allowed: with_content(policy, &Behavior::Allow, call.tool, is_meant),
        harmless: is_documentation(url, host),
        suggestions: vec![suggest(&Rule::with_content(
            call.tool,
            format!("domain:{host}"),
        ))],
    };
    settle(policy, call.tool, opinion)
}

/// `domain:host` is that host on any port, `domain:*.host` everything below it, `domain:*` any host.
fn matches(content: &str, host: &str) -> bool {
    let Some(domain) = content.strip_prefix("domain:") else {
        return false;
    };
    // As a host is written in an address: letters of other scripts become ASCII.
    let domain =
        Host::parse(domain).map_or_else(|_| domain.to_ascii_lowercase(), |host| host.to_string());
    let domain = domain.strip_suffix('.').unwrap_or(&domain);
    let host = host.strip_suffix('.').unwrap_or(host);
    match domain.strip_prefix('*') {
        Some("") => true,
        Some(below) => below.starts_with('.') && host.len() > below.len() && host.ends_with(below),
        None => host == domain,
    }
}

/// Whether the page belongs to the documentation that CLI 2.1.325 fetches without asking. Its list is longer; these
/// were seen.
fn is_documentation(url: &Url, host: &str) -> bool {
    match host {
        "docs.python.org" | "developer.mozilla.org" => true,
        "github.com" => url.path().starts_with("/anthropics/"),
        _ => false,
    }
}
