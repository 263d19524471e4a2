//! For whoever starts and watches programs: whether the bridge works, and figures about it (in the text format of
//! Prometheus, behind the token like everything that tells something).

use std::{sync::Arc, sync::atomic::AtomicU64, time::Duration};

use axum::{
    Extension,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::hub::Figures;

use super::{
    Site,
    api::{ApiResult, OfBridge, Problem},
};

/// Whether it works: 503 while the log cannot be written, since nothing new is taken in then. Why is not said here: a
/// path may be in it, and anybody can ask.
#[utoipa::path(get, path = "/healthz", security(()), responses((status = 200, content_type = "text/plain"), (status = 503, content_type = "text/plain")))]
pub(super) async fn healthz(Extension(site): Extension<Arc<Site>>) -> Response {
    let figures = tokio::time::timeout(PATIENCE, site.desk.figures()).await;
    let problem = match figures {
        Ok(Ok(Figures { trouble: None, .. })) => return "ok\n".into_response(),
        Ok(Ok(_)) => "the log cannot be written\n",
        Ok(Err(_)) => "the bridge is ending\n",
        Err(_) => "the bridge does not answer\n",
    };
    (StatusCode::SERVICE_UNAVAILABLE, problem).into_response()
}

/// The figures.
#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "application/openmetrics-text"), OfBridge))]
pub(super) async fn metrics(Extension(site): Extension<Arc<Site>>) -> ApiResult<Response> {
    let figures = site.desk.figures().await?;
    let text = write(&figures, site.desk.audit_losses()).map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "metrics",
            error.to_string(),
        )
    })?;
    Ok(([(header::CONTENT_TYPE, FORMAT)], text).into_response())
}

fn write(figures: &Figures, audit_losses: u64) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::with_prefix("towline");
    let sessions = Family::<[(&'static str, String); 1], UnsignedGauge>::default();
    for (status, count) in &figures.sessions {
        sessions
            .get_or_create(&[("status", status.clone())])
            .set(*count);
    }
    registry.register(
        "sessions",
        "Sessions that were not stopped, by what they do",
        sessions,
    );
    let gauges = [
        ("agents", "Agents that run", figures.agents),
        ("viewers", "Connections that watch", figures.viewers),
        (
            "log_backlog",
            "Writes that wait for the log",
            figures.backlog,
        ),
        (
            "log_trouble",
            "Whether the log cannot be written: 1 if so",
            u64::from(figures.trouble.is_some()),
        ),
        (
            "audit_losses",
            "Entries that are missing in the audit file now",
            audit_losses,
        ),
    ];
    for (name, help, value) in gauges {
        let gauge = UnsignedGauge::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    }
    let counters = [
        (
            "frames_written",
            "Frames that were written to the log",
            figures.frames_written,
        ),
        (
            "items_shown",
            "Items that were put into viewers' queues",
            figures.items_shown,
        ),
    ];
    for (name, help, value) in counters {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

type UnsignedGauge = Gauge<u64, AtomicU64>;

/// What the text is.
const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// How long the bridge may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::{Figures, write};

    #[test]
    fn the_figures_are_in_the_text_that_prometheus_reads() {
        let figures = Figures {
            sessions: [("idle".to_owned(), 2), ("running".to_owned(), 1)].into(),
            agents: 3,
            viewers: 4,
            frames_written: 5,
            items_shown: 6,
            backlog: 7,
            trouble: Some("disk full".to_owned()),
        };
        let text = write(&figures, 8).unwrap();
        let mut lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        lines.sort_unstable();
        let expected = [
            "towline_agents 3",
            "towline_audit_losses 8",
            "towline_frames_written_total 5",
            "towline_items_shown_total 6",
            "towline_log_backlog 7",
            "towline_log_trouble 1",
            "towline_sessions{status=\"idle\"} 2",
            "towline_sessions{status=\"running\"} 1",
            "towline_viewers 4",
        ];
        assert_eq!(lines, expected);
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
