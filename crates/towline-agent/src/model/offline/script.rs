//! What a prompt asks for: its steps, each a tool call or something to say (pure).

use serde_json::{Value, json};

/// One thing that the prompt asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Calls the first of these tools that is offered.
    Call {
        /// The word that asked for it.
        verb: &'static str,
        /// What can do it, with the input for it.
        tools: Vec<(&'static str, Value)>,
    },
    /// Thinks.
    Think(String),
    /// Says something.
    Say(String),
    /// Nothing that is understood.
    Unknown,
}

/// The steps of a prompt, in order.
pub(super) fn steps(prompt: &str, is_planning: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in parts(prompt) {
        read_part(part, is_planning, &mut steps);
    }
    steps
}

/// What the responder understands, for a person.
pub(super) fn guide() -> String {
    // There are no subagents yet.
    let rows = VERBS
        .iter()
        .filter(|verb| verb.word != "agent")
        .map(|verb| format!("- {}: {}", verb.usage, verb.means));
    format!(
        "I understand:\n{}\nSeveral are joined by \" then \".",
        rows.collect::<Vec<_>>().join("\n")
    )
}

/// The prompt in its parts. " then " joins two only where a word that is understood follows: it may also be part of a text.
fn parts(prompt: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, joint) in prompt.match_indices(" then ") {
        let next = place + joint.len();
        if place >= start && verb(&prompt[next..]).is_some() {
            parts.push(prompt[start..place].trim());
            start = next;
        }
    }
    parts.push(prompt[start..].trim());
    parts
}

fn read_part(part: &str, is_planning: bool, steps: &mut Vec<Step>) {
    let Some((verb, rest)) = verb(part) else {
        steps.push(Step::Unknown);
        return;
    };
    let read = if rest.is_empty() {
        None
    } else {
        (verb.read)(rest, is_planning)
    };
    match read {
        Some(read) => steps.extend(read),
        None => steps.push(Step::Say(format!("\"{}\" is: {}.", verb.word, verb.usage))),
    }
}

/// The word that a part begins with, and what follows.
fn verb(part: &str) -> Option<(&'static Verb, &str)> {
    let part = part.trim_start();
    let (word, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
    let verb = VERBS
        .iter()
        .find(|verb| verb.word.eq_ignore_ascii_case(word))?;
    Some((verb, rest.trim()))
}

/// A word that is understood.
struct Verb {
    word: &'static str,
    usage: &'static str,
    means: &'static str,
    /// From what follows the word to steps. Nothing if it does not fit.
    read: fn(&str, bool) -> Option<Vec<Step>>,
}

const VERBS: &[Verb] = &[
    Verb {
        word: "run",
        usage: "run COMMAND",
        means: "runs it in the shell",
        read: |command, _| {
            let input = json!({"command": command, "description": "Run what was asked for"});
            call("run", &[("Bash", input)])
        },
    },
    Verb {
        word: "read",
        usage: "read PATH",
        means: "reads a file",
        read: |path, _| call("read", &[("Read", json!({"file_path": path}))]),
    },
    Verb {
        word: "write",
        usage: "write PATH: TEXT",
        means: "writes a file",
        read: |rest, _| {
            let (path, text) = path_and_text(rest)?;
            call(
                "write",
                &[("Write", json!({"file_path": path, "content": text}))],
            )
        },
    },
    Verb {
        word: "edit",
        usage: "edit PATH: OLD => NEW",
        means: "changes a file",
        read: |rest, _| {
            let (path, text) = path_and_text(rest)?;
            let (old, new) = text.split_once("=>")?;
            let input =
                json!({"file_path": path, "old_string": old.trim(), "new_string": new.trim()});
            call("edit", &[("Edit", input)])
        },
    },
    Verb {
        word: "list",
        usage: "list DIRECTORY",
        means: "lists what is in it",
        read: |path, _| call("list", &[("LS", json!({"path": path}))]),
    },
    Verb {
        word: "find",
        usage: "find PATTERN",
        means: "finds files by their names, such as **/*.rs",
        read: |pattern, _| call("find", &[("Glob", json!({"pattern": pattern}))]),
    },
    Verb {
        word: "search",
        usage: "search TEXT",
        means: "finds text in files",
        read: |text, _| {
            let input = json!({"pattern": literal(text), "output_mode": "content"});
            call("search", &[("Grep", input)])
        },
    },
    Verb {
        word: "fetch",
        usage: "fetch URL",
        means: "fetches a web page",
        read: |url, _| {
            let input = json!({"url": url, "prompt": "Say what is on the page."});
            call("fetch", &[("WebFetch", input)])
        },
    },
    Verb {
        word: "ask",
        usage: "ask QUESTION? CHOICE, CHOICE",
        means: "asks you",
        read: |rest, _| call("ask", &[("AskUserQuestion", question(rest))]),
    },
    Verb {
        word: "plan",
        usage: "plan TEXT",
        means: "shows you a plan and waits for your word",
        read: |plan, is_planning| {
            let mut steps = Vec::new();
            if !is_planning {
                steps.extend(call("plan", &[("EnterPlanMode", json!({}))])?);
            }
            steps.extend(call("plan", &[("ExitPlanMode", json!({"plan": plan}))])?);
            Some(steps)
        },
    },
    Verb {
        word: "think",
        usage: "think TEXT",
        means: "thinks it before it answers",
        read: |thought, _| {
            Some(vec![
                Step::Think(thought.to_owned()),
                Step::Say("I have thought about it.".to_owned()),
            ])
        },
    },
    Verb {
        word: "agent",
        usage: "agent PROMPT",
        means: "gives it to a subagent",
        read: |prompt, _| {
            let input = json!({
                "description": beginning(prompt, 40),
                "prompt": prompt,
                "subagent_type": "general-purpose",
                "run_in_background": false,
            });
            call("agent", &[("Agent", input.clone()), ("Task", input)])
        },
    },
    Verb {
        word: "todo",
        usage: "todo ITEM, ITEM",
        means: "writes a list of what is to do",
        read: |rest, _| {
            let items: Vec<&str> = list(rest);
            let todos: Vec<Value> = items
                .iter()
                .map(|item| json!({"content": item, "status": "pending", "activeForm": item}))
                .collect();
            let first = items.first()?;
            let task = json!({"subject": first, "description": rest});
            call(
                "todo",
                &[("TodoWrite", json!({"todos": todos})), ("TaskCreate", task)],
            )
        },
    },
];

fn call(verb: &'static str, tools: &[(&'static str, Value)]) -> Option<Vec<Step>> {
    let tools = tools.to_vec();
    Some(vec![Step::Call { verb, tools }])
}

/// `PATH: TEXT`; a colon in the path must not be followed by a blank.
fn path_and_text(rest: &str) -> Option<(&str, &str)> {
    let (path, text) = rest
        .split_once(": ")
        .or_else(|| rest.split_once(":\n"))
        .or_else(|| rest.strip_suffix(':').map(|path| (path, "")))?;
    let path = path.trim();
    (!path.is_empty()).then_some((path, text))
}

/// `QUESTION? a, b, c`. A question needs two to four answers to choose from: without them it is yes or no.
fn question(rest: &str) -> Value {
    let (question, choices) = match rest.split_once('?') {
        Some((question, choices)) => (format!("{}?", question.trim()), choices),
        None => (format!("{rest}?"), ""),
    };
    let mut labels: Vec<&str> = list(choices);
    labels.truncate(MOST_CHOICES);
    if labels.len() < 2 {
        labels = vec!["Yes", "No"];
    }
    let options: Vec<Value> = labels
        .iter()
        .map(|label| json!({"label": label, "description": format!("Choose {label}")}))
        .collect();
    json!({"questions": [{
        "question": question,
        "header": beginning(&question, 12),
        "options": options,
        "multiSelect": false,
    }]})
}

/// What stands between commas, each once.
fn list(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    for item in text.split(',').map(str::trim) {
        if !item.is_empty() && !items.contains(&item) {
            items.push(item);
        }
    }
    items
}

/// The text as a pattern that finds just it.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

fn beginning(text: &str, characters: usize) -> String {
    text.chars()
        .take(characters)
        .collect::<String>()
        .trim()
        .to_owned()
}

const MOST_CHOICES: usize = 4;
