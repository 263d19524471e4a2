//! Tables of command lines, variables and files, and what becomes of them.

mod trust;

use std::{collections::BTreeMap, ffi::OsString, fs, path::Path};

use tempfile::TempDir;
use towline_agent::{Credential, Provider};
use towline_permission::Bypass;

use super::{
    arguments::RawFlags,
    choices::Choices,
    config::{self, Plan},
    documents::Documents,
    surroundings::Surroundings,
};

/// A project and a home of their own, as an ordinary user.
struct Room {
    folder: TempDir,
    around: Surroundings,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        for name in ["project/.claude", "project/sub", "home/.claude", "managed"] {
            fs::create_dir_all(place.join(name)).unwrap();
        }
        let around = Surroundings {
            environment: BTreeMap::from([("HOME".into(), place.join("home").into())]),
            cwd: place.join("project"),
            managed: place.join("managed"),
            user: 1000,
            is_terminal: false,
        };
        Self { folder, around }
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.path().join(name), text).unwrap();
        self
    }

    fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        self.around.environment.extend(variables);
        self
    }

    fn root(mut self) -> Self {
        self.around.user = 0;
        self
    }

    fn trusted(self) -> Self {
        let project = self.around.cwd.to_str().unwrap().to_owned();
        let state = serde_json::json!({"projects": {project: {"hasTrustDialogAccepted": true}}});
        self.file("home/.claude.json", &state.to_string())
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The plan, or the line that is told instead; paths as `ROOM`.
    fn plan(&self, words: &[&str]) -> Result<Plan, String> {
        let plan = || -> anyhow::Result<Plan> {
            let flags = RawFlags::read(words.iter().map(OsString::from))?;
            let choices = Choices::read(&flags)?;
            let documents = Documents::read(&flags, &choices, &self.around)?;
            Ok(config::plan(&flags, choices, documents, &self.around)?)
        };
        plan().map_err(|error| self.shown(&format!("{error:#}")))
    }

    fn shown(&self, text: &str) -> String {
        let place = self.path().canonicalize().unwrap();
        text.replace(place.to_str().unwrap(), "ROOM")
    }
}

/// Command lines, and what is told of each.
type Cases = &'static [(&'static [&'static str], &'static str)];

/// What one part of the plan is, for some command lines.
fn check(part: impl Fn(&Plan) -> String, cases: Cases) {
    let room = Room::new();
    for (words, expected) in cases {
        let told = room
            .plan(words)
            .map_or_else(|error| error, |plan| room.shown(&part(&plan)));
        assert_eq!(told, *expected, "{words:?}");
    }
}

const ID: &str = "11111111-2222-4333-8444-555555555555";

#[test]
fn wrong_use_is_told_in_one_line() {
    check(|_| "fine".to_owned(), WRONG_USE);
}

const WRONG_USE: Cases = &[
    (&["-p", "x"], "fine"),
    (
        &["-p", "--output-format", "xml"],
        "error: option '--output-format <format>' argument 'xml' is invalid. Allowed choices are text, json, stream-json.",
    ),
    (
        &["-p", "--input-format=json"],
        "error: option '--input-format <format>' argument 'json' is invalid. Allowed choices are text, stream-json.",
    ),
    (
        &["-p", "--output-format", "stream-json"],
        "Error: When using --print, --output-format=stream-json requires --verbose",
    ),
    (&["--output-format", "stream-json"], "fine"),
    (
        &["-p", "--input-format", "stream-json"],
        "Error: --input-format=stream-json requires output-format=stream-json.",
    ),
    (
        &[
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "json",
        ],
        "Error: --input-format=stream-json requires output-format=stream-json.",
    ),
    (
        &["-p", "--include-partial-messages"],
        "Error: --include-partial-messages requires --print and --output-format=stream-json.",
    ),
    (
        &[
            "-p",
            "--replay-user-messages",
            "--output-format",
            "stream-json",
            "--verbose",
        ],
        "Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.",
    ),
    (
        &["--session-id", "mine"],
        "Error: Invalid session ID. Must be a valid UUID.",
    ),
    (
        &["--session-id", ID, "--resume", ID],
        "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.",
    ),
    (
        &["--session-id", ID, "-c"],
        "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.",
    ),
    (
        &["--session-id", ID, "--resume", ID, "--fork-session"],
        "fine",
    ),
    (
        &["--resume-session-at", "u"],
        "Error: --resume-session-at requires --resume",
    ),
    (
        &["--resume=x", "--resume-drops-turn=u"],
        "Error: --resume-drops-turn requires --resume-session-at",
    ),
    (
        &["--permission-mode", "fast"],
        "error: option '--permission-mode <mode>' argument 'fast' is invalid. Allowed choices are acceptEdits, auto, bypassPermissions, default, delegate, dontAsk, manual, plan.",
    ),
    (
        &["--permission-prompts", "me"],
        "error: option '--permission-prompts <target>' argument 'me' is invalid. Allowed choices are host, none.",
    ),
    (
        &["--thinking", "much"],
        "error: option '--thinking <mode>' argument 'much' is invalid. Allowed choices are enabled, adaptive, disabled.",
    ),
    (
        &["--thinking-display", "all"],
        "error: option '--thinking-display <display>' argument 'all' is invalid. Allowed choices are summarized, omitted, highlights.",
    ),
    (
        &["--max-turns", "many"],
        "error: option '--max-turns <turns>' argument 'many' is invalid. must be a number",
    ),
    (
        &["--max-turns", "NaN"],
        "error: option '--max-turns <turns>' argument 'NaN' is invalid. must be a number",
    ),
    (
        &["--max-turns", "1e99"],
        "error: option '--max-turns <turns>' argument '1e99' is invalid. must be a number",
    ),
    (
        &["--max-thinking-tokens", "x"],
        "error: option '--max-thinking-tokens <tokens>' argument 'x' is invalid. must be a number",
    ),
    (
        &["--max-budget-usd", "0"],
        "error: option '--max-budget-usd <amount>' argument '0' is invalid. --max-budget-usd must be a positive number greater than 0",
    ),
    (
        &["--max-budget-usd", "-1"],
        "error: option '--max-budget-usd <amount>' argument '-1' is invalid. --max-budget-usd must be a positive number greater than 0",
    ),
    (
        &["--task-budget", "x"],
        "error: option '--task-budget <tokens>' argument 'x' is invalid. --task-budget must be a positive integer",
    ),
    (
        &["--setting-sources", "user,all"],
        "Error processing --setting-sources: Invalid setting source: all. Valid options are: user, project, local",
    ),
    (
        &["--settings", "/no/such.json"],
        "Error: Settings file not found: /no/such.json",
    ),
    (
        &["--settings", "[]"],
        "Error: Settings file not found: ROOM/project/[]",
    ),
    (
        &["--managed-settings", "[]"],
        "Error: --managed-settings is not a JSON object: an object is expected",
    ),
    (
        &["--mcp-config", "/no/such.json"],
        "Error: Invalid MCP configuration: MCP config file not found: /no/such.json",
    ),
    (
        &["--mcp-config", "{\"a\":1}"],
        "Error: Invalid MCP configuration: it needs an object `mcpServers`, with a server's configuration by its name",
    ),
    (
        &["--mcp-config", "[]"],
        "Error: Invalid MCP configuration: an object is expected",
    ),
    (
        &["--mcp-config", "{\"mcpServers\":{\"a\":1}}"],
        "Error: Invalid MCP configuration: mcpServers.a is not an object",
    ),
    (
        &["--json-schema", "[]"],
        "Error: --json-schema must be a JSON object",
    ),
    (
        &["--agents", "{\"a\":1}"],
        "Error: Invalid --agents configuration: a: an object is expected",
    ),
    (
        &["--system-prompt-file", "none.md"],
        "Error: System prompt file not found: ROOM/project/none.md",
    ),
    (
        &["--append-system-prompt-file", "none.md"],
        "Error: Append system prompt file not found: ROOM/project/none.md",
    ),
    (
        &["--cwd", "none"],
        "Error: cannot work in `ROOM/project/none`: cannot find the folder `ROOM/project/none`: No such file or directory (os error 2)",
    ),
    (
        &["--worktree"],
        "Error: --worktree is not supported here: make it with `git worktree add` and use --cwd",
    ),
    (
        &["--file", "file_a:b.txt", "file_b"],
        "Error: --file file_b: the form is file_id:relative_path",
    ),
    (
        &["--from-pr", "twelve"],
        "Error: --from-pr twelve: the number of a pull request or its address is expected",
    ),
    (
        &["--json-schema", "{\"$ref\":\"#/nope\"}"],
        "Error: --json-schema is not a valid JSON Schema: Pointer '/nope' does not exist",
    ),
];

#[test]
fn wrong_json_is_told_with_its_place() {
    for (words, expected) in [
        (
            ["--settings", "{bad"],
            "Error: Settings file not found: ROOM/project/{bad (and it is no JSON object: invalid JSON: key must be a string at line 1 column 2)",
        ),
        (
            ["--mcp-config", "{bad"],
            "Error: Invalid MCP configuration: invalid JSON: key must be a string at line 1 column 2",
        ),
        (
            ["--json-schema", "{bad"],
            "Error: --json-schema is not valid JSON: key must be a string at line 1 column 2",
        ),
        (
            ["--agents", "{bad"],
            "Error: Invalid --agents configuration: invalid JSON: key must be a string at line 1 column 2",
        ),
        (
            ["--settings", "bad.json"],
            "Error: Settings file ROOM/project/bad.json cannot be used: invalid JSON: expected value at line 1 column 1",
        ),
    ] {
        let room = Room::new().file("project/bad.json", "JSON it is not");
        assert_eq!(room.plan(&words).unwrap_err(), expected, "{words:?}");
    }
}

#[test]
fn every_flag_that_an_sdk_passes_is_taken() {
    // The command lines of the Python SDK 0.2.182 and the TypeScript SDK 0.3.325, an option each.
    let room = Room::new()
        .file("project/s.json", "{}")
        .file("project/p.md", "P")
        .file("project/m.json", "{\"mcpServers\":{}}");
    for line in [
        "--system-prompt= --tools Read",
        "--tools=",
        "--tools default",
        "--allowedTools Read,Bash(ls:*)",
        "--append-system-prompt A",
        "--system-prompt-file p.md",
        "--mcp-config m.json",
        "--strict-mcp-config",
        "--mcp-config {\"mcpServers\":{\"s\":{\"command\":\"x\"}}}",
        "--permission-mode plan",
        "--continue",
        "--max-turns 3",
        "--max-budget-usd 1.5",
        "--disallowedTools Bash",
        "--model m",
        "--fallback-model m2",
        "--betas b",
        "--permission-prompt-tool mcp__a__b",
        "--settings s.json",
        "--settings {\"sandbox\":{\"enabled\":true}}",
        "--add-dir /a --add-dir /b",
        "--add-dir=/a --add-dir=/b",
        "--include-partial-messages",
        "--include-hook-events",
        "--resume=ID --fork-session",
        "--resume=ID --resume-session-at=u",
        "--resume=ID --resume-session-at=u --resume-drops-turn=u",
        "--setting-sources=user,project",
        "--setting-sources=",
        "--plugin-dir /pl",
        "--plugin-dir=/pl",
        "--max-thinking-tokens 100",
        "--thinking adaptive --thinking-display summarized",
        "--thinking=disabled",
        "--effort high",
        "--json-schema {\"type\":\"object\"}",
        "--session-mirror",
        "--task-budget 1000",
        "--permission-prompt-tool stdio",
        "--project-config-root=/p",
        "--agent=x",
        "--no-session-persistence",
        "--allow-dangerously-skip-permissions",
        "--permission-prompts=none",
        "--managed-settings {\"model\":\"q\"}",
        "--debug",
        "--debug-file=/d",
        "--await-initialize",
        "--debug-to-stderr",
        "--replay-user-messages",
    ] {
        let base = "--output-format stream-json --verbose --input-format stream-json";
        let words: Vec<&str> = base.split(' ').chain(line.split(' ')).collect();
        let plan = room
            .plan(&words)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(plan.notices, [""; 0], "{line}");
    }
}

#[test]
fn formats_are_chosen() {
    check(
        |plan| format!("{:?}", plan.formats),
        &[
            (&[], "Formats { input: Text, output: Text }"),
            (
                &["--output-format=json"],
                "Formats { input: Text, output: Json }",
            ),
            (
                &["--output-format=json", "--verbose"],
                "Formats { input: Text, output: JsonArray }",
            ),
            (
                &[
                    "--output-format=stream-json",
                    "--input-format",
                    "stream-json",
                ],
                "Formats { input: StreamJson, output: StreamJson }",
            ),
        ],
    );
}

#[test]
fn a_session_is_chosen() {
    check(
        |plan| format!("{:?}", plan.config.session),
        &[
            (
                &["-n", "T"],
                "SessionOptions { start: New, id: None, title: Some(\"T\"), forget: false, checkpoints: false }",
            ),
            (
                &["-c", "--fork-session", "--no-session-persistence"],
                "SessionOptions { start: Continue { fork: true }, id: None, title: None, forget: true, checkpoints: false }",
            ),
            (
                &["--no-session-persistence=false", "--session-id", ID],
                "SessionOptions { start: New, id: Some(SessionKey(\"11111111-2222-4333-8444-555555555555\")), title: None, forget: false, checkpoints: false }",
            ),
            (
                &[
                    "-r",
                    "my title",
                    "--resume-session-at",
                    "u",
                    "--resume-drops-turn=v",
                ],
                "SessionOptions { start: Resume { which: \"my title\", fork: false, at: Some(\"u\"), drops_turn: Some(\"v\") }, id: None, title: None, forget: false, checkpoints: false }",
            ),
        ],
    );
}

#[test]
fn limits_and_who_is_asked_are_chosen() {
    check(
        |plan| format!("{:?} {:?}", plan.config.limits, plan.config.questions),
        &[
            (
                &[],
                "Limits { max_turns: None, max_budget_usd: None } Nobody",
            ),
            (
                &["--max-turns", "3", "--max-budget-usd=0.5"],
                "Limits { max_turns: Some(3), max_budget_usd: Some(0.5) } Nobody",
            ),
            (
                &["--max-turns=0", "--permission-prompt-tool=stdio"],
                "Limits { max_turns: None, max_budget_usd: None } Host",
            ),
            (
                &["--max-turns=-3", "--permission-prompt-tool", "mcp__a__b"],
                "Limits { max_turns: None, max_budget_usd: None } Tool(\"mcp__a__b\")",
            ),
            (
                &[
                    "--max-turns=1.5",
                    "--permission-prompt-tool=stdio",
                    "--permission-prompts=none",
                ],
                "Limits { max_turns: Some(1), max_budget_usd: None } Nobody",
            ),
        ],
    );
}

#[test]
fn tools_and_betas_are_lists() {
    check(
        |plan| format!("{:?} {:?}", plan.config.tools.only, plan.config.model.betas),
        &[
            (&[], "None []"),
            (&["--tools", ""], "Some([]) []"),
            (&["--tools", "default"], "None []"),
            (
                &["--tools", "Read,Edit Bash", "--betas", "a", "b,c"],
                "Some([\"Read\", \"Edit\", \"Bash\"]) [\"a\", \"b\", \"c\"]",
            ),
        ],
    );
}

#[test]
fn rules_and_folders_are_kept_as_given() {
    check(
        |plan| {
            let startup = &plan.config.permissions;
            format!(
                "{:?} {:?} {:?}",
                startup.allowed_tools, startup.disallowed_tools, startup.directories
            )
        },
        &[
            (
                &[
                    "--allowedTools",
                    "Bash(git log:*)",
                    "Edit",
                    "--disallowed-tools=Read",
                ],
                "[\"Bash(git log:*)\", \"Edit\"] [\"Read\"] []",
            ),
            (
                &["--add-dir", "sub", "/x,y", "--cwd", "."],
                "[] [] [\"ROOM/project/sub\", \"/x,y\"]",
            ),
        ],
    );
}

#[test]
fn the_folder_and_the_prompt_are_found() {
    check(
        |plan| {
            format!(
                "{} {:?} {}",
                plan.config.cwd.display(),
                plan.prompt,
                plan.expects_dialect
            )
        },
        &[
            (&["hello"], "ROOM/project Some(\"hello\") false"),
            (&["--cwd", "sub"], "ROOM/project/sub None true"),
        ],
    );
}

#[test]
fn prompts_may_be_empty() {
    check(
        |plan| {
            format!(
                "{:?} {:?}",
                plan.config.prompt.replace, plan.config.prompt.append
            )
        },
        &[(
            &["--system-prompt", "", "--append-system-prompt", "A"],
            "Some(\"\") Some(\"A\")",
        )],
    );
}

#[test]
fn what_is_left_out_is_told() {
    check(
        |plan| plan.notices.join("; "),
        &[
            (
                &["fix", "this"],
                "only the first word without a flag is the prompt, `this` is not: put quotes around it all",
            ),
            (
                &["--effort", "utmost"],
                "unknown --effort value 'utmost', the usual one is taken; known are low, medium, high, xhigh, max",
            ),
        ],
    );
}

#[test]
fn prompts_and_servers_come_from_files_too() {
    let servers = r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#;
    let room = Room::new()
        .file("project/p.md", "from a file")
        .file("project/m.json", servers);
    let more = r#"{"mcpServers":{"b":{"command":"z"}}}"#;
    let plan = room
        .plan(&[
            "--system-prompt-file",
            "p.md",
            "--system-prompt",
            "x",
            "--mcp-config",
            "m.json",
            more,
        ])
        .unwrap();
    assert_eq!(plan.config.prompt.replace.as_deref(), Some("from a file"));
    let told = serde_json::to_string(&plan.config.mcp.servers).unwrap();
    assert_eq!(told, r#"{"a":{"command":"x"},"b":{"command":"z"}}"#);
}

#[test]
fn bypassing_as_root_needs_a_sandbox() {
    let refused = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";
    let by_settings = r#"{"permissions":{"defaultMode":"bypassPermissions"}}"#;
    for words in [
        &["--dangerously-skip-permissions"][..],
        &["--permission-mode", "bypassPermissions"],
        &["--settings", by_settings],
    ] {
        assert_eq!(
            Room::new().root().plan(words).unwrap_err(),
            refused,
            "{words:?}"
        );
        assert!(Room::new().plan(words).is_ok(), "{words:?}");
        let sandbox = Room::new().root().variables(&[("IS_SANDBOX", "1")]);
        assert!(sandbox.plan(words).is_ok(), "{words:?}");
    }
    let plan = Room::new()
        .root()
        .plan(&["--allow-dangerously-skip-permissions"])
        .unwrap();
    assert_eq!(plan.config.permissions.bypass, Bypass::Possible);
    // No file can say that this is a sandbox.
    let file = r#"{"env":{"IS_SANDBOX":"1"}}"#;
    let told = Room::new()
        .root()
        .plan(&["--dangerously-skip-permissions", "--settings", file]);
    assert_eq!(told.unwrap_err(), refused);
}

#[test]
fn the_id_of_a_session_that_is_there_is_refused() {
    let room = Room::new();
    let folder =
        towline_store::Home::new(room.path().join("home/.claude")).project_folder(&room.around.cwd);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{ID}.jsonl")), "{}\n").unwrap();
    let told = room.plan(&["--session-id", ID]).unwrap_err();
    assert_eq!(told, format!("Error: Session ID {ID} is already in use."));
}

/// How the API is reached, in one line.
fn api(plan: &Plan) -> String {
    let Provider::Api(api) = &plan.config.provider else {
        return "offline".to_owned();
    };
    let credential = match &api.credential {
        None => "nobody".to_owned(),
        Some(Credential::Key(key)) => format!("key {key}"),
        Some(Credential::Token(token)) => format!("token {token}"),
    };
    format!("{} as {credential}", api.base_url)
}

#[test]
fn the_environment_says_how_the_api_is_reached() {
    for (variables, words, expected) in [
        (&[][..], &[][..], "https://api.anthropic.com as nobody"),
        (
            &[("ANTHROPIC_API_KEY", "k")],
            &[],
            "https://api.anthropic.com as key k",
        ),
        (
            &[("ANTHROPIC_API_KEY", "")],
            &[],
            "https://api.anthropic.com as nobody",
        ),
        (
            &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_AUTH_TOKEN", "t")],
            &[],
            "https://api.anthropic.com as token t",
        ),
        (
            &[("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/")],
            &[],
            "http://127.0.0.1:9 as nobody",
        ),
        (
            &[("ANTHROPIC_API_KEY", "k")],
            &["--model", "offline"],
            "offline",
        ),
        (&[("ANTHROPIC_MODEL", "offline")], &[], "offline"),
        (
            &[("ANTHROPIC_MODEL", "offline")],
            &["--model", "opus"],
            "https://api.anthropic.com as nobody",
        ),
    ] {
        let plan = Room::new().variables(variables).plan(words).unwrap();
        assert_eq!(api(&plan), expected, "{variables:?} {words:?}");
    }
    let room = Room::new().variables(&[
        (
            "ANTHROPIC_CUSTOM_HEADERS",
            "X-A: 1\nnot a header\n X-B : two: parts ",
        ),
        ("HTTPS_PROXY", "http://proxy"),
        ("no_proxy", "127.0.0.1"),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("API_TIMEOUT_MS", "1500"),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "99"),
        ("MAX_THINKING_TOKENS", "77"),
        ("BASH_DEFAULT_TIMEOUT_MS", "900000"),
        ("BASH_MAX_OUTPUT_LENGTH", "none"),
        ("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "0"),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-py"),
        ("TMPDIR", "/t"),
    ]);
    let config = room.plan(&[]).unwrap().config;
    let Provider::Api(api) = &config.provider else {
        panic!("not the API");
    };
    let told = format!(
        "{:?} {:?} {} {:?} {:?} {:?} {:?} {} {} {}",
        api.headers,
        api.proxy,
        api.max_retries,
        api.timeout,
        config.model.max_output_tokens,
        config.model.max_thinking_tokens,
        config.shell,
        config.output.session_state,
        config.entrypoint,
        config.temporary.display(),
    );
    assert_eq!(
        told,
        "[(\"X-A\", \"1\"), (\"X-B\", \"two: parts\")] ProxyOptions { http: None, https: Some(\"http://proxy\"), \
         none: Some(\"127.0.0.1\") } 2 1.5s Some(99) Some(77) Shell { default_timeout: 900s, max_timeout: 900s, \
         max_output: 30000, last_wait: None } true sdk-py /t/claude-1000"
    );
}

#[test]
fn settings_give_a_model_variables_and_a_command_for_the_key() {
    let user = r#"{"model":"from-user","env":{"ANTHROPIC_BASE_URL":"http://user","N":1},"apiKeyHelper":"echo user"}"#;
    let project = r#"{"model":"from-project","env":{"ANTHROPIC_BASE_URL":"http://project"},"apiKeyHelper":"echo project"}"#;
    let room = || {
        Room::new()
            .file("home/.claude/settings.json", user)
            .file("project/.claude/settings.json", project)
    };
    let told = |room: Room, words: &[&str]| {
        let plan = room.plan(words).unwrap();
        let options = &plan.config.model;
        let model = options
            .name
            .clone()
            .or(options.usual.clone())
            .unwrap_or_default();
        format!(
            "{model}, {}, {:?}",
            api(&plan),
            plan.key_helper.unwrap_or_default()
        )
    };
    // A project that nobody trusts can neither send the key elsewhere nor have a command run.
    assert_eq!(
        told(room(), &[]),
        "from-project, http://user as nobody, \"echo user\""
    );
    assert_eq!(
        told(room().trusted(), &[]),
        "from-project, http://project as nobody, \"echo project\""
    );
    assert_eq!(
        told(room(), &["--setting-sources=user"]),
        "from-user, http://user as nobody, \"echo user\""
    );
    assert_eq!(
        told(room(), &["--setting-sources="]),
        ", https://api.anthropic.com as nobody, \"\""
    );
    let given = [
        "--settings",
        r#"{"model":"given","env":{"ANTHROPIC_BASE_URL":"http://given"}}"#,
    ];
    assert_eq!(
        told(room().trusted(), &given),
        "given, http://given as nobody, \"echo project\""
    );
    let managed = r#"{"model":"managed"}"#;
    assert_eq!(
        told(
            room().file("managed/managed-settings.json", managed),
            &given
        ),
        "managed, http://given as nobody, \"echo user\""
    );
    let keyed = room().variables(&[("ANTHROPIC_API_KEY", "k")]);
    assert_eq!(
        told(keyed, &["--model", "m"]),
        "m, http://user as key k, \"\""
    );
    // Nor can one that a host vouches for.
    for vouched in [&[][..], &["--setting-sources=user,project,local"]] {
        let untrusting = room();
        let notices = untrusting.plan(vouched).unwrap().notices.join("\n");
        assert_eq!(
            untrusting.shown(&notices),
            "the project is not trusted, so `apiKeyHelper` in ROOM/project/.claude/settings.json does not count\n\
             the project is not trusted, so `env` in ROOM/project/.claude/settings.json does not count\n\
             to trust ROOM/project: run `towline` in it on a terminal, or open it on the page of `towline serve`, and \
             answer the question"
        );
    }
    assert_eq!(room().trusted().plan(&[]).unwrap().notices, [""; 0]);
    let environment = room().plan(&[]).unwrap().config.environment;
    assert_eq!(
        environment.get(&OsString::from("N")),
        Some(&OsString::from("1"))
    );
}

#[test]
fn a_bare_start_keeps_what_is_forbidden() {
    let user = r#"{"hooks":{},"permissions":{"deny":["Bash(rm:*)"]}}"#;
    let room = Room::new().file("home/.claude/settings.json", user);
    for (words, texts, memory, no_commands) in [
        (&[][..], 1, true, false),
        (&["--bare"], 0, false, false),
        (&["--safe-mode"], 0, false, true),
    ] {
        let config = room.plan(words).unwrap().config;
        let told = (
            config.settings.len(),
            config.prompt.memory,
            config.prompt.no_commands,
        );
        assert_eq!(told, (texts, memory, no_commands), "{words:?}");
        assert_eq!(config.permissions.files[0].1.deny.len(), 1, "{words:?}");
    }
}

#[test]
fn a_policy_that_cannot_be_read_starts_nothing() {
    let room = Room::new().file("managed/managed-settings.json", "{");
    let told = room.plan(&[]).unwrap_err();
    assert!(
        told.ends_with("no agent starts with such a policy"),
        "{told}"
    );
}

#[test]
fn flags_have_names_of_their_own() {
    let mut names: Vec<&str> = super::flags::GROUPS
        .iter()
        .flat_map(|group| group.flags)
        .flat_map(|flag| flag.names.iter().copied())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.iter().all(|name| !name.contains(char::is_uppercase)));
}
