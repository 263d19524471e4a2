//! Reads one table of a script: each key is asked for by name, and what nobody asked for is an error.

use super::{
    Json, ScriptError,
    error::did_you_mean,
    node::{Node, Value},
};

/// The keys of one table that were not taken yet.
pub(super) struct Fields<'a> {
    part: String,
    line: Option<usize>,
    left: Vec<(&'a str, &'a Node)>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(node: &'a Node, part: &str) -> Result<Self, ScriptError> {
        let Value::Table(entries) = &node.value else {
            let problem = format!("must be a table, is {}", node.kind());
            return Err(ScriptError::new(node.line, part, problem));
        };
        Ok(Self {
            part: part.to_owned(),
            line: node.line,
            left: entries
                .iter()
                .map(|(key, node)| (key.as_str(), node))
                .collect(),
            known: Vec::new(),
        })
    }

    /// Takes a key, if it is there.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.known.push(name);
        let at = self.left.iter().position(|(key, _)| *key == name)?;
        let (name, node) = self.left.remove(at);
        let part = self.part.clone();
        Some(Field { part, name, node })
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, ScriptError> {
        self.take(name).map(|field| field.text()).transpose()
    }

    pub(super) fn whole(&mut self, name: &'static str) -> Result<Option<u64>, ScriptError> {
        self.take(name).map(|field| field.whole()).transpose()
    }

    pub(super) fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, ScriptError> {
        self.take(name).map(|field| field.boolean()).transpose()
    }

    /// The keys that are still there, in the order of the file.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.left.iter().map(|(name, _)| *name)
    }

    /// Every key was asked for.
    pub(super) fn finish(self) -> Result<(), ScriptError> {
        self.unknown().map_or(Ok(()), Err)
    }

    /// An error about the first key that nobody asked for.
    pub(super) fn unknown(&self) -> Option<ScriptError> {
        let (name, node) = self.left.first()?;
        let problem = format!("unknown key `{name}`, {}", did_you_mean(name, &self.known));
        Some(ScriptError::new(node.line, &self.part, problem))
    }

    /// An error about the table as a whole.
    pub(super) fn problem(&self, problem: impl Into<String>) -> ScriptError {
        ScriptError::new(self.line, &self.part, problem)
    }
}

/// The value of one key.
pub(super) struct Field<'a> {
    part: String,
    pub(super) name: &'a str,
    pub(super) node: &'a Node,
}

impl<'a> Field<'a> {
    pub(super) fn text(&self) -> Result<String, ScriptError> {
        match &self.node.value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.must_be("a string")),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, ScriptError> {
        match self.node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.must_be("`true` or `false`")),
        }
    }

    pub(super) fn whole(&self) -> Result<u64, ScriptError> {
        match &self.node.value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        }
        .ok_or_else(|| self.must_be("a whole number that is not negative"))
    }

    pub(super) fn list(&self) -> Result<&'a [Node], ScriptError> {
        match &self.node.value {
            Value::List(nodes) => Ok(nodes),
            _ => Err(self.must_be("a list")),
        }
    }

    pub(super) fn table(&self) -> Result<Fields<'a>, ScriptError> {
        Fields::of(self.node, &self.inner())
    }

    /// An object, as a table or as a string that holds JSON (TOML has no null).
    pub(super) fn object(&self) -> Result<Json, ScriptError> {
        let json = match &self.node.value {
            Value::Text(text) => Json::parse(text)
                .map_err(|error| self.problem(format!("`{}` is not JSON: {error}", self.name)))?,
            _ => Json::of(self.node),
        };
        if json.is_object() {
            Ok(json)
        } else {
            Err(self.must_be("a table, or a string that holds a JSON object"))
        }
    }

    /// A table of strings, such as headers.
    pub(super) fn texts(&self) -> Result<Vec<(String, String)>, ScriptError> {
        let Value::Table(entries) = &self.node.value else {
            return Err(self.must_be("a table of strings"));
        };
        let texts = entries.iter().map(|(key, node)| match &node.value {
            Value::Text(text) => Ok((key.clone(), text.clone())),
            Value::Number(number) => Ok((key.clone(), number.to_string())),
            _ => {
                let problem = format!("`{key}` must be a string, is {}", node.kind());
                Err(ScriptError::new(node.line, &self.inner(), problem))
            }
        });
        texts.collect()
    }

    /// How parts inside this one are called.
    pub(super) fn inner(&self) -> String {
        if self.part.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}, {}", self.part, self.name)
        }
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ScriptError> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let hint = did_you_mean(&text, &known);
            self.problem(format!("unknown `{}` `{text}`, {hint}", self.name))
        })
    }

    pub(super) fn must_be(&self, what: &str) -> ScriptError {
        let kind = self.node.kind();
        self.problem(format!("`{}` must be {what}, is {kind}", self.name))
    }

    pub(super) fn problem(&self, problem: impl Into<String>) -> ScriptError {
        ScriptError::new(self.node.line, &self.part, problem)
    }
}
