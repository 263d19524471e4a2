//! The page's data layer, by its own tests: `tests/page/*.test.mjs`, run by Node. What a browser makes of the page is
//! tested with the command, in a real one.

use std::{path::Path, process::Command};

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
    let passed = report.lines().find_map(|line| line.strip_prefix("# pass "));
    let passed: u32 = passed.and_then(|count| count.parse().ok()).unwrap_or(0);
    assert!(passed >= 40, "some tests were not found: {report}");
}
