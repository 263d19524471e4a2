//! What is kept of a frame besides its text, so that it can be asked for: questions, turns, and clients' ids of inputs.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::{number, turn::turn_of};
use crate::{Content, Frame, Kind};

/// Writes what follows from a frame, in the transaction that writes the frame. A body that cannot be read gives nothing.
pub(super) fn derive(connection: &Connection, session: i64, frame: &Frame) -> rusqlite::Result<()> {
    match frame.kind {
        Kind::Line => derive_turn(connection, session, frame),
        Kind::Input | Kind::Question | Kind::Answer => derive_said(connection, session, frame),
        Kind::Note => Ok(()),
    }
}

fn derive_said(connection: &Connection, session: i64, frame: &Frame) -> rusqlite::Result<()> {
    let (seq, at) = (number(frame.seq), number(frame.at));
    match frame.content() {
        Content::Input(input) => {
            if let Some(id) = input.client_message_id {
                let sql = "INSERT INTO inputs (session, seq, client_id) VALUES (?1, ?2, ?3)";
                let mut insert = connection.prepare_cached(sql)?;
                insert.execute(params![session, seq, id.as_str()])?;
            }
        }
        Content::Question(question) => {
            let mut insert = connection.prepare_cached(
                "INSERT INTO questions (session, asked_seq, asked_at, id, tool) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let tool = question.tool_name.as_str();
            insert.execute(params![session, seq, at, question.id, tool])?;
        }
        Content::Answer(answer) => {
            // The first answer counts.
            let mut update = connection.prepare_cached(
                "UPDATE questions SET answered_seq = ?3, answered_at = ?4, outcome = ?5, answered_by = ?6, message = ?7
                 WHERE session = ?1 AND id = ?2 AND answered_seq IS NULL",
            )?;
            let outcome = name(&answer.outcome);
            update.execute(params![
                session,
                answer.id,
                seq,
                at,
                outcome,
                answer.by,
                answer.message
            ])?;
        }
        Content::Line(_) | Content::Note(_) | Content::Unreadable => {}
    }
    Ok(())
}

fn derive_turn(connection: &Connection, session: i64, frame: &Frame) -> rusqlite::Result<()> {
    let mut failed = None;
    let counted = turn_of(frame, || {
        last_total(connection, session).unwrap_or_else(|error| {
            failed = Some(error);
            0.0
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let Some(counted) = counted else {
        return Ok(());
    };
    let turn = counted.turn;
    let mut insert = connection.prepare_cached(
        "INSERT INTO turns (session, seq, at, model, cost_usd, total_cost_usd,
             input_tokens, cached_tokens, cache_written_tokens, output_tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    insert.execute(params![
        session,
        number(turn.seq),
        number(turn.at),
        turn.model,
        turn.cost_usd,
        counted.total_cost_usd,
        number(turn.input_tokens),
        number(turn.cached_tokens),
        number(turn.cache_written_tokens),
        number(turn.output_tokens),
    ])?;
    Ok(())
}

/// The last total that a result named. One of zero says nothing: so ends a session that could not be resumed.
fn last_total(connection: &Connection, session: i64) -> rusqlite::Result<f64> {
    let mut select = connection.prepare_cached(
        "SELECT total_cost_usd FROM turns WHERE session = ?1 AND total_cost_usd > 0 ORDER BY seq DESC LIMIT 1",
    )?;
    let total = select.query_row([session], |row| row.get(0)).optional()?;
    Ok(total.unwrap_or(0.0))
}

/// The name that a value has in JSON.
fn name(value: &impl Serialize) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    value.as_str().map(str::to_owned)
}
