//! Figures of the two agents, held against bounds and printed.

use crate::{
    Result,
    figures::{self, Better},
    report::Table,
    room::Room,
};

/// One thing of the real CLI's and of ours.
#[derive(Clone, Copy, Debug)]
pub struct Pair<T> {
    pub real: T,
    pub ours: T,
}

impl Pair<f64> {
    /// How many times ours the real CLI's is.
    pub fn ratio(self) -> f64 {
        self.real / self.ours
    }
}

impl Pair<Room> {
    pub fn each_room(&self) -> [&Room; 2] {
        [&self.real, &self.ours]
    }

    /// Measures the one, then the other.
    pub async fn each<T>(&self, measure: impl AsyncFn(&Room) -> Result<T>) -> Result<Pair<T>> {
        Ok(Pair {
            real: measure(&self.real).await?,
            ours: measure(&self.ours).await?,
        })
    }
}

/// The figures of many runs: first the real CLI's, then ours.
#[derive(Default)]
pub struct Runs([Vec<f64>; 2]);

impl Runs {
    /// A run of the agent in that place of [`Pair::each_room`].
    pub fn add(&mut self, place: usize, figure: f64) {
        self.0[place].push(figure);
    }

    pub fn medians(self) -> Pair<f64> {
        let [real, ours] = self.0.map(|mut figures| {
            figures.sort_by(f64::total_cmp);
            figures[figures.len() / 2]
        });
        Pair { real, ours }
    }
}

/// All figures, and whether they are good enough.
#[derive(Default)]
pub struct Verdict {
    rows: Vec<Vec<String>>,
    misses: usize,
}

impl Verdict {
    /// A figure that must be so many times better than the real CLI's.
    pub fn compare(&mut self, what: &str, figures: Pair<f64>, wanted: f64) {
        let is_good = figures.ratio() >= wanted;
        self.misses += usize::from(!is_good);
        let verdict = if is_good { "good" } else { "MISSED" };
        self.row(what, figures, format!("at least {wanted}: {verdict}"));
    }

    /// A figure without a bound.
    pub fn show(&mut self, what: &str, figures: Pair<f64>) {
        self.row(what, figures, String::new());
    }

    /// Something else that must hold.
    pub fn require(&mut self, what: &str, is_good: bool) {
        self.misses += usize::from(!is_good);
        let verdict = if is_good { "good" } else { "MISSED" };
        println!("{what}: {verdict}");
    }

    pub fn is_good(&self) -> bool {
        self.misses == 0
    }

    pub fn print(&self, rounds: usize) {
        let mut table = Table::new(&[
            "median of the runs",
            "the real CLI",
            "towline",
            "ratio",
            "bound",
        ]);
        for row in &self.rows {
            table.row(row.clone());
        }
        println!("\n{rounds} rounds\n");
        table.print();
        println!();
    }

    fn row(&mut self, what: &str, figures: Pair<f64>, bound: String) {
        figures::note(what, figures.ours, Better::Lower);
        let real = format!("{what}, the real CLI");
        figures::control(&real, figures.real, Better::Lower);
        self.rows.push(vec![
            what.to_owned(),
            format!("{:.1}", figures.real),
            format!("{:.1}", figures.ours),
            format!("{:.2}", figures.ratio()),
            bound,
        ]);
    }
}
