//! A conversation as Markdown: what was said in full, tool calls and their results folded.

use std::{
    io::{self, Write},
    path::Path,
};

use towline_protocol::{Block, Content, Json, MediaBlock, Text, ToolResultBlock, ToolUseBlock};
use towline_store::{Located, SessionSummary};

use super::super::{output::minute, show::said};
use crate::{
    terminal::{Clip, escaped},
    trace::tool_input_gist,
};

/// Writes messages as they come.
pub(super) struct Markdown<W> {
    out: W,
    /// Whose words the last heading announced.
    speaker: Option<&'static str>,
}

impl<W: Write> Markdown<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, speaker: None }
    }

    /// Writes the title and where the session is from.
    pub(super) fn heading(
        &mut self,
        summary: Option<&SessionSummary>,
        path: &Path,
    ) -> io::Result<()> {
        let Some(summary) = summary else {
            return writeln!(self.out, "# {}", one_line(&path.display().to_string()));
        };
        writeln!(self.out, "# {}\n", one_line(&summary.title))?;
        writeln!(self.out, "- session: `{}`", summary.session.key())?;
        if let Some(cwd) = &summary.cwd {
            writeln!(
                self.out,
                "- folder: `{}`",
                one_line(&cwd.display().to_string())
            )?;
        }
        if let Some(branch) = &summary.git_branch {
            writeln!(self.out, "- branch: `{}`", one_line(branch))?;
        }
        if let Some(created) = summary.created {
            writeln!(self.out, "- started: {} UTC", minute(created))?;
        }
        writeln!(self.out, "- last used: {} UTC", minute(summary.modified))
    }

    pub(super) fn message(&mut self, message: &Located) -> io::Result<()> {
        let Some(content) = said(&message.record) else {
            return Ok(());
        };
        let speaker = match message.record.kind() {
            "assistant" => "Assistant",
            _ => "User",
        };
        match content {
            Content::Text(text) => self.text(speaker, text),
            Content::Object(json) => self.fold("content", json.text(), "json"),
            Content::Blocks(blocks) => blocks
                .iter()
                .try_for_each(|block| self.block(speaker, block)),
        }
    }

    fn block(&mut self, speaker: &'static str, block: &Block) -> io::Result<()> {
        match block {
            Block::Text(text) => self.text(speaker, &text.text),
            Block::Thinking(thinking) => {
                self.announce(speaker)?;
                self.fold("thinking", &thinking.thinking, "")
            }
            Block::ToolUse(call) | Block::ServerToolUse(call) => {
                self.announce(speaker)?;
                self.call(call)
            }
            Block::ToolResult(result)
            | Block::WebSearchToolResult(result)
            | Block::WebFetchToolResult(result) => self.result(result),
            Block::Image(media) | Block::Document(media) => {
                self.announce(speaker)?;
                self.media(block.kind(), media)
            }
            Block::RedactedThinking(_) => Ok(()),
            Block::ToolReference(reference) => {
                writeln!(
                    self.out,
                    "\n*tool {}*",
                    one_line(reference.tool_name.as_str())
                )
            }
            Block::Unknown(unknown) => self.fold(unknown.kind(), unknown.json.text(), "json"),
        }
    }

    fn text(&mut self, speaker: &'static str, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.announce(speaker)?;
        writeln!(self.out, "\n{}", text.trim_end())
    }

    /// Writes a heading when somebody else speaks.
    fn announce(&mut self, speaker: &'static str) -> io::Result<()> {
        if self.speaker.replace(speaker) == Some(speaker) {
            return Ok(());
        }
        writeln!(self.out, "\n## {speaker}")
    }

    fn call(&mut self, call: &ToolUseBlock) -> io::Result<()> {
        let name = call.name.as_str();
        let Some(input) = &call.input else {
            return writeln!(self.out, "\n*{}*", one_line(name));
        };
        let mut gist = Clip::new(Some(GIST_COLUMNS));
        // The only error is that the line is full, and then it is done.
        tool_input_gist(input, &mut gist).ok();
        self.fold(
            &format!("{name}: {}", gist.finish()),
            &pretty(input),
            "json",
        )
    }

    fn result(&mut self, result: &ToolResultBlock) -> io::Result<()> {
        let summary = match result.is_error.as_option() {
            Some(true) => "error",
            Some(false) | None => "result",
        };
        let text = result.content.as_option().map(result_text);
        self.fold(summary, &text.unwrap_or_default(), "")
    }

    fn media(&mut self, kind: &str, media: &MediaBlock) -> io::Result<()> {
        let source = &media.source;
        let names = [
            media.title.as_option(),
            source.media_type.as_ref(),
            source.url.as_ref(),
        ];
        let names: Vec<&str> = names.into_iter().flatten().map(Text::as_str).collect();
        writeln!(self.out, "\n*{kind} {}*", one_line(&names.join(" ")))
    }

    fn fold(&mut self, summary: &str, text: &str, language: &str) -> io::Result<()> {
        let summary = html(&one_line(summary));
        let fence = fence(text);
        let text = text.trim_end();
        writeln!(self.out, "\n<details><summary>{summary}</summary>\n")?;
        writeln!(self.out, "{fence}{language}\n{text}\n{fence}\n\n</details>")
    }
}

/// The texts of a result; what is no text is named.
fn result_text(content: &Content) -> String {
    match content {
        Content::Text(text) => text.to_string(),
        Content::Object(json) => json.to_string(),
        Content::Blocks(blocks) => {
            let parts = blocks.iter().map(|block| match block {
                Block::Text(text) => text.text.to_string(),
                other => format!("({})", other.kind()),
            });
            parts.collect::<Vec<_>>().join("\n")
        }
    }
}

fn pretty(input: &Json) -> String {
    let value = input.parse::<serde_json::Value>();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|_| input.to_string())
}

/// A fence longer than any in the text, so that the text cannot end it.
fn fence(text: &str) -> String {
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn one_line(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

const GIST_COLUMNS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_its_fence() {
        for (text, expected) in [
            ("", "```"),
            ("`a`", "```"),
            ("x\n```\ny", "````"),
            ("`````", "``````"),
        ] {
            assert_eq!(fence(text), expected, "{text}");
        }
    }
}
