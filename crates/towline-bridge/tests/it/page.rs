//! The page's data layer, by its own tests: `tests/page/*.test.mjs`, run by Node. What a browser makes of the page is
//! tested with the command, in a real one.

use std::{fs, path::Path, process::Command};

#[test]
fn the_data_layer_of_the_page_passes_its_tests() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page");
    let ran = Command::new("node")
        .args(["--test", "--test-reporter=tap"])
        .arg(&tests)
        .output()
        .expect("node runs the tests of the page: install nodejs 20 or later");
    let report = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{report}");
    let count = |kind: &str| {
        let mut lines = report.lines();
        let counted = lines.find_map(|line| line.strip_prefix("# ")?.strip_prefix(kind));
        counted.and_then(|count| count.trim().parse::<usize>().ok())
    };
    let mut written = 0;
    for file in fs::read_dir(&tests).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        written += text.lines().filter(|line| line.starts_with("test")).count();
    }
    assert!(written > 50, "{written} tests in {}", tests.display());
    assert_eq!(
        count("pass"),
        Some(written),
        "some tests were not run: {report}"
    );
    for left_out in ["skipped", "todo", "cancelled"] {
        assert_eq!(count(left_out), Some(0), "{left_out}: {report}");
    }
}
