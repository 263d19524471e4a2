//! Hunks as in the recorded lines, and hunks that lead from the old text to the new.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::structured_patch;

#[test]
fn hunks_are_as_in_the_recorded_lines() {
    for (old, new, hunks) in [
        ("old\n", "new\n", json!([[1, 1, 1, 1, ["-old", "+new"]]])),
        (
            "new\n",
            "new2\nmore\n",
            json!([[1, 1, 1, 2, ["-new", "+new2", "+more"]]]),
        ),
        (
            "x\n",
            "zz",
            json!([[1, 1, 1, 1, ["-x", "+zz", "\\ No newline at end of file"]]]),
        ),
        ("", "b\n", json!([[1, 0, 1, 1, ["+b"]]])),
        (
            "aa\nbb\naa\n",
            "cc\nbb\ncc\n",
            json!([[1, 3, 1, 3, ["-aa", "+cc", " bb", "-aa", "+cc"]]]),
        ),
        ("a\n", "a\n", json!([])),
        (
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
            "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n",
            json!([[
                2,
                7,
                2,
                7,
                [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]
            ]]),
        ),
    ] {
        let patch = structured_patch(old, new);
        let short: Vec<Value> = patch
            .as_array()
            .unwrap()
            .iter()
            .map(|hunk| {
                json!([
                    hunk["oldStart"],
                    hunk["oldLines"],
                    hunk["newStart"],
                    hunk["newLines"],
                    hunk["lines"]
                ])
            })
            .collect();
        assert_eq!(Value::Array(short), hunks, "{old:?} to {new:?}");
    }
}

/// What becomes of a text when hunks are applied as a reader of patches would.
fn applied(old: &str, patch: &Value) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at) = (String::new(), 0);
    for hunk in patch.as_array().unwrap() {
        let start = hunk["oldStart"].as_u64().unwrap() as usize - 1;
        new.extend(old[at..start].iter().copied());
        at = start;
        let lines: Vec<&str> = hunk["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap())
            .collect();
        for (index, line) in lines.iter().enumerate() {
            let ends = lines
                .get(index + 1)
                .is_none_or(|next| !next.starts_with('\\'));
            let text = format!("{}{}", &line[1..], if ends { "\n" } else { "" });
            match &line[..1] {
                "+" => new.push_str(&text),
                sign @ (" " | "-") => {
                    assert_eq!(old[at], text);
                    at += 1;
                    if sign == " " {
                        new.push_str(&text);
                    }
                }
                _ => {}
            }
        }
    }
    new.extend(old[at..].iter().copied());
    new
}

proptest! {
    #[test]
    fn hunks_lead_from_the_old_text_to_the_new(
        old in "([abc]{0,2}\n){0,12}[ab]{0,2}",
        new in "([abc]{0,2}\n){0,12}[ab]{0,2}",
    ) {
        prop_assert_eq!(applied(&old, &structured_patch(&old, &new)), new);
    }
}
