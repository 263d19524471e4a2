//! Rules that are about nothing, and rules that are not about what they seem to be. All of it was seen with CLI 2.1.325.

use towline_protocol::{Behavior, Destination};

use super::{Fault, FindingKind, Written, repair};

/// Why a rule can never match, if so.
pub(super) fn matches_nothing(written: &Written) -> Option<Fault> {
    let entry = &written.entry;
    let rule = &entry.rule;
    let content = rule.content();
    if let Some(rules) = repair::several(&rule.to_string()) {
        return Some(Fault {
            kind: FindingKind::NeverMatches,
            why: "it is several rules in one text, and each needs a text of its own".to_owned(),
            instead: rules,
        });
    }
    let (why, instead) = match (rule.tool(), content) {
        (tool, _) if tool.contains('*') || tool.starts_with("mcp__") => {
            server(tool, content, &entry.behavior)?
        }
        (tool, _) if !repair::is_known(tool) => (
            format!("there is no tool `{tool}`"),
            repair::similar(tool)
                .map(|known| with(known, content))
                .into_iter()
                .collect(),
        ),
        (_, None | Some("*")) => return None,
        ("Bash", Some(content)) => command(content, &entry.behavior)?,
        (tool @ ("Write" | "NotebookEdit" | "MultiEdit"), Some(content))
            if entry.behavior == Behavior::Allow =>
        {
            (
                format!("what `{tool}` may write is allowed by `Edit(path)` alone"),
                vec![with("Edit", Some(content))],
            )
        }
        (tool @ ("Glob" | "Grep" | "LS" | "NotebookRead"), Some(content)) => (
            format!("where `{tool}` may look is said by `Read(path)` alone"),
            vec![with("Read", Some(content))],
        ),
        (tool @ ("Read" | "Edit" | "Write" | "NotebookEdit" | "MultiEdit"), Some(content)) => {
            path(tool, content, &entry.source)?
        }
        ("WebFetch", Some(content)) => page(content)?,
        (tool @ ("Agent" | "Task" | "Skill"), Some(content)) => {
            named(tool, content, &entry.behavior)?
        }
        // It had content when there was such a tool.
        ("SlashCommand", Some(_)) => return None,
        (tool, Some(_)) => (
            format!("`{tool}` knows no content; a rule is about the whole tool"),
            vec![tool.to_owned()],
        ),
    };
    Some(Fault {
        kind: FindingKind::NeverMatches,
        why,
        instead,
    })
}

/// Why a rule may not do what its writer thinks, though it does something.
pub(super) fn may_be_mistaken(written: &Written) -> Option<Fault> {
    let entry = &written.entry;
    let rule = &entry.rule;
    let content = rule.content().filter(|content| *content != "*")?;
    let (why, instead) = match rule.tool() {
        tool @ ("Write" | "NotebookEdit" | "MultiEdit") => (
            format!(
                "it holds here, but Claude Code ignores the path of `{tool}`: there only `Edit(path)` protects it"
            ),
            with("Edit", Some(content)),
        ),
        tool @ ("Read" | "Edit") if first_folder(content).is_some_and(is_ambiguous) => (
            format!(
                "one slash does not begin an absolute path: this is `{}` {}",
                &content[1..],
                anchor(&entry.source)
            ),
            with(tool, Some(&format!("/{content}"))),
        ),
        _ => return None,
    };
    Some(Fault {
        kind: FindingKind::Doubtful,
        why,
        instead: vec![instead],
    })
}

/// Why, and what to write instead.
type Why = (String, Vec<String>);

fn command(content: &str, behavior: &Behavior) -> Option<Why> {
    if content == ":*" {
        return Some((
            "`:*` is the start of no command".to_owned(),
            vec!["Bash".to_owned()],
        ));
    }
    let trimmed = content.trim();
    if content.starts_with(char::is_whitespace) || trimmed.is_empty() {
        return Some((
            "no command begins with a blank, and the text of a rule is not trimmed".to_owned(),
            (!trimmed.is_empty())
                .then(|| with("Bash", Some(trimmed)))
                .into_iter()
                .collect(),
        ));
    }
    let is_exact = !content.contains('*');
    if content.ends_with(char::is_whitespace) && is_exact {
        return Some((
            "no command ends with a blank, and the text of a rule is not trimmed".to_owned(),
            vec![with("Bash", Some(trimmed))],
        ));
    }
    let operator = OPERATORS
        .iter()
        .find(|operator| content.contains(*operator));
    match operator {
        Some(operator) if !is_exact && *behavior == Behavior::Allow => Some((
            format!(
                "a line with `{}` is taken apart, and each command in it needs a rule of its own",
                operator.trim()
            ),
            Vec::new(),
        )),
        _ => None,
    }
}

fn path(tool: &str, content: &str, source: &Destination) -> Option<Why> {
    if content.starts_with('!') {
        return Some((
            "`!` makes no exception; what is not to match must be left out of the other rules"
                .to_owned(),
            Vec::new(),
        ));
    }
    if content.split('/').any(|part| part == "..") {
        return Some((
            "`..` is no part of a path that is compared".to_owned(),
            vec![with(tool, Some("//absolute/path"))],
        ));
    }
    if let Some((start, rest)) = content.split_once('{')
        && let Some((choices, end)) = rest.split_once('}')
        && choices.contains(',')
    {
        let rules: Vec<String> = choices
            .split(',')
            .take(MOST_CHOICES)
            .map(|choice| with(tool, Some(&format!("{start}{choice}{end}"))))
            .collect();
        return Some((
            "braces are no choice here; each needs a rule of its own".to_owned(),
            rules,
        ));
    }
    if first_folder(content).is_some_and(is_of_the_system) {
        return Some((
            format!(
                "one slash does not begin an absolute path: this is `{}` {}",
                &content[1..],
                anchor(source)
            ),
            vec![with(tool, Some(&format!("/{content}")))],
        ));
    }
    None
}

fn page(content: &str) -> Option<Why> {
    let Some(domain) = content.strip_prefix("domain:") else {
        return Some((
            "pages are told apart by their host alone, written `domain:host`".to_owned(),
            of_host(content),
        ));
    };
    let is_host = |character: char| {
        character.is_alphanumeric() || matches!(character, '.' | '-' | '_' | '*' | '[' | ']')
    };
    if !domain.is_empty() && domain.chars().all(is_host) {
        return None;
    }
    Some((
        "behind `domain:` stands a host alone, without scheme, port or path".to_owned(),
        of_host(domain),
    ))
}

/// The rule for the host in what looks like an address.
fn of_host(text: &str) -> Vec<String> {
    host(text)
        .map(|host| with("WebFetch", Some(&format!("domain:{host}"))))
        .into_iter()
        .collect()
}

/// The host in what looks like an address.
fn host(text: &str) -> Option<&str> {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let end = text.find(['/', ':', '?', '#']).unwrap_or(text.len());
    Some(&text[..end]).filter(|host| host.contains('.') && !host.contains(' '))
}

/// Agents and skills, which are told by their names.
fn named(tool: &str, content: &str, behavior: &Behavior) -> Option<Why> {
    if *behavior == Behavior::Ask {
        return Some((
            format!("`{tool}` with a name is not asked about; only the whole tool is"),
            vec![tool.to_owned()],
        ));
    }
    let prefix = content
        .strip_suffix(":*")
        .or_else(|| content.strip_suffix(" *"));
    let name = match prefix {
        Some(prefix) if tool == "Skill" => prefix,
        _ => content,
    };
    if !name.contains('*') {
        return None;
    }
    let instead = name
        .strip_suffix('*')
        .filter(|start| tool == "Skill" && !start.is_empty() && !start.contains('*'))
        .map(|start| with(tool, Some(&format!("{start}:*"))))
        .into_iter()
        .collect();
    Some((
        format!("`*` in the name for `{tool}` is only a character"),
        instead,
    ))
}

/// Tools of MCP servers, and stars in the place of a tool.
fn server(tool: &str, content: Option<&str>, behavior: &Behavior) -> Option<Why> {
    let Some(rest) = tool.strip_prefix("mcp__") else {
        // Only `*` and its like: what it denies is everything, what it allows is ignored.
        return (*behavior == Behavior::Allow).then(|| {
            let why = "what allows tools must name them".to_owned();
            (why, Vec::new())
        });
    };
    if content.is_some() {
        return Some((
            "tools of MCP servers know no content; a rule is about the whole tool".to_owned(),
            vec![tool.to_owned()],
        ));
    }
    let (server, name) = rest
        .split_once("__")
        .map_or((rest, None), |(server, name)| (server, Some(name)));
    if server.is_empty() {
        return Some(("there is no server in it".to_owned(), Vec::new()));
    }
    if server.contains('*') && *behavior == Behavior::Allow {
        return Some((
            "what allows must name the server; `*` may stand for tools alone".to_owned(),
            vec![format!("mcp__SERVER__{}", name.unwrap_or("*"))],
        ));
    }
    (name == Some("")).then(|| {
        let why = "there is no tool behind the server".to_owned();
        (why, vec![format!("mcp__{server}")])
    })
}

/// The first folder of a path with one slash in front.
fn first_folder(content: &str) -> Option<&str> {
    let rest = content.strip_prefix('/')?;
    if rest.starts_with('/') {
        return None;
    }
    let (first, _) = rest.split_once('/')?;
    Some(first)
}

/// Folders that a system has at its root and projects do not.
fn is_of_the_system(folder: &str) -> bool {
    matches!(
        folder,
        "etc"
            | "usr"
            | "home"
            | "Users"
            | "root"
            | "proc"
            | "sys"
            | "private"
            | "Library"
            | "Applications"
            | "Volumes"
            | "boot"
    )
}

/// Folders that a project may have as well.
fn is_ambiguous(folder: &str) -> bool {
    matches!(
        folder,
        "tmp" | "var" | "opt" | "bin" | "sbin" | "lib" | "dev" | "mnt" | "media" | "srv" | "run"
    )
}

fn anchor(source: &Destination) -> &'static str {
    match source {
        Destination::UserSettings => "in the configuration folder",
        Destination::FlagSettings => "in the folder of the settings file",
        _ => "in the project",
    }
}

fn with(tool: &str, content: Option<&str>) -> String {
    match content {
        None => tool.to_owned(),
        Some(content) => format!("{tool}({content})"),
    }
}

/// What parts the commands of a line.
const OPERATORS: &[&str] = &[" && ", " || ", "; ", " | "];
/// More choices than anybody writes.
const MOST_CHOICES: usize = 20;
