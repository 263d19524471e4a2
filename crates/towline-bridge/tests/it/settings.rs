//! The configuration: which layer counts, and what is said of mistakes.

mod documented;

use std::{ffi::OsString, path::Path, time::Duration};

use towline_bridge::{
    agents::{AnyRule, Bypass},
    settings::{Encryption, Flags, Limits, Secret, ServeConfig, Sources},
};

fn read(file: &str, variables: &[(&str, &str)], flags: Flags) -> Result<ServeConfig, Vec<String>> {
    let environment = |name: &str| -> Option<OsString> {
        let home = [("HOME", "/home/ann")];
        let mut all = variables.iter().chain(&home);
        all.find(|(known, _)| *known == name)
            .map(|(_, value)| value.into())
    };
    let sources = Sources {
        file: Some(("towline.toml", file)),
        environment: &environment,
        flags,
        directory: "/home/ann/project".into(),
    };
    ServeConfig::read(&sources).map_err(|problems| problems.problems)
}

#[test]
fn nothing_at_all_gives_what_is_safe() {
    let config = read("", &[], Flags::default()).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8765");
    assert_eq!(config.roots, [Path::new("/home/ann/project")]);
    assert_eq!(config.data, Path::new("/home/ann/.local/share/towline"));
    assert_eq!(config.encryption, Encryption::None);
    assert_eq!(config.bypass_permissions, Bypass::Refused);
    assert_eq!(config.any_rule, AnyRule::Refused);
    assert_eq!(config.limits, Limits::default());
    assert!(
        config.token.is_none()
            && config.agent.is_none()
            && config.agents.is_empty()
            && config.public.is_empty()
    );
}

#[test]
fn a_flag_goes_over_a_variable_and_that_over_the_file() {
    let file = "listen = \"127.0.0.1:1\"\nagent = \"file\"\ndata = \"/file\"\nroots = [\"/file\"]\nallow_bypass_permissions = true";
    let variables = [
        ("TOWLINE_LISTEN", "2"),
        ("TOWLINE_AGENT", "variable"),
        ("TOWLINE_DATA", "/variable"),
        ("TOWLINE_ROOTS", "/variable:/more"),
        ("TOWLINE_ALLOW_BYPASS_PERMISSIONS", "no"),
    ];
    let flags = Flags {
        listen: Some("localhost:3".into()),
        agent: Some("flag".into()),
        data: Some("/flag".into()),
        roots: vec!["/flag".into(), "here".into()],
        allow_bypass_permissions: Some(true),
        ..Flags::default()
    };
    let told = |config: ServeConfig| {
        let roots: Vec<_> = config
            .roots
            .iter()
            .map(|root| root.to_str().unwrap())
            .collect();
        let (data, agent) = (config.data.display(), config.agent.unwrap());
        format!(
            "{} {agent} {data} {} {:?}",
            config.listen,
            roots.join(" "),
            config.bypass_permissions
        )
    };
    for (variables, flags, expected) in [
        (
            &[][..],
            Flags::default(),
            "127.0.0.1:1 file /file /file Enabled",
        ),
        (
            &variables,
            Flags::default(),
            "127.0.0.1:2 variable /variable /variable /more Refused",
        ),
        (
            &variables,
            flags.clone(),
            "127.0.0.1:3 flag /flag /flag /home/ann/project/here Enabled",
        ),
        (
            &[("TOWLINE_AGENT", "")],
            Flags::default(),
            "127.0.0.1:1 file /file /file Enabled",
        ),
    ] {
        assert_eq!(told(read(file, variables, flags).unwrap()), expected);
    }
}

#[test]
fn everything_can_be_said_in_the_file() {
    let file = r#"
listen = "[::]:8443"
public = ["box.example.org", "10.0.0.5:8443"]
roots = ["/srv/a", "/srv/b"]
data = "/var/lib/towline"
token = "correct-horse-battery-staple"
agent = "router"

[tls]
cert = "/etc/cert.pem"
key = "/etc/key.pem"

[limits]
sessions = 4
viewers = 5
idle_stop = "never"
question_timeout = "1h 30m"
frame_bytes = 1048576
rate_burst = 6
rate_per_second = 7

[[agents]]
name = "router"
command = "npx"
args = ["-y", "router"]
env = { KEY = "value" }

[[agents]]
name = "plain"
command = "/bin/agent"
"#;
    let config = read(file, &[], Flags::default()).unwrap();
    assert_eq!(
        config.encryption,
        Encryption::Tls {
            cert: "/etc/cert.pem".into(),
            key: "/etc/key.pem".into()
        }
    );
    assert!(
        config
            .token
            .as_ref()
            .unwrap()
            .matches("correct-horse-battery-staple")
    );
    assert_eq!(config.agents[0].env["KEY"], "value");
    assert_eq!(config.agents[1].args, [""; 0]);
    assert_eq!(config.limits.idle_stop, None);
    assert_eq!(
        config.limits.question_timeout,
        Some(Duration::from_secs(5400))
    );
    assert_eq!(
        (config.limits.rate.burst, config.limits.rate.per_second),
        (6, 7)
    );
    assert!(!format!("{config:?}").contains("horse"));
}

#[test]
fn a_mistake_in_the_file_is_one_line_with_its_place() {
    for (file, expected) in [
        (
            "agent = \"a\"\nlistn = \"1\"\n",
            "towline.toml:2: unknown field `listn`, expected one of `listen`",
        ),
        (
            "\n\n[limits]\nsession = 1\n",
            "towline.toml:4: unknown field `session`, expected one of `sessions`",
        ),
        (
            "[[agents]]\nname = \"a\"\n",
            "towline.toml:1: missing field `command`",
        ),
        (
            "[[agents]]\nname = \"a\"\ncommand = \"b\"\nx = 1",
            "towline.toml:4: unknown field `x`",
        ),
        (
            "roots = \"/a\"",
            "towline.toml:1: invalid type: string \"/a\", expected a sequence",
        ),
        ("a = 1\nb = = 2", "towline.toml:2: "),
        ("token = \"unclosed", "towline.toml:1: "),
        (
            "limits = { sessions = -1 }",
            "towline.toml:1: invalid value: integer `-1`",
        ),
    ] {
        let problems = read(file, &[], Flags::default()).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(
            problems[0].starts_with(expected) && !problems[0].contains('\n'),
            "{problems:?}"
        );
    }
    let problems = read("token = \"correct-horse\" x", &[], Flags::default()).unwrap_err();
    assert!(!problems[0].contains("horse"), "{problems:?}");
}

#[test]
fn what_does_not_fit_is_told_all_at_once() {
    let wrong_words = "listen = \"nowhere\"\ntoken = \"short\"\n[limits]\nidle_stop = \"soon\"\nquestion_timeout = \"-1h\"\n[tls]\ncert = \"/c\"";
    let wrong_parts = "listen = \"0.0.0.0:1\"\nroots = [\"a\"]\npublic = [\"*\"]\ndata = \"d\"\n[limits]\nsessions = 0\nframe_bytes = 1\n\
                       [[agents]]\nname = \"a b\"\ncommand = \"\"\n[[agents]]\nname = \"a b\"\ncommand = \"x\"";
    for (file, variables, expected) in [
        (
            wrong_words,
            &[][..],
            vec![
                "listen: \"nowhere\"",
                "token: a token has 16 to 256",
                "tls.key: is missing",
                "limits.idle_stop: \"soon\"",
                "limits.question_timeout: \"-1h\"",
            ],
        ),
        (
            wrong_parts,
            &[],
            vec![
                "listen: 0.0.0.0:1 can be reached from other machines",
                "public: `*` is no host",
                "roots: a is not absolute",
                "data: d is not absolute",
                "agents: \"a b\" is no name",
                "agents: \"a b\" has an empty command",
                "agents: \"a b\" is no name",
                "agents: there are two called \"a b\"",
                "limits.sessions: 0",
                "limits.frame_bytes: 1 is not between",
            ],
        ),
        (
            "",
            &[
                ("TOWLINE_LISTEN", "x"),
                ("TOWLINE_TOKEN", "s3cret"),
                ("TOWLINE_BEHIND_PROXY", "maybe"),
                ("TOWLINE_MAX_SESSIONS", "many"),
            ],
            vec![
                "TOWLINE_LISTEN: \"x\"",
                "TOWLINE_TOKEN: a token",
                "TOWLINE_BEHIND_PROXY: \"maybe\"",
                "TOWLINE_MAX_SESSIONS: \"many\"",
            ],
        ),
        ("roots = []", &[], vec!["roots: there are none"]),
        (
            "behind_proxy = true\ntls = { cert = \"/c\", key = \"/k\" }",
            &[],
            vec!["behind_proxy: there are tls.cert"],
        ),
    ] {
        let problems = read(file, variables, Flags::default()).unwrap_err();
        assert_eq!(problems.len(), expected.len(), "{problems:#?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(
                problem.starts_with(expected) && !problem.contains("s3cret"),
                "{problem}"
            );
        }
    }
}

#[test]
fn others_can_reach_it_only_where_something_encrypts() {
    for (file, good) in [
        ("listen = \"0.0.0.0:1\"", false),
        ("listen = \"192.168.1.5:1\"", false),
        ("listen = \"[::1]:1\"", true),
        (
            "listen = \"0.0.0.0:1\"\nbehind_proxy = true\npublic = [\"box\"]",
            true,
        ),
        (
            "listen = \"0.0.0.0:1\"\ntls = { cert = \"/c\", key = \"/k\" }\npublic = [\"box\"]",
            true,
        ),
        (
            "listen = \"192.168.1.5:1\"\ntls = { cert = \"/c\", key = \"/k\" }",
            true,
        ),
    ] {
        assert_eq!(read(file, &[], Flags::default()).is_ok(), good, "{file}");
    }
}

#[test]
fn no_link_is_promised_that_would_be_refused() {
    for (file, expected) in [
        (
            "public = [\"box\"]",
            "public: box is for other machines, and nothing is encrypted; give tls.cert and tls.key (--tls-cert, --tls-key), \
             set behind_proxy (--behind-proxy) if a proxy in front encrypts, or leave it out",
        ),
        (
            "listen = \"0.0.0.0:1\"\nbehind_proxy = true",
            "listen: 0.0.0.0:1 is every address, so nobody can tell by which name it is reached; name it with public \
             (--public HOST), or listen on one address",
        ),
        (
            "listen = \"[::]:1\"\ntls = { cert = \"/c\", key = \"/k\" }",
            "listen: [::]:1 is every address, so nobody can tell by which name it is reached; name it with public \
             (--public HOST), or listen on one address",
        ),
    ] {
        let problems = read(file, &[], Flags::default()).unwrap_err();
        assert_eq!(problems, [expected]);
    }
}

#[test]
fn a_token_that_is_none_is_named_by_where_it_was_given() {
    let flags = || Flags {
        token: Some(Secret("no".to_owned())),
        ..Flags::default()
    };
    let variable = [("TOWLINE_TOKEN", "no")];
    for (file, variables, flags, place) in [
        ("", &variable[..], flags(), "--token: a token has"),
        (
            "",
            &variable[..],
            Flags::default(),
            "TOWLINE_TOKEN: a token has",
        ),
        (
            "token = \"no\"",
            &[],
            Flags::default(),
            "token: a token has",
        ),
    ] {
        let problems = read(file, variables, flags).unwrap_err();
        assert!(problems[0].starts_with(place), "{problems:?}");
    }
    assert!(!format!("{:?}", flags()).contains("no\""));
}

#[test]
fn without_a_home_the_data_has_to_be_somewhere() {
    let nothing = |_: &str| None;
    let sources = Sources {
        file: None,
        environment: &nothing,
        flags: Flags::default(),
        directory: "/p".into(),
    };
    let error = ServeConfig::read(&sources).unwrap_err();
    assert_eq!(
        error.to_string(),
        "data: there is no HOME to keep it in; name a folder with --data"
    );
    let config = read("", &[("XDG_DATA_HOME", "/data")], Flags::default()).unwrap();
    assert_eq!(config.data, Path::new("/data/towline"));
}

/// `tests/data/serve.toml` has every key that there was when it was written. A commit that changes the snapshot names it.
#[test]
fn a_settings_file_of_an_earlier_version_means_what_it_meant() {
    let file = include_str!("../data/serve.toml");
    let [all, none] = [file, ""].map(|file| plain(&read(file, &[], Flags::default()).unwrap()));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!(
            "serve-settings",
            format!("with the file\n{all}\nwithout\n{none}")
        );
    });
}

/// A configuration in words of its own, so that a type may be renamed.
fn plain(config: &ServeConfig) -> String {
    let ServeConfig {
        listen,
        public,
        encryption,
        roots,
        data,
        token,
        has_token_in_file,
        agent,
        agents,
        bypass_permissions,
        any_rule,
        limits,
    } = config;
    let Limits {
        sessions,
        viewers,
        idle_stop,
        question_timeout,
        frame_bytes,
        rate,
    } = limits;
    let encryption = match encryption {
        Encryption::None => "none".to_owned(),
        Encryption::Tls { cert, key } => format!("{} {}", cert.display(), key.display()),
        Encryption::BehindProxy => "proxy".to_owned(),
    };
    let agents = agents.iter().map(|agent| {
        let mut command = std::process::Command::new(&agent.command);
        command.args(&agent.args).envs(agent.env.clone());
        format!("{}: {command:?}", agent.name)
    });
    let rows = [
        ("listen", listen.to_string()),
        ("public", public.join(", ")),
        ("encryption", encryption),
        ("roots", format!("{roots:?}")),
        ("data", data.display().to_string()),
        (
            "token",
            format!("{}, in the file: {has_token_in_file}", token.is_some()),
        ),
        ("agent", agent.clone().unwrap_or_default()),
        ("agents", agents.collect::<Vec<_>>().join("; ")),
        (
            "bypass",
            (*bypass_permissions != Bypass::Refused).to_string(),
        ),
        ("any rule", (*any_rule != AnyRule::Refused).to_string()),
        ("sessions", sessions.to_string()),
        ("viewers", viewers.to_string()),
        ("idle stop", format!("{idle_stop:?}")),
        ("question time-out", format!("{question_timeout:?}")),
        ("frame bytes", frame_bytes.to_string()),
        (
            "rate",
            format!("{} at once, {} a second", rate.burst, rate.per_second),
        ),
    ];
    rows.map(|(name, value)| format!("  {name}: {value}\n"))
        .concat()
}
