//! [`Hop`]: what a proxy in front says of a request. Pure. It counts only where there is such a proxy: anybody can send these
//! headers.

use std::net::{IpAddr, SocketAddr};

/// The last hop before the bridge.
///
/// ```
/// use towline_bridge::access::Hop;
///
/// let hop = Hop::read(Some("https"), Some("198.51.100.7, 203.0.113.9"), None);
/// assert!(hop.is_encrypted);
/// assert_eq!(hop.client, Some([203, 0, 113, 9].into()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Whether it came to the proxy over HTTPS.
    pub is_encrypted: bool,
    /// Who sent it to the proxy; nothing if the proxy does not say.
    pub client: Option<IpAddr>,
}

impl Hop {
    /// By `X-Forwarded-Proto`, `X-Forwarded-For` and `Forwarded`, the last of each as it came.
    ///
    /// Of a list only the last entry is the proxy's own; what stands before it anybody may have sent. A proxy that writes one
    /// kind of header may pass on the other: then both have to say that it is encrypted.
    pub fn read(proto: Option<&str>, addresses: Option<&str>, forwarded: Option<&str>) -> Self {
        let element = forwarded.and_then(last_of);
        let pair = |name: &str| {
            let pairs = element.into_iter().flat_map(|element| element.split(';'));
            let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().trim_matches('"'))
        };
        let said = [proto.and_then(last_of), pair("proto")];
        let mut said = said.into_iter().flatten().peekable();
        let client = match addresses {
            Some(addresses) => last_of(addresses),
            None => pair("for"),
        };
        Self {
            is_encrypted: said.peek().is_some()
                && said.all(|proto| proto.eq_ignore_ascii_case("https")),
            client: client.and_then(address),
        }
    }
}

/// The last entry of a list.
fn last_of(list: &str) -> Option<&str> {
    list.rsplit(',').next().map(str::trim)
}

/// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let plain = bare.unwrap_or(text).parse().ok();
    plain.or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}
