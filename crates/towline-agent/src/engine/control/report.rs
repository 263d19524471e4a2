//! What the agent reports of its session: context, cost, settings, rules.

use serde_json::{Value, json};
use towline_protocol::{
    Json, Nullable, Number, System, Text,
    control::answer::{
        ContextCategory, ContextUsageAnswer, GridSquare, PermissionRulesAnswer, SessionCostAnswer,
        SessionTotals, SettingsAnswer, UsageAnswer,
    },
};

use super::super::{Engine, clock::millis, lines};
use crate::model::cost::BYTES_IN_TOKEN;

/// Tokens that are kept free for a summary.
const BUFFER: u64 = 33_000;

impl Engine {
    /// What fills the context.
    pub(super) fn context_usage(&self) -> ContextUsageAnswer {
        let request = self.request();
        let tokens = |pieces: &[Json]| {
            let bytes: usize = pieces.iter().map(|piece| piece.as_str().len()).sum();
            (bytes / BYTES_IN_TOKEN) as u64
        };
        let most = self.session.facts().context_window;
        let parts = [
            (
                "system_prompt",
                "System prompt",
                tokens(&request.system),
                "promptBorder",
            ),
            (
                "system_tools",
                "System tools",
                tokens(&request.tools),
                "inactive",
            ),
            (
                "messages",
                "Messages",
                tokens(&request.messages),
                "purple_FOR_SUBAGENTS_ONLY",
            ),
        ];
        let used: u64 = parts.iter().map(|part| part.2).sum();
        let free = most.saturating_sub(used + BUFFER);
        let mut categories: Vec<_> = parts
            .iter()
            .filter(|part| part.2 > 0)
            .map(|part| category(*part, "used"))
            .collect();
        categories.push(category(
            (
                "autocompact_buffer",
                "Autocompact buffer",
                BUFFER,
                "inactive",
            ),
            "buffer",
        ));
        categories.push(category(
            ("free_space", "Free space", free, "promptBorder"),
            "free",
        ));
        ContextUsageAnswer {
            grid_rows: Some(grid(&categories, most)),
            categories: Some(categories),
            total_tokens: Some(used),
            max_tokens: Some(most),
            raw_max_tokens: Some(most),
            autocompact_source: Some(Text::from_static("model-default")),
            percentage: Some((used * 100 / most.max(1)).into()),
            model: Some(self.session.model.as_str().into()),
            memory_files: Some(self.memory_files()),
            mcp_tools: Some(Vec::new()),
            mcp_instructions: Some(Vec::new()),
            agents: Some(Vec::new()),
            slash_commands: raw(&json!({"totalCommands": 0, "includedCommands": 0, "tokens": 0})),
            skills: raw(
                &json!({"totalSkills": 0, "includedSkills": 0, "tokens": 0, "skillFrontmatter": []}),
            ),
            auto_compact_threshold: Some(most.saturating_sub(BUFFER)),
            is_auto_compact_enabled: Some(false),
            message_breakdown: raw(&json!({
                "toolCallTokens": 0, "toolResultTokens": 0, "attachmentTokens": 0,
                "assistantMessageTokens": 0, "userMessageTokens": tokens(&request.messages),
                "redirectedContextTokens": 0, "unattributedTokens": 0,
                "toolCallsByType": [], "attachmentsByType": [],
            })),
            api_usage: Nullable::Null,
            ..ContextUsageAnswer::default()
        }
    }

    /// What the session has cost, for a person.
    pub(super) fn session_cost(&self) -> SessionCostAnswer {
        let mut text = format!(
            "Total cost:            ${:.4}\nTotal duration (API):  {:.1}s\nUsage by model:",
            self.session.costs.total_usd(),
            self.session.api_duration.as_secs_f64(),
        );
        for (model, usage) in self.session.costs.model_usages().iter() {
            text.push_str(&format!(
                "\n{model:>21}:  {} input, {} output, {} cache read, {} cache write",
                usage.input_tokens.unwrap_or(0),
                usage.output_tokens.unwrap_or(0),
                usage.cache_read_input_tokens.unwrap_or(0),
                usage.cache_creation_input_tokens.unwrap_or(0),
            ));
        }
        SessionCostAnswer {
            text: text.into(),
            ..SessionCostAnswer::default()
        }
    }

    /// What the session has used.
    pub(super) fn usage(&self) -> UsageAnswer {
        UsageAnswer {
            session: Some(SessionTotals {
                total_cost_usd: Some(Number::from(self.session.costs.total_usd())),
                total_api_duration_ms: Some(millis(self.session.api_duration)),
                total_duration_ms: Some(millis(self.started.elapsed())),
                total_lines_added: Some(0),
                total_lines_removed: Some(0),
                model_usage: Some(self.session.costs.model_usages()),
                ..SessionTotals::default()
            }),
            subscription_type: Nullable::Null,
            rate_limits_available: Some(false),
            rate_limits: Nullable::Null,
            behaviors: Nullable::Null,
            ..UsageAnswer::default()
        }
    }

    /// The settings in force, and where they come from.
    pub(super) fn settings(&self) -> SettingsAnswer {
        let mut effective = serde_json::Map::new();
        let mut sources = Vec::new();
        for file in &self.config.settings {
            if let Ok(Value::Object(settings)) = serde_json::from_str(&file.text) {
                sources.extend(raw(
                    &json!({"source": file.source.as_str(), "settings": settings}),
                ));
                effective.extend(settings);
            }
        }
        let effort = crate::model::catalogue::effort(&self.session.model, &self.config.model);
        SettingsAnswer {
            effective: raw(&Value::Object(effective)),
            sources: Some(sources),
            applied: raw(&json!({"model": self.session.model, "effort": effort})),
            ..SettingsAnswer::default()
        }
    }

    /// The rules in force.
    pub(super) fn permission_rules(&self) -> PermissionRulesAnswer {
        let policy = &self.session.policy;
        let rules: Vec<_> = policy
            .entries()
            .iter()
            .map(|entry| {
                json!({
                    "rule": entry.rule.to_string(),
                    "behavior": entry.behavior.as_str(),
                    "source": entry.source.as_str(),
                })
            })
            .collect();
        let directories: Vec<_> = policy
            .directories()
            .iter()
            .map(|directory| json!({"path": directory.path, "source": directory.source.as_str()}))
            .collect();
        PermissionRulesAnswer {
            state: raw(&json!({
                "rules": rules,
                "workspaceDirectories": directories,
                "originalCwd": self.config.cwd,
                "managedOnly": policy.only_managed_rules,
            })),
            ..PermissionRulesAnswer::default()
        }
    }

    /// Gives the session a title.
    pub(in crate::engine) fn rename(&mut self, title: &Text) {
        self.session.title = Some(title.detached());
        self.record_title(title);
        let line = towline_protocol::SessionTitleChanged {
            title: Nullable::Value(title.clone()),
            session_id: Some(self.session.id.clone()),
            uuid: Some(lines::new_uuid()),
            ..towline_protocol::SessionTitleChanged::default()
        };
        self.send(lines::system(System::SessionTitleChanged(Box::new(line))));
    }
}

fn category(part: (&str, &str, u64, &'static str), kind: &'static str) -> ContextCategory {
    ContextCategory {
        id: Some(part.0.into()),
        name: part.1.into(),
        tokens: part.2,
        color: Some(Text::from_static(part.3)),
        kind: Some(Text::from_static(kind)),
        is_deferred: None,
        extra: towline_protocol::Extra::default(),
    }
}

/// Ten rows of ten squares, each a hundredth of the context.
fn grid(categories: &[ContextCategory], most: u64) -> Vec<Vec<GridSquare>> {
    let mut squares = Vec::with_capacity(100);
    for category in categories {
        let count = (category.tokens * 100).div_ceil(most.max(1));
        for _ in 0..count {
            squares.push(GridSquare {
                color: category.color.clone().unwrap_or_default(),
                is_filled: category.kind.as_deref() == Some("used"),
                category_name: category.name.clone(),
                tokens: category.tokens,
                percentage: (category.tokens * 100 / most.max(1)).into(),
                square_fullness: 1_u64.into(),
                extra: towline_protocol::Extra::default(),
            });
        }
    }
    squares.truncate(100);
    let mut rows = Vec::new();
    while !squares.is_empty() {
        let rest = squares.split_off(squares.len().min(10));
        rows.push(std::mem::replace(&mut squares, rest));
    }
    rows
}

fn raw(value: &Value) -> Option<Json> {
    Json::of(value).ok()
}
