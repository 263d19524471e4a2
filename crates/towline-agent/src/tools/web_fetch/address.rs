//! What may be fetched: which addresses are well-formed, and which machines are on the public internet. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::Web;

/// Reads an address as the model gave it. `http` becomes `https` if so wanted, but for this machine.
pub(super) fn read(text: &str, web: &Web) -> Result<Url, String> {
    if text.len() > LONGEST {
        return Err(format!("the address is longer than {LONGEST} characters"));
    }
    let url = Url::parse(text.trim()).map_err(|error| {
        format!(
            "{text:?} is no address: {error}; give a whole one, such as https://example.org/page"
        )
    })?;
    check(url, web)
}

/// The same for an address that a page redirects to.
pub(super) fn check(mut url: Url, web: &Web) -> Result<Url, String> {
    if !["http", "https"].contains(&url.scheme()) {
        let scheme = url.scheme();
        return Err(format!(
            "{scheme}: addresses cannot be fetched, only http and https"
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address has a user name or password in it; leave them out".to_owned());
    }
    if url.scheme() == "http" && web.upgrade && !is_this_machine(&url) {
        url.set_scheme("https")
            .map_err(|()| format!("{url} cannot be fetched with https"))?;
    }
    url.set_fragment(None);
    Ok(url)
}

/// Whether a redirect stays where the model wanted to go: same host, `www.` or not, and same port.
pub(super) fn is_same_place(from: &Url, to: &Url) -> bool {
    let bare = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    let is_downgrade = from.scheme() == "https" && to.scheme() == "http";
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https";
    let has_default_ports = from.port().is_none() && to.port().is_none();
    let same_port = from.port_or_known_default() == to.port_or_known_default();
    bare(from) == bare(to) && !is_downgrade && (same_port || (is_upgrade && has_default_ports))
}

/// Whether an address is not on the public internet by what it says: only a name can be anything.
pub(super) fn is_private(url: &Url) -> bool {
    let public = match url.host() {
        Some(Host::Ipv4(address)) => is_public_v4(address),
        Some(Host::Ipv6(address)) => is_public_v6(address),
        _ => !is_this_machine(url),
    };
    !public
}

/// Whether somebody has named the host of an address, so that it may be anywhere.
pub(super) fn may_be_private(url: &Url, web: &Web) -> bool {
    let mut hosts = web.private_hosts.iter();
    url.host().is_some_and(|host| {
        let host = host.to_string();
        hosts.any(|named| is_named(named, &host))
    })
}

/// A name is compared as it stands in addresses: `[::1]`, small letters, other scripts as ASCII, no dot at its end.
fn is_named(named: &str, host: &str) -> bool {
    let named = Host::parse(named).map_or_else(|_| named.to_owned(), |named| named.to_string());
    let bare = |host: &str| host.strip_suffix('.').unwrap_or(host).to_owned();
    bare(&named) == bare(host)
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether a machine is on the public internet: not this one, not on a local network, not a cloud's metadata.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !NOT_PUBLIC.iter().any(|(network, length)| {
        let network = Ipv4Addr::from(*network).to_bits();
        (bits ^ network).checked_shr(32 - length).unwrap_or(0) == 0
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded(address) {
        return is_public_v4(inner);
    }
    let segments = address.segments();
    // Only 2000::/3 is given out; of that, 2001::/23 is for protocols and 2001:db8::/32 and 3fff::/20 are for documents.
    let is_given_out = segments[0] & 0xe000 == 0x2000;
    let is_special = segments[0] == 0x2001 && segments[1] < 0x0200;
    let is_document = (segments[0] == 0x2001 && segments[1] == 0x0db8)
        || (segments[0] == 0x3fff && segments[1] < 0x1000);
    is_given_out && !is_special && !is_document
}

/// The IPv4 address that an IPv6 address stands for: mapped, NAT64, 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let joined =
        |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(joined(high, low))
        }
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

/// Networks that are not on the public internet (IANA's registry of special-purpose addresses), with the length of their
/// prefix.
const NOT_PUBLIC: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// The longest address, in bytes.
const LONGEST: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "100.128.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn a_host_that_was_named_may_be_private_and_no_other() {
        for (named, url, expected) in [
            ("127.0.0.1", "http://127.0.0.1:8080/", true),
            ("127.0.0.1", "http://0x7f.1/", true),
            ("127.0.0.1", "http://127.0.0.2/", false),
            ("127.0.0.1", "http://localhost/", false),
            ("localhost", "http://LOCALHOST./a", true),
            ("localhost", "http://www.localhost/", false),
            ("localhost", "http://127.0.0.1/", false),
            ("[::1]", "http://[::1]/", true),
            ("bücher.intern", "http://xn--bcher-kva.intern/", true),
            ("*", "http://127.0.0.1/", false),
            ("*.localhost", "http://a.localhost/", false),
            ("", "http://127.0.0.1/", false),
        ] {
            let web = Web {
                private_hosts: vec![named.to_owned()],
                ..Web::default()
            };
            let url = Url::parse(url).unwrap();
            assert_eq!(may_be_private(&url, &web), expected, "{named} {url}");
        }
    }

    #[test]
    fn addresses_are_read_as_they_will_be_fetched() {
        let plain = Web {
            upgrade: false,
            ..Web::default()
        };
        for (text, web, expected) in [
            (
                "http://example.org/a#b",
                Web::default(),
                "https://example.org/a",
            ),
            (
                "http://example.org:8080/",
                Web::default(),
                "https://example.org:8080/",
            ),
            ("http://example.org/a", plain, "http://example.org/a"),
            ("http://127.0.0.1:9/", Web::default(), "http://127.0.0.1:9/"),
            ("http://localhost/", Web::default(), "http://localhost/"),
            (
                " https://example.org ",
                Web::default(),
                "https://example.org/",
            ),
        ] {
            assert_eq!(read(text, &web).unwrap().as_str(), expected);
        }
        for (text, words) in [
            ("example.org", "give a whole one"),
            ("", "give a whole one"),
            ("ftp://example.org/", "only http and https"),
            ("file:///etc/passwd", "only http and https"),
            ("https://me:secret@example.org/", "leave them out"),
            (
                &format!("https://example.org/{}", "a".repeat(2_000)),
                "longer than",
            ),
        ] {
            let error = read(text, &Web::default()).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_redirect_stays_in_place_or_not() {
        for (from, to, expected) in [
            ("https://a.org/", "https://a.org/b", true),
            ("https://a.org/", "https://www.a.org/", true),
            ("https://www.a.org/", "https://a.org/", true),
            ("http://a.org/", "https://a.org/", true),
            ("https://a.org/", "http://a.org/", false),
            ("https://a.org/", "https://a.org:444/", false),
            ("https://a.org/", "https://b.org/", false),
            ("https://a.org/", "https://a.org.b.org/", false),
        ] {
            let read = |text| Url::parse(text).unwrap();
            assert_eq!(
                is_same_place(&read(from), &read(to)),
                expected,
                "{from} {to}"
            );
        }
    }
}
