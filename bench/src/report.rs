//! Owns how tables are printed.

/// Columns as wide as their widest cell; the first and the last to the left, the
/// numbers between them to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(titles: &[&str]) -> Self {
        let titles = titles.iter().map(|title| title.to_string()).collect();
        Self { rows: vec![titles] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn print(&self) {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = width(column);
                line += &match column {
                    0 => format!("{cell:<width$}"),
                    _ if column + 1 == row.len() => format!("  {cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                };
            }
            println!("{}", line.trim_end());
            if index == 0 {
                println!("{}", "-".repeat(line.chars().count()));
            }
        }
    }
}
