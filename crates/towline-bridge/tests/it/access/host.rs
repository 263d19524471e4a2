//! Which hosts and origins are ours: the tricks of DNS rebinding and of other pages.

use towline_bridge::access::{AllowedHosts, HostRefusal, Reach};

fn hosts(listen: &str, reach: Reach, public: &[&str]) -> AllowedHosts {
    let public: Vec<_> = public.iter().map(|name| (*name).to_owned()).collect();
    AllowedHosts::new(listen.parse().unwrap(), reach, &public).unwrap()
}

#[test]
fn only_names_of_ours_with_our_port_are_hosts() {
    let local = hosts("127.0.0.1:8765", Reach::Plain, &[]);
    let port_80 = hosts("127.0.0.1:80", Reach::Plain, &[]);
    let network = hosts("192.168.1.5:8765", Reach::BehindProxy, &[]);
    let any = hosts(
        "0.0.0.0:8765",
        Reach::BehindProxy,
        &["box.example.org", "other.example:444", "[fd00::5]"],
    );
    for (hosts, host, ours) in [
        (&local, "127.0.0.1:8765", true),
        (&local, "localhost:8765", true),
        (&local, "LocalHost:8765", true),
        (&local, "localhost.:8765", true),
        (&local, "[::1]:8765", true),
        (&local, "127.0.0.2:8765", true),
        (&local, "localhost", false),
        (&local, "localhost:8766", false),
        (&local, "localhost:08765", true),
        (&local, "localhost:+8765", false),
        (&local, "localhost:", false),
        (&local, "", false),
        (&local, ":8765", false),
        (&local, "evil.example:8765", false),
        (&local, "localhost.evil.example:8765", false),
        (&local, "127.0.0.1.evil.example:8765", false),
        (&local, "evil.localhost:8765", false),
        (&local, "2130706433:8765", false),
        (&local, "0x7f000001:8765", false),
        (&local, "127.1:8765", false),
        (&local, "0.0.0.0:8765", false),
        (&local, "user@localhost:8765", false),
        (&local, "localhost:8765/x", false),
        (&local, "localhost:8765@evil.example", false),
        (&local, "localhost:8765, evil.example", false),
        (&local, "localhost\0:8765", false),
        (&local, "[::1:8765", false),
        (&local, "[::1]x:8765", false),
        (&local, "[::ffff:10.0.0.1]:8765", false),
        (&port_80, "localhost", true),
        (&port_80, "evil.example", false),
        (&network, "192.168.1.5:8765", true),
        (&network, "192.168.1.6:8765", false),
        (&any, "192.168.1.6:8765", false),
        (&any, "0.0.0.0:8765", false),
        (&any, "box.example.org", true),
        (&any, "BOX.example.org:443", true),
        (&any, "box.example.org:8765", true),
        (&any, "box.example.org:9999", false),
        (&any, "a.box.example.org", false),
        (&any, "other.example:444", true),
        (&any, "other.example", false),
        (&any, "[fd00::5]:8765", true),
        (&any, "[fd00:0::5]", true),
        (&any, "localhost:8765", true),
    ] {
        assert_eq!(hosts.check(Some(host), None).is_ok(), ours, "{host:?}");
    }
    assert_eq!(local.check(None, None), Err(HostRefusal::NoHost));
}

#[test]
fn only_our_own_pages_may_talk_to_us() {
    let local = hosts("127.0.0.1:8765", Reach::Plain, &[]);
    let tls = hosts("0.0.0.0:443", Reach::Tls, &["box.example.org"]);
    let proxy = hosts("127.0.0.1:8765", Reach::BehindProxy, &["box.example.org"]);
    for (hosts, host, origin, ours) in [
        (&local, "localhost:8765", "http://localhost:8765", true),
        (&local, "localhost:8765", "http://127.0.0.1:8765", true),
        (&local, "localhost:8765", "https://localhost:8765", false),
        (&local, "localhost:8765", "http://localhost:3000", false),
        (&local, "localhost:8765", "http://localhost", false),
        (&local, "localhost:8765", "null", false),
        (&local, "localhost:8765", "", false),
        (&local, "localhost:8765", "file://", false),
        (&local, "localhost:8765", "chrome-extension://abcdef", false),
        (&local, "localhost:8765", "https://evil.example", false),
        (
            &local,
            "localhost:8765",
            "http://localhost:8765.evil.example",
            false,
        ),
        (&local, "localhost:8765", "http://evil.example:8765", false),
        (
            &local,
            "localhost:8765",
            "http://localhost:8765@evil.example",
            false,
        ),
        (&local, "localhost:8765", "http://localhost:8765/", false),
        (&tls, "box.example.org", "https://box.example.org", true),
        (&tls, "box.example.org", "http://box.example.org", false),
        (
            &tls,
            "box.example.org",
            "https://box.example.org.evil.example",
            false,
        ),
        (&proxy, "box.example.org", "https://box.example.org", true),
        (&proxy, "box.example.org", "http://box.example.org", false),
        (
            &proxy,
            "box.example.org",
            "http://box.example.org:443",
            false,
        ),
        (&proxy, "localhost:8765", "https://localhost:8765", true),
        (&proxy, "localhost:8765", "http://localhost:8765", false),
        (&proxy, "box.example.org", "https://evil.example", false),
    ] {
        assert_eq!(
            hosts.check(Some(host), Some(origin)).is_ok(),
            ours,
            "{origin:?}"
        );
    }
}

#[test]
fn an_origin_that_equals_a_foreign_host_does_not_help_it() {
    let local = hosts("127.0.0.1:8765", Reach::Plain, &[]);
    let refused = local.check(Some("evil.example:8765"), Some("http://evil.example:8765"));
    assert_eq!(
        refused,
        Err(HostRefusal::Host("evil.example:8765".to_owned()))
    );
}

#[test]
fn a_refusal_says_what_to_do_and_repeats_no_control_characters() {
    let local = hosts("127.0.0.1:8765", Reach::Plain, &[]);
    let refusal = local.check(Some("Phone.example"), None).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "`phone.example` is no name of this bridge: to be reached by it, start with `--public phone.example`"
    );
    let refusal = local
        .check(Some(&"a\x1b[31m".repeat(1000)), None)
        .unwrap_err()
        .to_string();
    assert!(
        !refusal.contains('\x1b') && refusal.len() < 400,
        "{refusal}"
    );
}

#[test]
fn what_cannot_be_a_host_is_not_taken_for_one() {
    for name in [
        "",
        "*",
        "*.example.org",
        "http://box",
        "a b",
        "box:",
        "box:x",
        "box:70000",
        "a..b",
        "fd00::5",
    ] {
        let error = AllowedHosts::new(
            "127.0.0.1:1".parse().unwrap(),
            Reach::Tls,
            &[name.to_owned()],
        );
        assert!(error.is_err(), "{name:?}");
    }
}
