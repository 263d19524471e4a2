//! What a proxy in front says, in all its spellings.

use std::net::IpAddr;

use towline_bridge::access::Hop;

type Case = (
    Option<&'static str>,
    Option<&'static str>,
    Option<&'static str>,
    bool,
    Option<&'static str>,
);

#[test]
fn only_what_the_last_proxy_says_counts() {
    for (proto, addresses, forwarded, is_encrypted, client) in CASES {
        let expected = Hop {
            is_encrypted: *is_encrypted,
            client: client.map(|client| client.parse::<IpAddr>().unwrap()),
        };
        let hop = Hop::read(*proto, *addresses, *forwarded);
        assert_eq!(hop, expected, "{proto:?} {addresses:?} {forwarded:?}");
    }
}

/// `X-Forwarded-Proto`, `X-Forwarded-For`, `Forwarded`; whether that is encrypted, and by whom it was sent.
const CASES: &[Case] = &[
    (None, None, None, false, None),
    (Some("https"), None, None, true, None),
    (Some("HTTPS"), None, None, true, None),
    (Some("http"), None, None, false, None),
    (Some("https, http"), None, None, false, None),
    (Some("http ,  https"), None, None, true, None),
    (Some(""), None, None, false, None),
    (
        Some("https"),
        Some("10.0.0.1"),
        None,
        true,
        Some("10.0.0.1"),
    ),
    (
        Some("https"),
        Some("1.1.1.1, 10.0.0.1"),
        None,
        true,
        Some("10.0.0.1"),
    ),
    (
        Some("https"),
        Some("1.1.1.1, 10.0.0.1:99"),
        None,
        true,
        Some("10.0.0.1"),
    ),
    (
        Some("https"),
        Some("2001:db8::1"),
        None,
        true,
        Some("2001:db8::1"),
    ),
    (
        Some("https"),
        Some("[2001:db8::1]:80"),
        None,
        true,
        Some("2001:db8::1"),
    ),
    (
        Some("https"),
        Some("[2001:db8::1]"),
        None,
        true,
        Some("2001:db8::1"),
    ),
    (Some("https"), Some("1.1.1.1, unknown"), None, true, None),
    (Some("https"), Some("1.1.1.1,"), None, true, None),
    (
        None,
        None,
        Some("proto=https;for=10.0.0.1"),
        true,
        Some("10.0.0.1"),
    ),
    (
        None,
        None,
        Some("For=\"[2001:db8::1]:80\"; Proto=https"),
        true,
        Some("2001:db8::1"),
    ),
    (
        None,
        None,
        Some("for=1.1.1.1;proto=https, for=10.0.0.1;proto=http"),
        false,
        Some("10.0.0.1"),
    ),
    (
        None,
        None,
        Some("for=1.1.1.1;proto=https, for=10.0.0.1"),
        false,
        Some("10.0.0.1"),
    ),
    (None, None, Some("for=_hidden;proto=https"), true, None),
    (None, None, Some("nonsense"), false, None),
    // Both: whichever the proxy has not written, anybody may have.
    (
        Some("https"),
        Some("10.0.0.1"),
        Some("proto=http;for=1.1.1.1"),
        false,
        Some("10.0.0.1"),
    ),
    (Some("http"), None, Some("proto=https"), false, None),
    (
        Some("https"),
        None,
        Some("proto=https;for=10.0.0.1"),
        true,
        Some("10.0.0.1"),
    ),
];
