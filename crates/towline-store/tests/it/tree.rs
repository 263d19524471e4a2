//! The tree: which branch is live and what a resumed session would hold.

use towline_store::{NodeKind, Reason, Transcript};

use crate::made::{Made, ids, key, record, texts};

fn open(lines: &[String]) -> (Made, Transcript) {
    let made = Made::new();
    let transcript = made.with(1, &lines.join("\n")).transcript().unwrap();
    (made, transcript)
}

fn last_prompt(leaf: u32) -> String {
    let leaf = key(leaf);
    format!(r#"{{"type":"last-prompt","lastPrompt":"p","leafUuid":"{leaf}"}}"#)
}

fn aside(line: &str) -> String {
    line.replace(r#""isSidechain":false"#, r#""isSidechain":true"#)
}

fn meta(line: &str) -> String {
    line.replace(r#""isSidechain""#, r#""isMeta":true,"isSidechain""#)
}

/// Each case was given to CLI 2.1.325 with `--resume`; expected is what it sent to the API as the conversation, but for
/// what nobody said.
#[test]
fn the_live_branch_is_the_one_that_the_cli_resumes() {
    let user = |number, parent, text, second| record("user", number, parent, text, second);
    let answer = |number, parent, text, second| record("assistant", number, parent, text, second);
    let base = || vec![user(1, 0, "one", 1), answer(2, 1, "A1", 2)];
    let x = || vec![user(3, 2, "X", 3), answer(4, 3, "AX", 4)];
    let y = || vec![user(5, 2, "Y", 5), answer(6, 5, "AY", 6)];
    let late_x = || vec![user(3, 2, "X", 30), answer(4, 3, "AX", 31)];
    let orphan = |second| {
        vec![
            user(7, 99, "orphan", second),
            answer(8, 7, "AO", second + 1),
        ]
    };
    let aside_x = || vec![aside(&user(3, 0, "X", 3)), aside(&answer(4, 3, "AX", 4))];
    let note = |parent| vec![record("system", 9, parent, "", 9)];
    let named = |leaf| vec![last_prompt(leaf)];
    for (name, parts, expected) in [
        (
            "the newest in the file, not by time",
            [base(), late_x(), y()].concat(),
            "one A1 Y AY",
        ),
        (
            "the newest of one time",
            [base(), x(), y()].concat(),
            "one A1 Y AY",
        ),
        (
            "the one that is named",
            [base(), x(), y(), named(4)].concat(),
            "one A1 X AX",
        ),
        (
            "named before another came",
            [base(), x(), named(4), y()].concat(),
            "one A1 X AX",
        ),
        (
            "named, and gone on from",
            [base(), y(), x(), named(4), vec![user(7, 4, "X2", 7)]].concat(),
            "one A1 X AX X2",
        ),
        (
            "named, but the newest comes from it",
            [base(), x(), named(2)].concat(),
            "one A1 X AX",
        ),
        (
            "named, then another branch of it",
            [base(), x(), named(2), vec![user(5, 2, "Y", 5)]].concat(),
            "one A1 Y",
        ),
        (
            "named in the middle of a branch",
            [base(), x(), y(), named(3)].concat(),
            "one A1 X",
        ),
        (
            "named with two branches behind it",
            [base(), x(), y(), named(1)].concat(),
            "one A1 Y AY",
        ),
        (
            "named, then a new root",
            [base(), x(), named(2), vec![user(5, 0, "root", 5)]].concat(),
            "one A1",
        ),
        (
            "named several times",
            [base(), x(), y(), named(4), named(6), named(4)].concat(),
            "one A1 X AX",
        ),
        (
            "named, but not there",
            [base(), x(), y(), named(77)].concat(),
            "one A1 Y AY",
        ),
        (
            "no prompt behind the fork",
            [base(), x(), vec![user(5, 2, "Y", 5)]].concat(),
            "one A1 Y",
        ),
        (
            "a note on an older branch",
            [base(), x(), y(), note(4)].concat(),
            "one A1 X AX",
        ),
        (
            "two roots",
            [base(), vec![user(3, 0, "root", 3)]].concat(),
            "root",
        ),
        (
            "a subagent's records behind it",
            [base(), aside_x()].concat(),
            "one A1",
        ),
        (
            "an orphan at once",
            [base(), orphan(3)].concat(),
            "one A1 orphan AO",
        ),
        (
            "an orphan after five seconds",
            [base(), orphan(7)].concat(),
            "one A1 orphan AO",
        ),
        (
            "an orphan after six seconds",
            [base(), orphan(8)].concat(),
            "orphan AO",
        ),
        (
            "an orphan behind a fork",
            [base(), x(), y(), orphan(7)].concat(),
            "one A1 Y AY orphan AO",
        ),
        (
            "an orphan behind a subagent",
            [base(), aside_x(), orphan(5)].concat(),
            "one A1 orphan AO",
        ),
        (
            "two orphans",
            [base(), orphan(3), vec![user(9, 98, "again", 5)]].concat(),
            "one A1 orphan AO again",
        ),
        (
            "a record written twice",
            [
                base(),
                vec![
                    user(3, 2, "v1", 3),
                    user(3, 2, "v2", 4),
                    answer(4, 3, "A", 5),
                ],
            ]
            .concat(),
            "one A1 v2 A",
        ),
        (
            "a circle",
            vec![
                user(1, 2, "one", 1),
                answer(2, 1, "A1", 2),
                user(3, 2, "leaf", 3),
            ],
            "one A1 leaf",
        ),
        // The CLI sends what is meta; it is no message.
        (
            "meta at the end",
            [base(), x(), vec![meta(&user(5, 2, "meta", 5))]].concat(),
            "one A1",
        ),
    ] {
        let (_made, mut transcript) = open(&parts);
        assert_eq!(texts(&mut transcript).join(" "), expected, "{name}");
    }
}

#[test]
fn the_leaf_may_be_a_note_behind_the_last_message() {
    let (_made, transcript) = open(&[
        record("user", 1, 0, "one", 1),
        record("assistant", 2, 1, "A1", 2),
        record("system", 3, 2, "", 3),
    ]);
    let tree = transcript.tree();
    let leaf = tree.live_leaf().unwrap();
    assert_eq!(tree.uuid(leaf), key(3));
    assert_eq!(tree.kind(leaf), NodeKind::System);
    assert_eq!(tree.chain(leaf).len(), 3);
}

/// The messages that both official SDKs give for the same files.
#[test]
fn real_transcripts_have_the_messages_that_the_sdks_give() {
    let made = Made::new();
    for (name, expected) in [
        (
            "resumed_5x",
            "7bbd2eef 9633f4ed fe550bcb 4af62ed9 c703d4c8 69dc786e 3d56e6f1 fd579ffe 0ecd8db5 0d63c5c8",
        ),
        (
            "forked",
            "7bbd2eef 9633f4ed d4886c71 530f9fb1 ea43dbd3 1e410893 f7b45e7f 64228d1f ee0d6a75 cbde4a3e",
        ),
        (
            "hook_all",
            "d488f923 dd935369 85f22db6 780a2345 c3989d0a 07cc1ba6 e3cd3b65 818859b6",
        ),
        ("slash_cost", "46e4b1fe 5c3bef5e 9c60f071"),
        ("subagent_main", "eb9a488b f07a356c 8ab1f018 b4b33b8d"),
        (
            "subagent_side",
            "637d39c9 c320ed34 f0117c62 15a316e6 50e45bd2",
        ),
        // With the message that the compaction kept, as the TypeScript SDK gives it and the CLI resumes it.
        (
            "compact",
            "b6ae7664 da79d5f0 7d82bb94 7bb4e238 d6e95eaf 8238e9b3 bcff0655 ce5de309",
        ),
        // Three calls at once: the chain has but one of the results.
        (
            "parallel",
            "e38a33af aa7053d0 ccdfae3a b421ddb2 d0c99bed eab4a6fa 8ab5cc04 eb566f71 54e6f0fc 73385c7c 45984510",
        ),
    ] {
        let transcript = made.real(1, name).transcript().unwrap();
        assert_eq!(ids(&transcript).join(" "), expected, "{name}");
        assert_eq!(transcript.skipped(), [], "{name}");
    }
}

#[test]
fn every_record_of_a_conversation_says_why_it_is_there() {
    let made = Made::new();
    for (name, reason, expected) in [
        (
            "parallel",
            Reason::Parallel,
            "b421ddb2 d0c99bed eab4a6fa 8ab5cc04",
        ),
        ("compact", Reason::Kept, "da79d5f0"),
        ("forked", Reason::Parallel, ""),
    ] {
        let transcript = made.real(1, name).transcript().unwrap();
        let tree = transcript.tree();
        let steps = tree.conversation().into_iter();
        let found = steps.filter(|step| step.reason == reason);
        let found: Vec<String> = found
            .map(|step| tree.uuid(step.id)[..8].to_owned())
            .collect();
        assert_eq!(found.join(" "), expected, "{name}");
    }
}

#[test]
fn history_goes_behind_a_compaction_and_the_chain_does_not() {
    let made = Made::new();
    let transcript = made.real(1, "compact").transcript().unwrap();
    let tree = transcript.tree();
    let leaf = tree.live_leaf().unwrap();
    let chain = tree.chain(leaf);
    assert!(tree.uuid(chain[0]).starts_with("45b0be0b"), "the boundary");
    let history = tree.history(leaf);
    assert!(
        tree.uuid(history[0]).starts_with("1fa003eb"),
        "the first prompt"
    );
    assert!(history.ends_with(&chain));
    assert_eq!(history.len(), tree.len());
}

#[test]
fn all_branches_are_known_and_one_is_live() {
    let made = Made::new();
    let transcript = made.real(1, "resumed_5x").transcript().unwrap();
    let tree = transcript.tree();
    let branches: Vec<_> = tree
        .branches()
        .into_iter()
        .map(|branch| {
            (
                tree.uuid(branch.leaf)[..8].to_owned(),
                branch.length,
                branch.is_live,
            )
        })
        .collect();
    let branch = |leaf: &str, length, is_live| (leaf.to_owned(), length, is_live);
    assert_eq!(
        branches,
        [branch("64228d1f", 18, false), branch("0d63c5c8", 22, true)]
    );

    let offspring = tree.offspring();
    let fork = tree.find("9633f4ed-b211-472f-a04a-b43b68042092").unwrap();
    let children = offspring
        .children(fork)
        .iter()
        .map(|id| tree.uuid(*id)[..8].to_owned());
    assert_eq!(children.collect::<Vec<_>>(), ["72aba6b7", "fe550bcb"]);
    assert_eq!(offspring.roots().len(), 1);
}

fn call(number: u32, parent: u32, call: &str, second: u32) -> String {
    record("assistant", number, parent, "", second)
        .replace(&format!("msg_{number}"), "msg_calls")
        .replace(
            r#"{"type":"text","text":""}"#,
            &format!(r#"{{"type":"tool_use","id":"{call}","name":"Bash","input":{{}}}}"#),
        )
}

fn result(number: u32, parent: u32, call: &str, second: u32) -> String {
    record("user", number, parent, "", second).replace(
        r#""content":"""#,
        &format!(r#""content":[{{"type":"tool_result","tool_use_id":"{call}","content":"r"}}]"#),
    )
}

#[test]
fn results_are_put_back_wherever_they_hang() {
    let order = |transcript: &Transcript| -> Vec<u32> {
        let numbers = ids(transcript);
        let numbers = numbers
            .iter()
            .map(|id| u32::from_str_radix(id, 16).unwrap());
        numbers.collect()
    };
    let start = || {
        vec![
            record("user", 1, 0, "go", 1),
            call(2, 1, "c1", 2),
            call(3, 2, "c2", 3),
        ]
    };
    for (name, rest, expected) in [
        (
            "each on its own call",
            vec![
                result(5, 3, "c2", 4),
                result(4, 2, "c1", 5),
                record("assistant", 6, 4, "done", 6),
            ],
            vec![1, 2, 3, 5, 4, 6],
        ),
        (
            "behind an attachment of somebody else",
            vec![
                record("attachment", 8, 1, "", 3),
                result(5, 8, "c2", 4),
                result(4, 2, "c1", 5),
                record("assistant", 6, 4, "done", 6),
            ],
            vec![1, 2, 3, 5, 4, 6],
        ),
        (
            "answered already on the chain",
            vec![
                record("attachment", 8, 1, "", 3),
                result(5, 8, "c1", 4),
                result(4, 2, "c1", 5),
                record("assistant", 6, 4, "done", 6),
            ],
            vec![1, 2, 3, 4, 6],
        ),
        (
            "one is still running",
            vec![result(4, 2, "c1", 4)],
            vec![1, 2, 3, 4],
        ),
    ] {
        let (_made, transcript) = open(&[start(), rest].concat());
        assert_eq!(order(&transcript), expected, "{name}");
    }
}

#[test]
fn a_tree_of_many_twins_and_orphans_is_walked_in_no_time() {
    // Quadratic walks would take minutes here.
    let count = 20_000;
    let mut lines = vec![record("user", 1, 0, "go", 1)];
    for number in 2..count {
        lines.push(call(number, number - 1, "c", 1));
        lines.push(result(count + number, number, "c", 1));
        lines.push(aside(&record(
            "user",
            3 * count + number,
            4 * count + number,
            "x",
            1,
        )));
    }
    let (_made, transcript) = open(&lines);
    let tree = transcript.tree();
    assert_eq!(tree.branches().len(), count as usize - 2);
    assert!(tree.conversation().len() > count as usize);
    assert_eq!(tree.offspring().roots().len(), 2);
}
