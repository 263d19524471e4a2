//! What somebody who wrote a broken rule probably meant.

use crate::rule::Rule;

/// The rule that a text was meant to be, as far as that can be told.
pub(super) fn repaired(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('"').trim();
    if text.contains("),") {
        return None;
    }
    let repaired = match text.split_once(['(', '[']) {
        Some((tool, rest)) => {
            let tool = known_as(tool.trim())?;
            let content = rest.strip_suffix([')', ']']).unwrap_or(rest).trim();
            match content {
                "" => tool.to_owned(),
                content if content.contains(')') && !content.contains('(') => return None,
                content => format!("{tool}({content})"),
            }
        }
        None => match text.split_once([' ', ':']) {
            Some((tool, content)) => format!("{}({})", known_as(tool)?, content.trim()),
            None => known_as(text)?.to_owned(),
        },
    };
    repaired.parse::<Rule>().ok()?;
    Some(repaired)
}

/// The rules in a text that lists several, as on the command line.
pub(super) fn several(text: &str) -> Option<Vec<String>> {
    let mut rules = Vec::new();
    let mut rest = text;
    while let Some((rule, after)) = rest.split_once("),") {
        rules.push(format!("{})", rule.trim()));
        rest = after;
    }
    rules.push(rest.trim().to_owned());
    let is_rule = |text: &String| {
        let rule = text.parse::<Rule>();
        rule.is_ok_and(|rule| known_as(rule.tool()) == Some(rule.tool()))
    };
    (rules.len() > 1 && rules.iter().all(is_rule)).then_some(rules)
}

/// A name as it is written for sure: that of a known tool, whatever its case, or that of an MCP tool.
fn known_as(tool: &str) -> Option<&str> {
    if tool.starts_with("mcp__") {
        return Some(tool);
    }
    KNOWN
        .iter()
        .find(|known| known.eq_ignore_ascii_case(tool))
        .copied()
}

/// The tool that a name is meant to be, if it is written nearly like one.
pub(super) fn similar(tool: &str) -> Option<&'static str> {
    let close =
        |known: &str| strsim::damerau_levenshtein(&known.to_lowercase(), &tool.to_lowercase());
    let (distance, known) = KNOWN.iter().map(|known| (close(known), *known)).min()?;
    (distance <= 2 && distance * 3 <= tool.chars().count()).then_some(known)
}

/// Whether a tool of that name is there in Claude Code, or in one of the documents that describe it.
pub(super) fn is_known(tool: &str) -> bool {
    KNOWN.contains(&tool)
}

/// The tools of CLI 2.1.325, and those that it had before.
const KNOWN: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CodebaseSearchAgent",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "ListAgents",
    "ListMcpResources",
    "Mermaid",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Oracle",
    "Read",
    "ReadMcpResource",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "UndoEdit",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];
