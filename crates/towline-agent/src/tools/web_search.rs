//! `WebSearch`: searches the web with the search tool that the model's API has. Without one there is no search.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Outcome, Place, Tool};

/// Searches the web.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebSearch {
    /// What to search for.
    query: String,
    /// Only results from these domains.
    #[serde(default)]
    allowed_domains: Vec<String>,
    /// No results from these domains.
    #[serde(default)]
    blocked_domains: Vec<String>,
    /// How many results are enough (document 001 §2.7); the API decides by itself.
    #[serde(rename = "num_results")]
    _num_results: Option<u64>,
}

/// What to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchQuery {
    /// The words.
    pub(crate) query: String,
    /// Only these domains, if there are any.
    pub(crate) allowed_domains: Vec<String>,
    /// Not these domains.
    pub(crate) blocked_domains: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchAnswer {
    /// Links and words, in the order in which they came.
    pub(crate) parts: Vec<SearchPart>,
    /// How often was searched.
    pub(crate) searches: u64,
}

/// A part of what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchPart {
    /// The results of one search.
    Links {
        /// The id of the API's own call.
        tool_use_id: String,
        /// Title and address of each.
        links: Vec<(String, String)>,
    },
    /// What the model says about it, or why a search failed.
    Text(String),
}

impl Tool for WebSearch {
    const NAME: &'static str = "WebSearch";
    const DESCRIPTION: &'static str = "Searches the web and gives links with a summary. For what is newer than you \
know, or what you are not sure of. Name the sources you used in your answer.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        if self.query.trim().chars().count() < 2 {
            return Outcome::misuse("the query is too short: give at least two characters");
        }
        if !self.allowed_domains.is_empty() && !self.blocked_domains.is_empty() {
            return Outcome::misuse(
                "allowed_domains and blocked_domains cannot be given together: leave one out",
            );
        }
        let Some(search) = &place.search else {
            return Outcome::error(
                "this model cannot search the web; fetch a page with WebFetch if its address is known",
            );
        };
        let began = Instant::now();
        let query = SearchQuery {
            query: self.query.clone(),
            allowed_domains: self.allowed_domains,
            blocked_domains: self.blocked_domains,
        };
        match search.ask(query).await {
            Ok(answer) => Outcome::new(
                text(&self.query, &answer).as_str(),
                json!({
                    "query": self.query,
                    "results": answer.parts.iter().map(part).collect::<Vec<_>>(),
                    "durationSeconds": began.elapsed().as_secs_f64(),
                    "searchCount": answer.searches,
                }),
            ),
            Err(error) => Outcome::error(format!("the search failed: {error}")),
        }
    }
}

fn text(query: &str, answer: &SearchAnswer) -> String {
    let mut text = format!("Web search results for query: \"{query}\"\n\n");
    for part in &answer.parts {
        match part {
            SearchPart::Links { links, .. } if links.is_empty() => text.push_str("No links found."),
            SearchPart::Links { links, .. } => {
                text.push_str(&format!("Links: {}", as_json(links)));
            }
            SearchPart::Text(words) => text.push_str(words),
        }
        text.push_str("\n\n");
    }
    text.push_str("\nREMINDER: name the sources above that you use, as Markdown links.");
    if text.chars().nth(MOST).is_some() {
        text = text.chars().take(MOST).collect();
        text.push_str("\n[cut here]");
    }
    text
}

fn part(part: &SearchPart) -> Value {
    match part {
        SearchPart::Links { tool_use_id, links } => {
            json!({"tool_use_id": tool_use_id, "content": as_json(links)})
        }
        SearchPart::Text(words) => json!(words),
    }
}

fn as_json(links: &[(String, String)]) -> Value {
    let links = links.iter();
    links
        .map(|(title, url)| json!({"title": title, "url": url}))
        .collect()
}

/// The most that the model is shown, in characters.
const MOST: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::super::{SideCall, ToolCall};
    use super::*;

    async fn search(place: &Place, input: Value) -> Outcome {
        match ToolCall::read("WebSearch", &input).unwrap() {
            Ok(call) => call.run(place).await,
            Err(outcome) => outcome,
        }
    }

    #[tokio::test]
    async fn links_and_words_are_shown_in_the_shape_of_the_real_cli() {
        let folder = tempfile::tempdir().unwrap();
        let (mut place, _events) = Place::in_folder(folder.path());
        place.search = Some(SideCall::new(|query: SearchQuery| async move {
            assert_eq!(query.allowed_domains, ["example.org"]);
            Ok(SearchAnswer {
                parts: vec![
                    SearchPart::Links {
                        tool_use_id: "srvtoolu_1".to_owned(),
                        links: vec![("Cats".to_owned(), "https://example.org/".to_owned())],
                    },
                    SearchPart::Text("About cats.".to_owned()),
                ],
                searches: 1,
            })
        }));
        let input = json!({"query": "cats", "allowed_domains": ["example.org"]});
        let mut outcome = search(&place, input).await;
        assert_eq!(
            outcome.content.text().as_str(),
            "Web search results for query: \"cats\"\n\nLinks: [{\"title\":\"Cats\",\"url\":\"https://example.org/\"}]\n\n\
             About cats.\n\n\nREMINDER: name the sources above that you use, as Markdown links."
        );
        assert!(outcome.data["durationSeconds"].is_number());
        outcome.data["durationSeconds"] = json!(0);
        assert_eq!(
            *outcome.data,
            json!({
                "query": "cats",
                "results": [
                    {"tool_use_id": "srvtoolu_1", "content": [{"title": "Cats", "url": "https://example.org/"}]},
                    "About cats.",
                ],
                "durationSeconds": 0,
                "searchCount": 1,
            })
        );
    }

    #[tokio::test]
    async fn what_cannot_be_searched_is_a_clear_error() {
        let folder = tempfile::tempdir().unwrap();
        let (mut place, _events) = Place::in_folder(folder.path());
        let plain = json!({"query": "cats"});
        let both = json!({"query": "cats", "allowed_domains": ["a"], "blocked_domains": ["b"]});
        let cases = [
            (plain.clone(), "cannot search the web"),
            (json!({"query": "c"}), "too short"),
            (both, "leave one out"),
        ];
        for (input, words) in cases {
            let outcome = search(&place, input).await;
            assert_eq!(outcome.is_error, Some(true));
            assert!(
                outcome.data.as_str().unwrap().contains(words),
                "{outcome:?}"
            );
        }
        place.search = Some(SideCall::new(|_| async { Err("overloaded".to_owned()) }));
        let outcome = search(&place, plain).await;
        assert_eq!(*outcome.data, json!("Error: the search failed: overloaded"));
    }
}
