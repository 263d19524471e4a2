//! Owns reading the items of `items` out of a JSON tree: the reference every
//! implementation is compared with, and the reader of the parts that peers leave
//! untyped.

use crate::items::Sink;

/// What the reader needs of a JSON tree; serde_json's and sonic-rs's have it.
pub trait Tree: Sized {
    fn child(&self, key: &str) -> Option<&Self>;
    fn text(&self) -> Option<&str>;
    fn unsigned(&self) -> Option<u64>;
    fn double(&self) -> Option<f64>;
    fn boolean(&self) -> Option<bool>;
    fn each_entry(&self, visit: impl FnMut(&str, &Self));
    fn each_element(&self, visit: impl FnMut(&Self));

    fn child_text(&self, key: &str) -> Option<&str> {
        self.child(key).and_then(Self::text)
    }
}

pub fn read_line<T: Tree, S: Sink>(line: &T, sink: &mut S) {
    let kind = line.child_text("type").unwrap_or("");
    // One walk over the entries is cheaper than a lookup for each key.
    line.each_entry(|key, value| match (key, kind) {
        (
            "session_id" | "uuid" | "parent_tool_use_id" | "request_id" | "api_message_id"
            | "tool_use_id",
            _,
        ) => sink.maybe_id(value.text()),
        ("message", "assistant" | "user") => read_message(value, sink),
        ("event", "stream_event") => read_event(value, sink),
        ("result", "result") => read_text(value.text(), sink),
        ("usage", "result") => read_usage(value, sink),
        ("request", "control_request") => read_request(value, sink),
        ("response", "control_response") => sink.maybe_id(value.child_text("request_id")),
        _ => {}
    });
}

/// The items of a peek: the kind as a tool, session and parent as ids.
pub fn read_peek<T: Tree, S: Sink>(line: &T, sink: &mut S) {
    sink.tool(line.child_text("type").unwrap_or(""));
    sink.maybe_id(line.child_text("session_id"));
    sink.maybe_id(line.child_text("parent_tool_use_id"));
}

pub fn read_event<T: Tree, S: Sink>(event: &T, sink: &mut S) {
    event.each_entry(|key, value| match key {
        "message" => read_message(value, sink),
        "content_block" => read_block(value, sink),
        "usage" => read_usage(value, sink),
        "delta" => value.each_entry(|key, value| {
            if matches!(key, "text" | "thinking" | "partial_json") {
                read_text(value.text(), sink);
            }
        }),
        _ => {}
    });
}

pub fn read_message<T: Tree, S: Sink>(message: &T, sink: &mut S) {
    message.each_entry(|key, value| match key {
        "id" => sink.maybe_id(value.text()),
        "usage" => read_usage(value, sink),
        "content" => match value.text() {
            Some(text) => sink.text(text),
            None => value.each_element(|block| read_block(block, sink)),
        },
        _ => {}
    });
}

fn read_block<T: Tree, S: Sink>(block: &T, sink: &mut S) {
    match block.child_text("type").unwrap_or("") {
        "text" => read_text(block.child_text("text"), sink),
        "thinking" => read_text(block.child_text("thinking"), sink),
        "tool_use" => {
            sink.maybe_id(block.child_text("id"));
            read_tool(block.child_text("name"), block.child("input"), sink);
        }
        "tool_result" => {
            sink.maybe_id(block.child_text("tool_use_id"));
            if let Some(content) = block.child("content") {
                read_result_content(content, sink);
            }
        }
        _ => {}
    }
}

fn read_result_content<T: Tree, S: Sink>(content: &T, sink: &mut S) {
    match content.text() {
        Some(text) => sink.text(text),
        None => content.each_element(|block| read_result_block(block, sink)),
    }
}

pub fn read_result_block<T: Tree, S: Sink>(block: &T, sink: &mut S) {
    if block.child_text("type") == Some("text") {
        read_text(block.child_text("text"), sink);
    }
}

fn read_request<T: Tree, S: Sink>(request: &T, sink: &mut S) {
    sink.maybe_id(request.child_text("tool_use_id"));
    if request.child_text("subtype") == Some("can_use_tool") {
        read_tool(
            request.child_text("tool_name"),
            request.child("input"),
            sink,
        );
    }
}

fn read_tool<T: Tree, S: Sink>(name: Option<&str>, input: Option<&T>, sink: &mut S) {
    if let Some(name) = name {
        sink.tool(name);
    }
    if let Some(input) = input {
        read_leaves(input, sink);
    }
}

pub fn read_leaves<T: Tree, S: Sink>(value: &T, sink: &mut S) {
    if let Some(text) = value.text() {
        sink.leaf_text(text);
    } else if let Some(number) = value.double() {
        sink.leaf_number(number);
    } else if let Some(boolean) = value.boolean() {
        sink.leaf_bool(boolean);
    } else {
        value.each_entry(|key, value| {
            sink.key(key);
            read_leaves(value, sink);
        });
        value.each_element(|value| read_leaves(value, sink));
    }
}

pub fn read_usage<T: Tree, S: Sink>(usage: &T, sink: &mut S) {
    usage.each_entry(|key, value| {
        if matches!(
            key,
            "input_tokens"
                | "output_tokens"
                | "cache_read_input_tokens"
                | "cache_creation_input_tokens"
        ) && let Some(count) = value.unsigned()
        {
            sink.tokens(count);
        }
    });
}

fn read_text<S: Sink>(text: Option<&str>, sink: &mut S) {
    if let Some(text) = text {
        sink.text(text);
    }
}

impl Tree for serde_json::Value {
    fn child(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }
    fn text(&self) -> Option<&str> {
        self.as_str()
    }
    fn unsigned(&self) -> Option<u64> {
        self.as_u64()
    }
    fn double(&self) -> Option<f64> {
        self.as_f64()
    }
    fn boolean(&self) -> Option<bool> {
        self.as_bool()
    }
    fn each_entry(&self, mut visit: impl FnMut(&str, &Self)) {
        for (key, value) in self.as_object().into_iter().flatten() {
            visit(key, value);
        }
    }
    fn each_element(&self, mut visit: impl FnMut(&Self)) {
        for value in self.as_array().into_iter().flatten() {
            visit(value);
        }
    }
}
