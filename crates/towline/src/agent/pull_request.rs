//! `--from-pr`: the sessions that made a pull request, by the links in their transcripts.

use towline_agent::PullRequest as Made;
use towline_protocol::transcript::{PrLink, Record};
use towline_store::{Entry, Home, ListQuery, Scope, SessionSummary};

use super::documents::Documents;

/// Which pull request is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PullRequest {
    /// Any: a person is to choose.
    Any,
    /// That of this number.
    Number(u64),
    /// That at this address.
    At(Made),
}

impl PullRequest {
    /// Reads a number or an address.
    pub(super) fn read(value: &str) -> Option<Self> {
        if let Ok(number) = value.strip_prefix('#').unwrap_or(value).parse() {
            return Some(Self::Number(number));
        }
        Made::at(value).map(Self::At)
    }

    fn fits(&self, link: &PrLink) -> bool {
        match self {
            Self::Any => true,
            Self::Number(number) => link.pr_number == Some(*number),
            Self::At(made) => {
                let url = link.pr_url.as_deref().and_then(Made::at);
                url.is_some_and(|url| url.url.eq_ignore_ascii_case(&made.url))
            }
        }
    }
}

impl std::fmt::Display for PullRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any pull request"),
            Self::Number(number) => write!(f, "pull request {number}"),
            Self::At(made) => f.write_str(&made.url),
        }
    }
}

/// The sessions of the folder that made it, the newest first; at most so many.
pub(super) fn sessions(
    documents: &Documents,
    wanted: &PullRequest,
    most: usize,
) -> anyhow::Result<Vec<SessionSummary>> {
    let all = listing(&documents.home, documents)?;
    let linked = all.into_iter().filter(|summary| is_linked(summary, wanted));
    Ok(linked.take(most).collect())
}

fn listing(home: &Home, documents: &Documents) -> anyhow::Result<Vec<SessionSummary>> {
    let listing = home.list(&ListQuery {
        scope: Scope::Project(documents.folder.clone()),
        ..ListQuery::default()
    })?;
    Ok(listing.sessions)
}

/// Whether a transcript has such a link. One that cannot be read has none that could be gone on with.
fn is_linked(summary: &SessionSummary, wanted: &PullRequest) -> bool {
    let Ok(mut records) = summary.session.records() else {
        return false;
    };
    records.any(|entry| match entry {
        Ok(Entry::Record(located)) => match &located.record {
            Record::PrLink(link) => wanted.fits(link),
            _ => false,
        },
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_meant_by_its_number_or_its_address() {
        let link = |number: u64, url: &str| PrLink {
            pr_number: Some(number),
            pr_url: Some(url.into()),
            ..PrLink::default()
        };
        let links = [
            link(12, "https://github.com/o/r/pull/12"),
            link(12, "https://github.com/o/other/pull/12"),
            link(13, "https://github.com/o/r/pull/13"),
            PrLink::default(),
        ];
        for (value, expected) in [
            ("12", Some([true, true, false, false])),
            ("#13", Some([false, false, true, false])),
            (
                "https://github.com/O/r/pull/12/files",
                Some([true, false, false, false]),
            ),
            ("twelve", None),
            ("https://github.com/o/r", None),
            ("-1", None),
        ] {
            let wanted = PullRequest::read(value);
            let fits = wanted.map(|wanted| links.each_ref().map(|link| wanted.fits(link)));
            assert_eq!(fits, expected, "{value}");
        }
        assert!(links.iter().all(|link| PullRequest::Any.fits(link)));
    }
}
