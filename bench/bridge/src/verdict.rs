//! Figures of both servers, held against bounds and printed.

use crate::report::Table;

/// One thing of the peer's and of ours.
#[derive(Clone, Copy, Debug)]
pub struct Pair<T> {
    pub peer: T,
    pub ours: T,
}

/// All figures, and whether they are good enough.
#[derive(Default)]
pub struct Verdict {
    rows: Vec<Vec<String>>,
    misses: usize,
}

impl Verdict {
    /// A figure of both, without a bound.
    pub fn show(&mut self, what: &str, figures: Pair<String>) {
        self.row(what, figures.peer, figures.ours, String::new());
    }

    /// A figure of both that is held against a bound.
    pub fn judge(&mut self, what: &str, figures: Pair<String>, bound: &str, is_good: bool) {
        self.misses += usize::from(!is_good);
        let verdict = if is_good { "good" } else { "MISSED" };
        self.row(
            what,
            figures.peer,
            figures.ours,
            format!("{bound}: {verdict}"),
        );
    }

    pub fn is_good(&self) -> bool {
        self.misses == 0
    }

    pub fn print(&self) {
        let mut table = Table::new(&["median of the rounds", "sandbox-agent", "towline", "bound"]);
        for row in &self.rows {
            table.row(row.clone());
        }
        println!();
        table.print();
        println!();
    }

    fn row(&mut self, what: &str, peer: String, ours: String, bound: String) {
        self.rows.push(vec![what.to_owned(), peer, ours, bound]);
    }
}

/// The figure in the middle.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
