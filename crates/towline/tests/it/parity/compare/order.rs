//! One order for lines that have none: those where the real CLI itself is now first, now second.

use super::super::recording::Line;

/// The lines in an order that does not depend on who was faster.
pub(super) fn in_order(lines: &[Line]) -> Vec<Line> {
    let (late, mut lines): (Vec<Line>, Vec<Line>) = lines.iter().cloned().partition(is_worked_out);
    lines.extend(late);
    lines
}

/// What fills the context is worked out beside the turn: in the trace `control-06g_host_cancel` the answer came behind
/// the result, in other runs of CLI 2.1.325 before it.
fn is_worked_out(line: &Line) -> bool {
    line.kind == "control_response/success"
        && line
            .value
            .pointer("/response/response/categories")
            .is_some()
}
