//! Which proxy leads to an address, for all that goes over the network.

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Proxy, Url};

use crate::ProxyOptions;

/// What names a proxy is no address of one. It may hold a password, so it is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address of the proxy is not one: look at HTTP_PROXY and HTTPS_PROXY")]
pub(crate) struct BadProxy;

impl ProxyOptions {
    /// The proxy that leads to an address; nothing where none is named, or it is not for this address (`NO_PROXY`).
    pub(crate) fn to(&self, url: &Url) -> Result<Option<Proxy>, BadProxy> {
        let named = match url.scheme() {
            "https" => &self.https,
            _ => &self.http,
        };
        let Some(named) = named.as_deref().filter(|named| !named.is_empty()) else {
            return Ok(None);
        };
        let proxy = Proxy::all(named).map_err(|_| BadProxy)?;
        let Ok(target) = url.as_str().parse() else {
            return Err(BadProxy);
        };
        let is_used = |none: &str| {
            let matcher = Matcher::builder().all(named).no(none).build();
            matcher.intercept(&target).is_some()
        };
        if !is_used("") {
            return Err(BadProxy);
        }
        Ok(is_used(self.none.as_deref().unwrap_or_default()).then_some(proxy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_for_its_scheme_and_not_for_those_it_is_not_for() {
        let both = ProxyOptions {
            http: Some("http://proxy:1".into()),
            https: Some("proxy:2".into()),
            none: Some("inside.org, 10.0.0.0/8, .local".into()),
        };
        let only_https = ProxyOptions {
            http: Some(String::new()),
            ..both.clone()
        };
        let nobody = ProxyOptions {
            none: Some("*".into()),
            ..both.clone()
        };
        for (options, url, expected) in [
            (&both, "http://outside.org/", true),
            (&both, "https://outside.org/", true),
            (&both, "https://inside.org/", false),
            (&both, "https://a.inside.org/", false),
            (&both, "https://notinside.org/", true),
            (&both, "http://10.1.2.3/", false),
            (&both, "http://11.1.2.3/", true),
            (&both, "http://printer.local/", false),
            (&only_https, "http://outside.org/", false),
            (&only_https, "https://outside.org/", true),
            (&nobody, "https://outside.org/", false),
            (&ProxyOptions::default(), "https://outside.org/", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(options.to(&url).unwrap().is_some(), expected, "{url}");
        }
    }

    #[test]
    fn a_proxy_that_is_none_is_an_error_and_not_a_way_around_it() {
        for named in ["http://[bad", "http://", "::", "ftp://proxy:1"] {
            let options = ProxyOptions {
                http: Some(named.into()),
                ..ProxyOptions::default()
            };
            let url = Url::parse("http://outside.org/").unwrap();
            assert_eq!(options.to(&url).err(), Some(BadProxy), "{named}");
        }
    }
}
