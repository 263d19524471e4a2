//! Owns the mix: which share of the bytes each class has, which kinds make up a
//! class, and the account of what was written.

use crate::random::Random;
use crate::templates::Class;

/// Shares of the bytes in percent, as measured over recorded sessions.
pub const SHARES: [(Class, usize); 5] = [
    (Class::Delta, 42),
    (Class::User, 27),
    (Class::Control, 17),
    (Class::Assistant, 6),
    (Class::Rest, 8),
];

/// The kinds of a class, with weights by lines.
fn kinds(class: Class) -> &'static [(&'static str, usize)] {
    match class {
        Class::Delta => &[
            ("text", 55),
            ("input_json", 30),
            ("thinking", 14),
            ("signature", 1),
        ],
        Class::User => &[
            ("stdout", 40),
            ("file", 28),
            ("content", 8),
            ("error", 8),
            ("blocks", 5),
            ("small", 6),
            ("prompt", 5),
        ],
        Class::Control => &[
            ("can_use_tool", 32),
            ("hook_callback", 32),
            ("initialize", 20),
            ("other", 16),
        ],
        Class::Assistant => &[("text", 50), ("tool_use", 45), ("thinking", 5)],
        Class::Rest => &[("stream", 36), ("event", 35), ("result", 17), ("init", 12)],
    }
}

pub fn kind(random: &mut Random, class: Class) -> &'static str {
    let kinds = kinds(class);
    let weights: Vec<usize> = kinds.iter().map(|(_, weight)| *weight).collect();
    kinds[random.weighted(&weights)].0
}

/// Lines and bytes written so far, by class.
#[derive(Default)]
pub struct Account {
    lines: [usize; 5],
    bytes: [usize; 5],
    longest: usize,
}

impl Account {
    /// The class that is furthest behind its share of the bytes.
    pub fn most_behind(&self) -> (usize, Class) {
        let (index, (class, _)) = SHARES
            .into_iter()
            .enumerate()
            .min_by_key(|(index, (_, share))| self.bytes[*index] * 1000 / share)
            .expect("there are classes");
        (index, class)
    }

    pub fn add(&mut self, index: usize, bytes: usize) {
        self.lines[index] += 1;
        self.bytes[index] += bytes;
        self.longest = self.longest.max(bytes);
    }

    pub fn total_bytes(&self) -> usize {
        self.bytes.iter().sum()
    }

    pub fn print(&self) {
        let (lines, bytes) = (self.lines.iter().sum::<usize>(), self.total_bytes());
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
        println!(
            "corpus: {:.1} MB, {lines} lines, longest {:.0} KB",
            bytes as f64 / 1e6,
            self.longest as f64 / 1e3
        );
        for (index, (class, wanted)) in SHARES.into_iter().enumerate() {
            println!(
                "  {:<10} {:>5.1}% of the bytes (wanted {wanted}%), {:>5.1}% of the lines",
                format!("{class:?}").to_lowercase(),
                share(self.bytes[index], bytes),
                share(self.lines[index], lines),
            );
        }
    }
}
