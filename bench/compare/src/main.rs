//! Owns how the figures of two commits are held against each other: `compare BEFORE NOW`, two folders with a file of figures
//! for each run (`bench/src/figures.rs`). Prints a table of medians and fails if one is worse than `BENCH_WORSE` allows.

#[path = "../../src/report.rs"]
mod report;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use report::Table;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [before, now] = &arguments[..] else {
        return Err("usage: towline-bench-compare BEFORE NOW".into());
    };
    let most: f64 = match env::var("BENCH_WORSE") {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("BENCH_WORSE is no number: {text}"))?,
        Err(_) => MOST_WORSE,
    };
    let rows = compare(&read(Path::new(before))?, &read(Path::new(now))?)?;
    print(&rows);
    let moved = rows.iter().filter(|row| row.key.whose == "control");
    let moved = moved.map(|row| 100.0 * (row.ratio() - 1.0).abs());
    let moved = moved.fold(0.0, f64::max);
    if moved > QUIET {
        println!("\nthe machine was not quiet: a control changed by {moved:.0}%");
    }
    let worst = rows
        .iter()
        .filter(|row| row.key.whose == "ours")
        .max_by(|a, b| a.worse().total_cmp(&b.worse()))
        .ok_or("no figure is in both")?;
    let is_good = worst.worse() <= most;
    let verdict = if is_good { "good" } else { "WORSE" };
    println!("\nno figure worse by more than {most}%: {verdict}");
    println!("worst by {:.1}%: {}", worst.worse(), worst.key.name);
    Ok(is_good)
}

/// A figure, in the order in which the runs note them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    whose: String,
    is_better_higher: bool,
    name: String,
}

/// Each figure with its values, one a run.
type Figures = Vec<(Key, Vec<f64>)>;

fn read(folder: &Path) -> Result<Figures, Box<dyn Error>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        files.insert(path.clone(), fs::read_to_string(path)?);
    }
    let mut figures = Figures::new();
    for (path, text) in files {
        for (index, line) in text.lines().enumerate() {
            let place = || format!("{}:{}", path.display(), index + 1);
            add(&mut figures, line).ok_or_else(|| format!("{}: no figure: {line}", place()))?;
        }
    }
    Ok(figures)
}

fn add(figures: &mut Figures, line: &str) -> Option<()> {
    let mut words = line.splitn(4, '\t');
    let mut next = || words.next().map(str::to_owned);
    let (whose, better, value, name) = (next()?, next()?, next()?, next()?);
    let key = Key {
        whose,
        is_better_higher: better == "higher",
        name,
    };
    // A figure that is no number would be worse than nothing, and no better.
    let value: f64 = value.parse().ok().filter(|value: &f64| value.is_finite())?;
    match figures.iter_mut().find(|(known, _)| *known == key) {
        Some((_, values)) => values.push(value),
        None => figures.push((key, vec![value])),
    }
    Some(())
}

/// A figure of both commits.
#[derive(Debug)]
struct Row {
    key: Key,
    before: Vec<f64>,
    now: Vec<f64>,
}

impl Row {
    /// How many times better it is now: below 1 it is worse.
    fn ratio(&self) -> f64 {
        let (before, now) = (median(&self.before), median(&self.now));
        let ratio = if self.key.is_better_higher {
            now / before
        } else {
            before / now
        };
        // Nothing by nothing: nothing has changed.
        if ratio.is_nan() { 1.0 } else { ratio }
    }
}

impl Row {
    /// By how many percent of what it was it is worse now; below 0 it is better.
    fn worse(&self) -> f64 {
        let (before, now) = (median(&self.before), median(&self.now));
        let change = if self.key.is_better_higher {
            before - now
        } else {
            now - before
        };
        // Of nothing, any change is without bounds.
        let worse = 100.0 * change / before;
        if worse.is_nan() { 0.0 } else { worse }
    }
}

fn compare(before: &Figures, now: &Figures) -> Result<Vec<Row>, Box<dyn Error>> {
    let row = |(key, values): &(Key, Vec<f64>)| {
        let found = before.iter().find(|(known, _)| known == key);
        let (_, old) = found.ok_or_else(|| format!("the commit before has no `{}`", key.name))?;
        Ok(Row {
            key: key.clone(),
            before: old.clone(),
            now: values.clone(),
        })
    };
    let gone = before
        .iter()
        .find(|(key, _)| !now.iter().any(|(known, _)| known == key));
    if let Some((key, _)) = gone {
        return Err(format!("`{}` is not measured any more", key.name).into());
    }
    now.iter().map(row).collect()
}

fn print(rows: &[Row]) {
    let mut table = Table::new(&["figure", "before", "now", "ratio", "spread", ""]);
    for row in rows {
        table.row(vec![
            row.key.name.clone(),
            number(median(&row.before)),
            number(median(&row.now)),
            format!("{:.2}", row.ratio()),
            format!("{:.0}%", spread(&row.before).max(spread(&row.now))),
            match (&*row.key.whose, row.key.is_better_higher) {
                ("control", _) => "control".to_owned(),
                (_, true) => "higher is better".to_owned(),
                (_, false) => "lower is better".to_owned(),
            },
        ]);
    }
    println!("\nmedians; ratio: how many times better now, of a control how the machine changed\n");
    table.print();
}

fn number(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.3}"),
        medium if medium < 1_000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        (values[middle - 1] + values[middle]) / 2.0
    } else {
        values[middle]
    }
}

/// From the least to the most, in percent of the median.
fn spread(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let middle = median(values);
    if middle == 0.0 {
        0.0
    } else {
        100.0 * (most - least) / middle
    }
}

/// Controls of a quiet machine change by less, in percent.
const QUIET: f64 = 5.0;
/// No figure may be worse by more, in percent of what it was.
const MOST_WORSE: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(lines: &[&str]) -> Figures {
        let mut figures = Figures::new();
        for line in lines {
            add(&mut figures, line).unwrap();
        }
        figures
    }

    fn ratios(before: &[&str], now: &[&str]) -> Vec<f64> {
        let rows = compare(&figures(before), &figures(now)).unwrap();
        rows.iter().map(Row::ratio).collect()
    }

    #[test]
    fn a_ratio_says_how_many_times_better_it_is_now_in_either_direction() {
        let speed = |value: u32| format!("ours\thigher\t{value}\tspeed");
        let time = |value: u32| format!("ours\tlower\t{value}\ttime");
        let (slow, fast) = (speed(50), speed(100));
        let (long, short) = (time(30), time(10));
        assert_eq!(ratios(&[&slow, &long], &[&fast, &short]), [2.0, 3.0]);
        assert_eq!(
            ratios(&[&fast, &short], &[&slow, &long]),
            [0.5, 10.0 / 30.0]
        );
    }

    #[test]
    fn a_tenth_is_one_of_the_figure_itself_in_either_direction() {
        let is_good = |direction: &str, before: u32, now: u32| {
            let line = |value: u32| format!("ours\t{direction}\t{value}\tt");
            let (before, now) = (figures(&[&line(before)]), figures(&[&line(now)]));
            compare(&before, &now).unwrap()[0].worse() <= MOST_WORSE
        };
        for (direction, before, now, expected) in [
            ("lower", 100, 110, true),
            ("lower", 100, 111, false),
            ("higher", 100, 90, true),
            ("higher", 100, 89, false),
            ("lower", 100, 1, true),
            ("higher", 1, 100, true),
            ("lower", 0, 0, true),
            ("lower", 0, 1, false),
            ("higher", 0, 1, true),
        ] {
            assert_eq!(
                is_good(direction, before, now),
                expected,
                "{direction} {before} {now}"
            );
        }
    }

    #[test]
    fn of_several_runs_the_median_counts() {
        let before = [
            "ours\tlower\t10\tt",
            "ours\tlower\t1\tt",
            "ours\tlower\t11\tt",
        ];
        let now = [
            "ours\tlower\t20\tt",
            "ours\tlower\t900\tt",
            "ours\tlower\t20\tt",
        ];
        assert_eq!(ratios(&before, &now), [0.5]);
    }

    #[test]
    fn a_figure_that_only_one_of_them_has_is_an_error() {
        let (one, two) = ("ours\tlower\t1\tone", "ours\tlower\t1\ttwo");
        for (before, now, expected) in [
            (
                &[one][..],
                &[one, two][..],
                "the commit before has no `two`",
            ),
            (&[one, two], &[one], "`two` is not measured any more"),
        ] {
            let error = compare(&figures(before), &figures(now)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for value in ["fast", "NaN", "inf", "-inf"] {
            let line = format!("ours\tlower\t{value}\tx");
            assert!(add(&mut Figures::new(), &line).is_none(), "{value}");
        }
    }
}
