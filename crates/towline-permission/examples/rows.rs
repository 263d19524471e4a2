//! scratch
use serde_json::Value;
use std::io::BufRead;
use towline_permission::*;
use towline_protocol::Wire;
fn main() {
    let fix = |s: &str| {
        s.replace("{CWD}", "/w/base/proj")
            .replace("{OUT}", "/w/base/out")
            .replace("{HOME}", "/w/base/home")
            .replace("{BASE}", "/w/base")
    };
    let cats = std::env::args().nth(1).unwrap_or_default();
    let (mut n, mut ok, mut loose, mut sn, mut sok) = (0, 0, 0, 0, 0);
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&fix(&line.unwrap())).unwrap();
        if row["tool"] != "Bash" {
            continue;
        }
        if !cats.is_empty() && !cats.split(',').any(|c| row["category"] == c) {
            continue;
        }
        if row.get("hooks").is_some() || row.get("previous_in_session").is_some() {
            continue;
        }
        let d = row["decision"].as_str().unwrap();
        if !["ask", "allow", "deny"].contains(&d) {
            continue;
        }
        let mode = row["effective_mode"]
            .as_str()
            .or(row["mode"].as_str())
            .unwrap_or("default");
        let mode = PermissionMode::from(mode);
        let places = Places {
            project: "/w/base/proj".into(),
            current: "/w/base/proj".into(),
            home: "/w/base/home".into(),
            config: "/w/base/home/.claude".into(),
            flag_settings: None,
        };
        let mut policy = Policy::new(mode.clone(), places);
        for (k, b) in [
            ("allow", Behavior::Allow),
            ("deny", Behavior::Deny),
            ("ask", Behavior::Ask),
        ] {
            for r in row[k].as_array().unwrap() {
                if b == Behavior::Allow
                    && row["workspace_trusted"] == false
                    && row["rule_source"] == "project"
                {
                    continue;
                }
                let mut text = r.as_str().unwrap_or("");
                if row["rule_source"] == "cli" && text == "Bash()" {
                    text = "Bash";
                }
                if let Ok(rule) = text.parse::<Rule>() {
                    policy.add(rule, b.clone(), Destination::ProjectSettings);
                }
            }
        }
        for d in row["additionalDirectories"].as_array().unwrap() {
            let d = d
                .as_str()
                .unwrap()
                .replace("../out", "/w/base/out")
                .replace('~', "/w/base/home");
            policy.add_directory(d, Destination::ProjectSettings);
        }
        let call = Call::new("Bash", &row["input"]);
        let mut facts = Facts::default();
        for p in paths(&policy, &call) {
            for (l, t) in [
                ("/w/base/proj/link_out.txt", "/w/base/out/o.txt"),
                ("/w/base/proj/linkdir_out", "/w/base/out"),
                ("/w/base/proj/link_secret", "/w/base/proj/secret"),
            ] {
                if p == l {
                    facts.links.insert(p.clone(), t.into());
                } else if let Some(rest) = p.strip_prefix(&format!("{l}/")) {
                    facts.links.insert(p.clone(), format!("{t}/{rest}"));
                }
            }
            if [
                "/w/base",
                "/w/base/out",
                "/w/base/home",
                "/w/base/proj",
                "/tmp",
                "/w/base/proj/sub",
                "/w/base/out/dir",
                "/etc",
                "/dev",
            ]
            .contains(&p.as_str())
            {
                facts.directories.insert(p);
            }
        }
        let mut got = decide(&policy, &call, &facts);
        if mode == PermissionMode::DontAsk && got.verdict == Verdict::Ask {
            got.verdict = Verdict::Deny;
        }
        let g = match got.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        n += 1;
        let rank = |s: &str| {
            ["allow", "ask", "deny"]
                .iter()
                .position(|x| *x == s)
                .unwrap()
        };
        if g == d {
            ok += 1
        } else {
            let l = rank(g) < rank(d);
            if l {
                loose += 1
            }
            println!(
                "{} {} {:?} A{} D{} K{} {}: want {d} got {g} {:?} | {}",
                if l { "LOOSER" } else { "stricter" },
                row["id"],
                mode.as_str(),
                row["allow"],
                row["deny"],
                row["ask"],
                row["input"]["command"],
                got.reason,
                row["reason_text_if_any"]
            );
        }
        if d == "ask" && g == "ask" {
            sn += 1;
            let s = got.suggestions.map_or(Value::Null, |u| {
                u.iter()
                    .map(|u| serde_json::from_str::<Value>(u.to_standard_json().as_str()).unwrap())
                    .collect()
            });
            if s == row["permission_suggestions"] {
                sok += 1
            } else {
                println!(
                    "SUGG {} {:?} A{} {}: want {} got {}",
                    row["id"],
                    mode.as_str(),
                    row["allow"],
                    row["input"]["command"],
                    row["permission_suggestions"],
                    s
                );
            }
        }
    }
    println!("rows {n} ok {ok} looser {loose} suggestions {sok}/{sn}");
}
