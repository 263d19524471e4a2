//! The tables of PROTOCOL.md, row by row: a statement of the checklist is shown by a test of its area, and a decision
//! that is not built yet is marked so in both tables. `witnesses` knows which part a test runs.

mod earlier;

use std::{collections::BTreeMap, fmt, fs};

use crate::{
    documents::ROOT,
    witnesses::{Area, Witness, witnesses},
};

const HEADER: [&str; 3] = ["statement", "area", "shown by"];
/// Column of the decision in the table of differences.
const DECISION: usize = 4;
/// Marks a statement or a decision about a part that is not built yet.
const NOT_BUILT: &str = "·";
/// Marks a statement that no test shows yet.
const NOT_SHOWN: &str = "—";

#[test]
fn every_statement_is_shown_by_a_test_of_its_area() {
    let document = fs::read_to_string(format!("{ROOT}PROTOCOL.md")).unwrap();
    let (rows, mut problems) = checklist(&document);
    problems.extend(rows.iter().flat_map(unshown));
    let (differences, malformed) = differences(&document);
    problems.extend(malformed);
    problems.extend(rows.iter().flat_map(|row| contradicts(row, &differences)));
    problems.extend(untold(&differences, &rows));
    let list: String = problems.iter().map(|one| format!("\n  {one}")).collect();
    assert!(problems.is_empty(), "{} to fix:{list}", problems.len());
    assert!(rows.len() > 700, "only {} statements are read", rows.len());
    assert!(differences.len() > 60, "{} differences", differences.len());
}

/// A row that has to be changed, and how.
#[derive(Debug, PartialEq)]
struct Problem {
    line: usize,
    statement: String,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            statement,
            message,
        } = self;
        write!(f, "PROTOCOL.md:{line}: {statement}: {message}")
    }
}

/// A row of the checklist.
#[derive(Debug)]
struct Row {
    line: usize,
    statement: String,
    area: Area,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    NotBuilt,
    NotYet,
    By(Vec<Witness>),
}

impl Row {
    fn problem(&self, message: String) -> Problem {
        Problem {
            line: self.line,
            statement: self.statement.clone(),
            message,
        }
    }

    /// The rows of the table of differences that the statement points to: `[A9]`.
    fn pointers(&self) -> impl Iterator<Item = &str> {
        let pieces = self.statement.split("[A").skip(1);
        pieces.filter_map(|piece| Some(piece.split_once(']')?.0))
    }
}

/// All rows of the checklist that can be read, and problems of the others.
fn checklist(document: &str) -> (Vec<Row>, Vec<Problem>) {
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for (line, cells) in section(document, "## The checklist") {
        if cells == HEADER || is_rule(&cells) {
            continue;
        }
        match read_row(line, &cells) {
            Ok(row) => rows.push(row),
            Err(message) => problems.push(Problem {
                line,
                statement: cells.first().cloned().unwrap_or_default(),
                message,
            }),
        }
    }
    (rows, problems)
}

fn read_row(line: usize, cells: &[String]) -> Result<Row, String> {
    let [statement, area, shown] = cells else {
        return Err(format!(
            "the row has {} cells and needs {}: {}; write a bar inside of a cell as \\|",
            cells.len(),
            HEADER.len(),
            HEADER.join(", ")
        ));
    };
    if statement.is_empty() {
        return Err("the first cell is empty: write the statement there".to_owned());
    }
    let area = Area::read(area)?;
    let shown = match shown.as_str() {
        NOT_BUILT => Shown::NotBuilt,
        NOT_SHOWN => Shown::NotYet,
        names => Shown::By(witnesses(names)?),
    };
    Ok(Row {
        line,
        statement: statement.clone(),
        area,
        shown,
    })
}

/// Problems of a row whose witnesses do not run the part that the statement is about.
fn unshown(row: &Row) -> Vec<Problem> {
    let Shown::By(witnesses) = &row.shown else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let mut is_shown = false;
    for witness in witnesses {
        match witness.runs() {
            Ok(areas) => is_shown |= areas.contains(&row.area),
            Err(message) => problems.push(row.problem(message)),
        }
    }
    if !is_shown && problems.is_empty() {
        let area = row.area;
        problems.push(row.problem(format!(
            "no witness of this row is a test of the area {area}: name {}, or write {NOT_BUILT} if that part is not \
             built yet and {NOT_SHOWN} if no test shows it yet",
            area.wanted()
        )));
    }
    problems
}

/// How much of a decision is built.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Built {
    All,
    /// The cell begins with what is built.
    Some,
    None,
}

/// The decisions of the table of differences by number, and problems of their form.
fn differences(document: &str) -> (BTreeMap<String, Built>, Vec<Problem>) {
    let (mut decisions, mut problems) = (BTreeMap::new(), Vec::new());
    for (line, cells) in section(document, "## Where the documents differ") {
        // The rules above the table are no table, so each row here begins with a number.
        if cells.first().is_none_or(|cell| cell == "#") || is_rule(&cells) {
            continue;
        }
        let decision = cells.get(DECISION).map_or("", String::as_str);
        match built(decision) {
            Ok(built) => {
                decisions.insert(cells[0].clone(), built);
            }
            Err(message) => problems.push(Problem {
                line,
                statement: format!("row {}", cells[0]),
                message,
            }),
        }
    }
    (decisions, problems)
}

/// Reads `built; · planned: decision; today: behaviour`, of which the first or the rest may be missing.
fn built(decision: &str) -> Result<Built, String> {
    let Some((before, planned)) = decision.split_once(NOT_BUILT) else {
        return if decision.is_empty() || decision.contains("planned") {
            Err(format!(
                "write what is not built yet as `{NOT_BUILT} planned: …; today: …`"
            ))
        } else {
            Ok(Built::All)
        };
    };
    let told = planned
        .strip_prefix(" planned: ")
        .and_then(|planned| planned.split_once("; today: "));
    let is_told = told.is_some_and(|(planned, today)| {
        !planned.is_empty() && !today.is_empty() && !today.contains(NOT_BUILT)
    });
    match (is_told, before) {
        (true, "") => Ok(Built::None),
        (true, before) if before.ends_with("; ") => Ok(Built::Some),
        _ => Err(format!(
            "a decision that is not built yet is written `{NOT_BUILT} planned: …; today: …`, at the end of the cell and \
             behind `; ` if something is built"
        )),
    }
}

/// Problems of a statement that points to a decision, when only one of the two says that it is built.
fn contradicts(row: &Row, decisions: &BTreeMap<String, Built>) -> Vec<Problem> {
    let is_about_a_program = [Area::Agent, Area::Bridge].contains(&row.area);
    let message = |number: &str| {
        let Some(built) = decisions.get(number) else {
            return Some(format!(
                "[A{number}] points to no row of the table of differences"
            ));
        };
        match (&row.shown, built) {
            _ if !is_about_a_program => None,
            (Shown::NotBuilt, Built::All) => Some(format!(
                "it is not built, and row {number} of the table of differences does not say so: write \
                 `{NOT_BUILT} planned: …; today: …` there"
            )),
            (Shown::By(_), Built::None) => Some(format!(
                "it is shown by a test, and row {number} of the table of differences says that nothing of it is built: \
                 correct one of them"
            )),
            _ => None,
        }
    };
    row.pointers()
        .filter_map(message)
        .map(|message| row.problem(message))
        .collect()
}

/// Problems of decisions that are not all built, where no statement says so: then they could be told as built unseen.
fn untold(decisions: &BTreeMap<String, Built>, rows: &[Row]) -> Vec<Problem> {
    let not_built = rows
        .iter()
        .filter(|row| matches!(row.shown, Shown::NotBuilt));
    let told: Vec<&str> = not_built.flat_map(Row::pointers).collect();
    let is_told = |number: &str, built: &Built| *built == Built::All || told.contains(&number);
    decisions
        .iter()
        .filter(|(number, built)| !is_told(number, built))
        .map(|(number, _)| Problem {
            line: 0,
            statement: format!("row {number}"),
            message: format!(
                "it is not all built, and no statement with {NOT_BUILT} points to it: write one that ends with [A{number}]"
            ),
        })
        .collect()
}

/// The rows of all tables of a section, with their lines.
fn section(document: &str, title: &str) -> Vec<(usize, Vec<String>)> {
    let lines = (1..).zip(document.lines());
    let inside = lines
        .skip_while(|(_, text)| *text != title)
        .skip(1)
        .take_while(|(_, text)| !text.starts_with("## "));
    inside
        .filter(|(_, text)| text.starts_with('|'))
        .map(|(line, text)| (line, cells(text)))
        .collect()
}

/// The cells of a row; `\|` is no end of a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for letter in row.chars() {
        match letter {
            '|' if !is_escaped => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
        is_escaped = letter == '\\';
    }
    // A row ends with a bar, behind which there is no cell.
    cells.pop_if(|cell| cell.trim().is_empty());
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The line below a header: `|---|---|`.
fn is_rule(cells: &[String]) -> bool {
    cells
        .iter()
        .all(|cell| !cell.is_empty() && cell.chars().all(|letter| letter == '-'))
}

/// Problems of a document with this row in its checklist.
fn problems_of(row: &str) -> Vec<String> {
    let document = format!(
        "## The checklist\n\n| {} |\n|---|---|---|\n{row}\n",
        HEADER.join(" | ")
    );
    let (rows, mut problems) = checklist(&document);
    problems.extend(rows.iter().flat_map(unshown));
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_row_is_refused_when_its_witnesses_do_not_run_its_part() {
    let decodes = "`answers::every_tool_has_a_typed_input`";
    let piece = "`agent/src/tools/multi_edit::all_edits_are_made_or_none`";
    let of_agent = "`towline/agent::text_is_the_answer_alone`";
    let of_bridge = "`towline/page::what_is_no_file_of_the_page_is_not_found`";
    let had = "parity (`control-02c_queue`, `sessions-queue_two`)";
    let runs = |area: &str| format!("no witness of this row is a test of the area {area}: name ");
    for (area, shown, expected) in [
        ("protocol", decodes, ""),
        ("agent", had, ""),
        ("agent", &format!("{piece}, {of_agent}"), ""),
        ("bridge", of_bridge, ""),
        ("agent", NOT_BUILT, ""),
        ("agent", NOT_SHOWN, ""),
        // A test of another kind.
        ("agent", decodes, &runs("agent")),
        ("agent", piece, &runs("agent")),
        ("agent", of_bridge, &runs("agent")),
        ("bridge", of_agent, &runs("bridge")),
        ("host", had, &runs("host")),
        ("store", decodes, &runs("store")),
        ("telegram", of_bridge, &runs("telegram")),
        // A row that cannot be read.
        ("robot", of_agent, "there is no area `robot`"),
        ("agent", "", "names no witness"),
        ("agent", &format!("{NOT_BUILT}, {of_agent}"), "no witness"),
        ("agent", "towline/agent", "no witness"),
        ("agent", "parity (control-02c_queue)", "no witness"),
        ("agent", &format!("{of_agent} {of_agent}"), "no witness"),
        // A witness that does not exist.
        (
            "agent",
            "parity (`control-02c_queues`)",
            "not in parity.toml",
        ),
        ("agent", "`towline/agent::text`", "has no test `text`"),
        ("agent", "`towline/driven::towline_room`", "has no test"),
        (
            "agent",
            "`towline/agents::text`",
            "no module `agents` in MODULES",
        ),
        ("agent", "`elsewhere/agent::text`", "no crate `elsewhere`"),
        (
            "protocol",
            "`Nothing::here` (doc)",
            "not in the documentation",
        ),
    ] {
        let row = format!("| It works | {area} | {shown} |");
        let found = problems_of(&row);
        match (expected, &found[..]) {
            ("", []) => {}
            (expected, [message]) if !expected.is_empty() => {
                let start = "PROTOCOL.md:5: It works: ";
                assert!(message.starts_with(start), "{row}: {message}");
                assert!(message.contains(expected), "{row}: {message}");
            }
            _ => panic!("{row}: {found:?}"),
        }
    }
    for row in ["| It works | agent |", "| It | works | agent | · |"] {
        assert!(problems_of(row)[0].contains("needs 3"), "{row}");
    }
    assert!(problems_of("| a \\| b | agent | · |").is_empty());
    assert!(problems_of("| | agent | · |")[0].contains("write the statement"));
}

#[test]
fn a_statement_and_the_decision_that_it_points_to_agree_on_what_is_built() {
    let planned = "· planned: both are read; today: neither is";
    for (decision, area, shown, expected) in [
        (
            "as the real CLI",
            "agent",
            "`towline/agent::text_is_the_answer_alone`",
            "",
        ),
        ("as the real CLI", "agent", "·", "does not say so"),
        ("as the real CLI", "protocol", "·", ""),
        (planned, "agent", "·", ""),
        (
            planned,
            "agent",
            "`towline/agent::text_is_the_answer_alone`",
            "says that nothing of it is built",
        ),
        (
            planned,
            "protocol",
            "`codec::any_chunking_gives_the_same_lines`",
            "",
        ),
        (&format!("reads one; {planned}"), "agent", "·", ""),
        (&format!("reads one {planned}"), "agent", "·", "is written"),
        ("· planned: both are read", "agent", "·", "is written"),
        ("· both are read", "agent", "·", "is written"),
        ("both are planned", "agent", "·", "write what is not built"),
    ] {
        let document = format!(
            "## Where the documents differ\n\n| # | topic | documents | real CLI | towline | why |\n|---|---|---|---|---|---|\n\
             | 7 | t | d | r | {decision} | w |\n\n## The checklist\n\n| statement | area | shown by |\n|---|---|---|\n\
             | It works [A7] | {area} | {shown} |\n"
        );
        let (rows, mut problems) = checklist(&document);
        let (decisions, malformed) = differences(&document);
        if malformed.is_empty() {
            problems.extend(rows.iter().flat_map(|row| contradicts(row, &decisions)));
        } else {
            problems.extend(malformed);
        }
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told.is_empty(), expected.is_empty(), "{decision}: {told:?}");
        assert!(told.iter().all(|told| told.contains(expected)), "{told:?}");
    }
    let (rows, _) = checklist("## The checklist\n| It works [A9] [A7] | agent | · |\n");
    let decisions = |built| BTreeMap::from([("7".to_owned(), built), ("8".to_owned(), Built::All)]);
    assert_eq!(untold(&decisions(Built::Some), &rows), []);
    assert_eq!(untold(&decisions(Built::All), &[]), []);
    let problems = untold(&decisions(Built::None), &[]);
    assert!(problems[0].message.contains("points to it"), "{problems:?}");
    let (rows, _) = checklist("## The checklist\n| It works [A99] | host | · |\n");
    let problems = contradicts(&rows[0], &BTreeMap::new());
    assert!(problems[0].message.contains("points to no row"));
}
