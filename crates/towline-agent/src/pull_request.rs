//! Pull requests by their addresses, and the one that a command has made (pure).

use serde_json::Value;

/// A pull request.
///
/// ```
/// use towline_agent::PullRequest;
///
/// let made = PullRequest::at("https://github.com/towline/towline/pull/12/files").unwrap();
/// assert_eq!((made.repository.as_str(), made.number), ("towline/towline", 12));
/// assert_eq!(made.url, "https://github.com/towline/towline/pull/12");
/// assert_eq!(PullRequest::at("https://github.com/towline/towline"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its address, without what may follow the number.
    pub url: String,
    /// Its repository, such as `owner/name`.
    pub repository: String,
    /// Its number.
    pub number: u64,
}

impl PullRequest {
    /// The pull request at an address.
    pub fn at(address: &str) -> Option<Self> {
        let rest = address.strip_prefix("https://")?;
        let mut parts = rest.split(['/', '?', '#']);
        let (host, owner, name) = (parts.next()?, parts.next()?, parts.next()?);
        let is_pull_request = parts.next()? == "pull";
        let number: u64 = parts.next()?.parse().ok()?;
        let is_name = |part: &str| {
            let fits =
                |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
            !part.is_empty() && part.chars().all(fits)
        };
        let fits = is_pull_request && [host, owner, name].into_iter().all(is_name);
        fits.then(|| Self {
            url: format!("https://{host}/{owner}/{name}/pull/{number}"),
            repository: format!("{owner}/{name}"),
            number,
        })
    }

    /// The pull request that a shell command has made: `gh` prints its address, and so CLI 2.1.325 finds it too.
    pub(crate) fn made_by(tool: &str, input: &Value, output: &str) -> Option<Self> {
        let command = input.get("command").and_then(Value::as_str)?;
        let words: Vec<&str> = command.split_whitespace().collect();
        let makes = words
            .windows(3)
            .any(|words| words == ["gh", "pr", "create"]);
        if tool != "Bash" || !makes {
            return None;
        }
        // The last one: what comes before may be about others.
        output.split_whitespace().rev().find_map(Self::at)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::PullRequest;

    #[test]
    fn only_an_address_of_a_pull_request_is_one() {
        for (address, expected) in [
            ("https://github.com/o/r/pull/12", Some(12)),
            (
                "https://git.example.org/o/r.js/pull/7#issuecomment-1",
                Some(7),
            ),
            ("https://github.com/o/r/pull/12?w=1", Some(12)),
            ("http://github.com/o/r/pull/12", None),
            ("https://github.com/o/r/pull/", None),
            ("https://github.com/o/r/pull/x", None),
            ("https://github.com/o/r/pull/99999999999999999999999", None),
            ("https://github.com/o/r/issues/12", None),
            ("https://github.com//r/pull/12", None),
            ("https://github.com/o\u{1b}/r/pull/12", None),
            ("https://", None),
            ("", None),
        ] {
            let found = PullRequest::at(address).map(|found| found.number);
            assert_eq!(found, expected, "{address}");
        }
    }

    #[test]
    fn a_command_that_makes_a_pull_request_has_made_the_one_it_prints_last() {
        let printed = "Creating pull request…\nhttps://github.com/o/r/pull/11 is open\nhttps://github.com/o/r/pull/12\n";
        for (tool, command, output, expected) in [
            ("Bash", "gh pr create --fill", printed, Some(12)),
            ("Bash", "git push && gh pr create", printed, Some(12)),
            ("Bash", "gh pr create", "failed", None),
            ("Bash", "gh pr list", printed, None),
            ("Bash", "echo done", printed, None),
            ("Read", "gh pr create", printed, None),
        ] {
            let made = PullRequest::made_by(tool, &json!({"command": command}), output);
            assert_eq!(made.map(|made| made.number), expected, "{tool} {command}");
        }
        assert_eq!(PullRequest::made_by("Bash", &json!(5), printed), None);
    }
}
