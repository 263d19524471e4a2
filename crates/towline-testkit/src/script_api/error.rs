//! What is wrong with a script: in which file and line, at which field, and what to write instead.

use std::fmt;

/// A script that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    file: Option<String>,
    line: Option<usize>,
    /// Which part of the script, such as `reply 2, content 1`; empty for the whole.
    part: String,
    problem: String,
}

impl ScriptError {
    pub(super) fn new(line: Option<usize>, part: &str, problem: impl Into<String>) -> Self {
        Self {
            file: None,
            line,
            part: part.to_owned(),
            problem: problem.into(),
        }
    }

    pub(super) fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    pub(super) fn in_part(mut self, part: &str) -> Self {
        if self.part.is_empty() {
            part.clone_into(&mut self.part);
        }
        self
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if !self.part.is_empty() {
            write!(f, "{}: ", self.part)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for ScriptError {}

/// `did you mean …?` if one of the known names is near, else the list of them.
pub(super) fn did_you_mean(name: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance);
    let longer = known
        .iter()
        .find(|candidate| name.len() > 2 && candidate.starts_with(name));
    match nearest {
        // A third of the letters may be wrong, as in rustc.
        Some((distance, candidate)) if distance <= name.len().max(3) / 3 => {
            format!("did you mean `{candidate}`?")
        }
        _ if let Some(candidate) = longer => format!("did you mean `{candidate}`?"),
        _ => {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            format!("known are {}", known.join(", "))
        }
    }
}
