//! The tree: which branch is live and what a resumed session would hold.

use towline_store::{NodeKind, Reason, Transcript};

use crate::made::{Made, ids, key, record, texts};

fn open(lines: &[String]) -> (Made, Transcript) {
    let made = Made::new();
    let transcript = made.with(1, &lines.join("\n")).transcript().unwrap();
    (made, transcript)
}

/// A transcript in short, a word a piece: a capital letter for what the cases have in common, `L4` for a `last-prompt`
/// that names 4, and `u5<2:text@9` for a prompt 5 that hangs on 2, written in second 9 (`a` for an answer, `s` for a
/// note, `m` for a prompt that is meta).
fn script(text: &str) -> Vec<String> {
    text.split_whitespace().flat_map(piece).collect()
}

fn piece(word: &str) -> Vec<String> {
    let (letter, rest) = word.split_at(1);
    match letter {
        "B" => script("u1<0:one@1 a2<1:A1@2"),
        "X" => script("u3<2:X@3 a4<3:AX@4"),
        "Y" => script("u5<2:Y@5 a6<5:AY@6"),
        // The branch X, written later than the branch Y.
        "Z" => script("u3<2:X@30 a4<3:AX@31"),
        // The branch X, as a subagent's.
        "S" => script("u3<0:X@3 a4<3:AX@4")
            .iter()
            .map(|line| aside(line))
            .collect(),
        // Hangs on a record that is not there.
        "O" => script(&format!("u7<99:orphan@{rest} a8<7:AO@{rest}")),
        "L" => vec![format!(
            r#"{{"type":"last-prompt","lastPrompt":"p","leafUuid":"{}"}}"#,
            key(rest.parse().unwrap())
        )],
        kind => {
            let (number, rest) = rest.split_once('<').unwrap();
            let (parent, rest) = rest.split_once(':').unwrap();
            let (text, second) = rest.split_once('@').unwrap();
            let [number, parent, second] =
                [number, parent, second].map(|part| part.parse().unwrap());
            let line = |kind| record(kind, number, parent, text, second);
            vec![match kind {
                "u" => line("user"),
                "a" => line("assistant"),
                "s" => line("system"),
                "m" => line("user").replace(r#""isSidechain""#, r#""isMeta":true,"isSidechain""#),
                other => panic!("no piece {other}"),
            }]
        }
    }
}

fn aside(line: &str) -> String {
    line.replace(r#""isSidechain":false"#, r#""isSidechain":true"#)
}

/// Each case, some of them with an answer more, was given to CLI 2.1.325 with `--resume`; expected is what it sent to
/// the API as the conversation, but for what nobody said.
#[test]
fn the_live_branch_is_the_one_that_the_cli_resumes() {
    for (name, text, expected) in [
        (
            "the newest in the file, not by time",
            "B Z Y",
            "one A1 Y AY",
        ),
        ("the one that is named", "B X Y L4", "one A1 X AX"),
        ("named before another came", "B X L4 Y", "one A1 X AX"),
        (
            "named, and gone on from",
            "B Y X L4 u7<4:X2@7",
            "one A1 X AX X2",
        ),
        (
            "named, but the newest comes from it",
            "B X L2",
            "one A1 X AX",
        ),
        (
            "named, then another branch of it",
            "B X L2 u5<2:Y@5",
            "one A1 Y",
        ),
        ("named in the middle of a branch", "B X Y L3", "one A1 X"),
        (
            "named with two branches behind it",
            "B X Y L1",
            "one A1 Y AY",
        ),
        ("named, then a new root", "B X L2 u5<0:root@5", "one A1"),
        ("named several times", "B X Y L4 L6 L4", "one A1 X AX"),
        ("named, but not there", "B X Y L77", "one A1 Y AY"),
        ("no answer yet", "B X u5<2:Y@5", "one A1 Y"),
        (
            "a note on an older branch",
            "B X Y s9<4:note@9",
            "one A1 X AX",
        ),
        ("two roots", "B u3<0:root@3", "root"),
        ("a subagent's records behind it", "B S", "one A1"),
        ("an orphan at once", "B O3", "one A1 orphan AO"),
        ("an orphan after five seconds", "B O7", "one A1 orphan AO"),
        ("an orphan after six seconds", "B O8", "orphan AO"),
        (
            "an orphan behind a fork",
            "B X Y O7",
            "one A1 Y AY orphan AO",
        ),
        ("an orphan behind a subagent", "B S O5", "one A1 orphan AO"),
        (
            "two orphans",
            "B O3 u9<98:again@5",
            "one A1 orphan AO again",
        ),
        (
            "written twice",
            "B u3<2:v1@3 u3<2:v2@4 a4<3:A@5",
            "one A1 v2 A",
        ),
        (
            "a circle",
            "u1<2:one@1 a2<1:A1@2 u3<2:leaf@3",
            "one A1 leaf",
        ),
        // The CLI sends what is meta; it is no message.
        ("meta at the end", "B X m5<2:meta@5", "one A1"),
    ] {
        let (_made, mut transcript) = open(&script(text));
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
