//! Command lines, as a caller sees them.

use serde_json::json;
use towline_permission::{
    Looks, PermissionMode, Reached, Reason,
    Verdict::{self, Allow, Ask, Deny},
};

use crate::session::{Session, suggested};

fn run(session: &Session, command: &str) -> Verdict {
    session.verdict("Bash", &json!({"command": command}))
}

#[test]
fn what_is_forbidden_is_found_wherever_it_stands() {
    let bypass = Session::new(PermissionMode::BypassPermissions).deny("Bash(rm:*)");
    let free = Session::new(PermissionMode::Default)
        .allow("Bash")
        .deny("Bash(rm:*)");
    for command in [
        "rm a",
        "ls && rm a",
        "ls | rm a",
        "FOO=1 rm a",
        "sudo -u bob rm a",
        "nice -n 5 timeout 5 rm a",
        "env -i A=1 rm a",
        "/usr/bin/rm a",
        "r''\\m a",
        "\"r\"m a",
        "X=rm; $X a",
        "echo \"$(rm a)\"",
        "cat <(rm a)",
        "cat <<EOF\n$(rm a)\nEOF",
        "f() { rm a; }; f",
        "while read l; do rm $l; done < list",
        "find . | xargs -0 rm",
        "if true; then { rm a; }; fi",
    ] {
        assert_eq!(run(&bypass, command), Deny, "{command}");
        assert_eq!(run(&free, command), Deny, "{command}");
    }
    for command in ["echo rm a", "ls rm", "git rm a", "# rm a"] {
        assert_eq!(run(&free, command), Allow, "{command}");
    }
}

#[test]
fn a_word_that_goes_on_in_the_next_line_hides_nothing() {
    let forbids = |session: Session| session.deny("Bash(rm:*)").deny("Read(./a.txt)");
    let bypass = forbids(Session::new(PermissionMode::BypassPermissions));
    let free = forbids(Session::new(PermissionMode::Default).allow("Bash"));
    for command in [
        "find . -maxdepth 0 -ex\\\nec touch x \\;",
        "find . -maxdepth 0 -ex\\\r\nec touch x \\;",
        "echo \"$\\\n(touch x)\"",
        "echo $\\\n(touch x)",
        "sort a.txt -\\\noout",
        "cat .\\\n./secret.txt",
        "cat < l\\\nf",
        "cat {l\\\nf,a.txt}",
        "cat a\\\n.txt",
        "cat \"a\\\n.txt\"",
        "cat \"$(cat a\\\n.txt)\"",
        "cat a\\ \\\n.txt",
        "nice r\\\nm a",
        "r\\\nm a",
        "ba\\\nsh -c 'rm a'",
        "ls &\\\n& rm a",
        "cat <<E\\\nOF\nE\nrm a\nEOF",
        "cat <<EOF\na\\\n.txt\nEOF",
        "ls \\\r\nrm a",
        // A carriage return, a form feed and a vertical tab end no word, and begin no comment.
        "echo a\r# ; rm a",
        "echo a\u{c}# ; rm a",
        "echo a\u{b}# ; rm a",
        "echo a\\ # ; rm a",
        "echo a\\\t# ; rm a",
        "echo \\\n\\\n# ; rm a\\\nb",
    ] {
        for mode in [
            PermissionMode::Default,
            PermissionMode::Plan,
            PermissionMode::AcceptEdits,
        ] {
            let session = Session::new(mode.clone());
            assert_eq!(run(&session, command), Ask, "{mode} {command:?}");
        }
        for session in [&bypass, &free] {
            assert_ne!(run(session, command), Allow, "{command:?}");
        }
    }
    let session = Session::new(PermissionMode::Default);
    for command in [
        "ls \\\n  -la",
        "ls -la \\\n&& echo done",
        "ls |\\\n  wc -l",
        "echo 'a\\\nb'",
        "ls # a \\\necho b",
        "echo a\\\\\nls",
    ] {
        assert_eq!(run(&session, command), Allow, "{command:?}");
    }
}

#[test]
fn what_the_grammar_takes_for_something_else_is_asked_about() {
    let default = Session::new(PermissionMode::Default);
    for command in [
        // A redirection in a test.
        "[ a >Makefile ]",
        "[ -n >.git/hooks/x ]",
        "[ a = b >>x ]",
        "[ -n </etc/passwd ]",
        "if [ -n >x ]; then ls; fi",
        // A glob that becomes the name of a program.
        "[w]",
        "[[w]]",
        // The end of a here-document.
        "cat <<E''\nx\nE\ntouch x\nE''",
        "cat <<E\"F\"\nx\nEF\ntouch x\nE\"F\"",
        "cat <<$'E'\nx\nE\ntouch x\n$'E'",
        "cat <<x=<<\"E\"\n< \"$(touch x)\"",
        "cat <<\"$x\"\na\n$x",
        // Words behind the file of a redirection.
        "grep >/dev/null a",
        "cat </dev/null /etc/passwd",
        "ls {fd}<a",
        "ls <&-",
        "echo \"$((1+1))\"",
        "ls -$((1+1))",
        "lsof +T",
        "jq a -n",
        "man a -f",
        "stat -H",
        "stat -Ap",
        "fmt <<< se*/key.txt",
        "fgrep --exclude-from /etc/passwd",
        "base64 -- --version=p",
        "echo =time",
    ] {
        assert_eq!(run(&default, command), Ask, "{command:?}");
    }
    for command in [
        "cat <<'EOF'\na\nEOF",
        "[ -n a ]",
        "[[ a == b ]]",
        "cat <<< x",
        "stat a.txt",
        "jq .a a.json",
        "cat a.txt 2>/dev/null",
        "echo $((1 << 2))",
    ] {
        assert_eq!(run(&default, command), Allow, "{command:?}");
    }
}

#[test]
fn file_commands_with_odd_words_are_asked_about_where_edits_are_accepted() {
    let session = Session::new(PermissionMode::AcceptEdits);
    for command in ["touch \"\"", "touch %TEMP%", "mv -- b n", "mkdir \"\""] {
        assert_eq!(run(&session, command), Ask, "{command:?}");
    }
    for command in ["touch n", "mv b n", "mkdir n"] {
        assert_eq!(run(&session, command), Allow, "{command:?}");
    }
}

#[test]
fn a_forbidden_command_is_found_behind_redirections_and_wrappers() {
    let forbids = |session: Session| session.deny("Bash(rm:*)").deny("Read(./secret)");
    let bypass = forbids(Session::new(PermissionMode::BypassPermissions));
    let free = forbids(Session::new(PermissionMode::Default).allow("Bash"));
    let asks = Session::new(PermissionMode::Default)
        .allow("Bash")
        .ask("Bash(rm:*)");
    let many = |wrapper: &str, count| format!("{}rm a", wrapper.repeat(count));
    for command in [
        "env 2>&1 rm a",
        "time >/dev/null rm -f a",
        "timeout 2 </dev/null cat secret",
        "bash 2>&1 -c 2>&1 'rm a'",
        "2>&1 {fd}>/dev/null rm a",
        "X=1 {fd}>/dev/null rm a",
        "! ! rm a",
        "ls && ! ! rm a",
        "! while rm a; do break; done",
        "! if rm a; then ls; fi",
        "! for i in a; do rm a; done",
        "echo `echo \\`rm a\\``",
        "x=`echo \\`rm a\\``",
        "env -S\"rm a\"",
        "env -iS \"rm a\"",
        "env --split-string=\"rm a\"",
        "taskset 0x1 rm a",
        "2>&1 0<&0 rm a",
        ">/dev/null X=1 0<&0 rm a",
        "\"\" nice rm a",
        "timeout .5 rm a",
        "timeout +5 rm a",
        "timeout inf rm a",
        "env <<E rm a\nx\nE",
        "X=1 <<'E' rm a\nx\nE",
        "taskset ff rm a",
        &many("env ", 64),
        &many("builtin command ", 40),
        "ls a\n\\rm b",
        "echo \"$\\\n(rm a)\"",
    ] {
        for session in [&bypass, &free] {
            assert_ne!(run(session, command), Allow, "{command:?}");
        }
        if !command.contains("secret") && !command.starts_with("bash") && !command.starts_with('"')
        {
            assert_eq!(run(&asks, command), Ask, "{command:?}");
        }
    }
    for command in ["env 2>&1 ls a", "! ls", "env -i A=1 ls", "taskset 0x1 ls"] {
        assert_eq!(run(&free, command), Allow, "{command:?}");
        assert_eq!(run(&asks, command), Allow, "{command:?}");
    }
}

#[test]
fn a_shell_whose_directory_has_become_a_link_to_elsewhere_is_asked_about() {
    let session = Session::new(PermissionMode::Default);
    let led_away = session.clone().link("/made/project", "/elsewhere");
    for command in ["ls", "grep -rh x", "git log -1 -p", "pwd; ls"] {
        assert!(
            session
                .paths("Bash", &json!({"command": command}))
                .contains(&"/made/project".to_owned()),
            "{command}"
        );
        assert_eq!(run(&session, command), Allow, "{command}");
        assert_eq!(run(&led_away, command), Ask, "{command}");
    }
}

#[test]
fn a_change_of_directory_that_fails_leaves_the_rest_where_it_was() {
    let session =
        Session::new(PermissionMode::Default).link("/made/project/lf", "/elsewhere/secret.txt");
    for command in [
        "cd nope || cat lf",
        "cd nope; cat lf",
        "cd nope | cat lf",
        "cd nope\ncat lf",
        "command cd nope; cat lf",
    ] {
        assert_eq!(run(&session, command), Ask, "{command:?}");
    }
    let forbids = Session::new(PermissionMode::BypassPermissions).deny("Read(./b/key.txt)");
    let far = format!("{}cat key.txt", "cd a; ".repeat(20));
    for command in [
        "cd nope; cd b; cat key.txt",
        "cd nope; cat b/key.txt",
        "pushd b; cat key.txt",
        "builtin cd -- b && cat key.txt",
        &far,
    ] {
        assert_ne!(run(&forbids, command), Allow, "{command:?}");
    }
    assert_eq!(run(&forbids, "cd b && cat other.txt"), Allow);
}

#[test]
fn a_command_in_the_index_of_an_array_does_not_run_unasked() {
    let modes = [
        PermissionMode::Default,
        PermissionMode::Plan,
        PermissionMode::AcceptEdits,
    ];
    for command in [
        "a[$(touch X)]=1",
        "a[$(touch X)]+=1",
        "a[`touch X`]=1",
        "a[\"$(touch X)\"]=1",
        "a[b[$(touch X)]]=1",
        "a[$(touch X)]=1 ls",
        "a[$((b[$(touch X)]))]=1",
        "for i in 1; do a[$(touch X)]=$i; done",
        "x='b[$(touch X)]'; a[x]=1",
        "echo ${a[$(touch X)]}",
        "echo $((a[$(touch X)]))",
        "echo $[a[$(touch X)]]",
        "echo ${b/$(touch X)/y}",
        "echo ${b/`touch X`/y}",
        "echo ${b#$(touch X)}",
        "[[ a =~ $(touch X) ]]",
        "[[ a == *$(touch X)* ]]",
        "[[ -v 'a[$(touch X)]' ]]",
        "case a in $(touch X)) ls;; esac",
        "select x in a; do ls; done",
    ] {
        for mode in &modes {
            let session = Session::new(mode.clone());
            assert_eq!(run(&session, command), Ask, "{command} in {mode}");
        }
        let quiet = Session::new(PermissionMode::DontAsk);
        assert_eq!(run(&quiet, command), Deny, "{command}");
        let free = Session::new(PermissionMode::BypassPermissions).deny("Bash(touch:*)");
        if command.contains("touch X") && !command.contains('\'') {
            assert_eq!(run(&free, command), Deny, "{command}");
        }
    }
    let session = Session::new(PermissionMode::Default);
    for command in ["echo \"a <(b)\"", "echo '$(b)'", "echo \"a[0]\""] {
        assert_eq!(run(&session, command), Allow, "{command}");
    }
}

#[test]
fn a_program_that_reads_does_not_run_unasked_with_a_flag_or_word_that_is_not_known() {
    let session = Session::new(PermissionMode::Default)
        .link("/made/project/way", "/etc")
        .link("/made/project/way/passwd", "/etc/passwd");
    for command in [
        "git tag -l -d v1",
        "git blame -S F",
        "git blame --contents F",
        "git blame --ignore-revs-file F",
        "git rev-parse --glob=x",
        "git log --output=x",
        "git diff --ext-diff",
        "git grep --open-files-in-pager x",
        "docker inspect --zzz v1",
        "fd --output X",
        "fd . /etc",
        "ss x",
        "ss -K",
        "printf *",
        "printf -v x y",
        "man ./x",
        "rg --pre x y",
        "sort -o x y",
        "sort --compress-program=x y",
        "date -s x",
        "tree --fromfile /etc/passwd",
        "tree -o x",
        "tree /etc",
        "du /etc",
        "du --files0-from=/etc/passwd",
        "du --files0-from=way",
        "wc --files0-from=way",
        "TMPDIR=/etc; ls",
        "XDG_CONFIG_HOME=x; git status",
        "foo=1; ls",
        "for PATH in x; do ls; done",
        "grep x way/passwd",
    ] {
        assert_eq!(run(&session, command), Ask, "{command}");
    }
    for command in [
        "git log --oneline -5",
        "git diff --stat HEAD~1",
        "git status -sb",
        "git branch -a",
        "grep -rn x src",
        "grep -A 3 -i x a.txt",
        "rg -n --hidden x",
        "sort -rn a.txt",
        "tree -L 2",
        "du -sh src",
        "ls -la src",
        "cat *.txt",
        "head -n 5 a.txt",
        "jq .name a.json",
        "date +%s",
        "ps aux",
        "NODE_ENV=test ls",
        "CI=1; ls",
    ] {
        assert_eq!(run(&session, command), Allow, "{command}");
    }
}

#[test]
fn a_program_that_starts_another_does_not_hide_it_from_a_rule_that_forbids() {
    let free = Session::new(PermissionMode::Default)
        .allow("Bash")
        .deny("Bash(rm:*)");
    for command in [
        "nsenter rm a",
        "nsenter -t 1 rm a",
        "pkexec rm a",
        "ltrace -f rm a",
        "setpriv --reuid 1 rm a",
        "runuser -u bob rm a",
        "uv run rm a",
        "faketime yesterday rm a",
        "systemd-run rm a",
        "${x/$(rm a)/y}",
        "a[$(rm a)]=1",
    ] {
        assert_eq!(run(&free, command), Deny, "{command}");
    }
}

#[test]
fn a_path_is_not_judged_by_what_lay_there_before_the_line_moved_it() {
    let session = Session::new(PermissionMode::AcceptEdits)
        .directory("/made/project/sub")
        .link("/made/project/way", "/etc");
    for command in [
        "mv sub d && touch d/x",
        "mv sub d; cat d/x",
        "mv way d && cat d",
    ] {
        assert_eq!(run(&session, command), Ask, "{command}");
    }
    for command in ["mv a.txt b.txt && cat b.txt", "mv sub d && ls src"] {
        assert_eq!(run(&session, command), Allow, "{command}");
    }
    let linker = Session::new(PermissionMode::Default).allow("Bash(ln:*)");
    assert_eq!(run(&linker, "ln -s /etc d && cat d/passwd"), Ask);
}

#[test]
fn ways_around_a_rule_that_forbids_are_asked_about() {
    let rules = ["Bash(rm:*)", "Read(secret/**)"];
    for command in [
        "eval 'r''m a'",
        "eval \"$X\"",
        "$(echo rm) a",
        "\"$X\" a",
        "{rm,a}",
        "/bin/r? a",
        "bash <<'EOF'\nrm a\nEOF",
        "echo 'rm a' | sh",
        "bash -c \"$X\"",
        "python3 -c 'import os'",
        "perl -e 'unlink 1'",
        "awk 'BEGIN { system(1) }'",
        "find . -exec r''m {} +",
        "busybox r''m a",
        "source ./script",
        "trap 'rm a' EXIT",
        "X=ls; X=rm; $X a",
        "ls \"unterminated",
    ] {
        for rule in rules {
            let bypass = Session::new(PermissionMode::BypassPermissions);
            assert_eq!(run(&bypass, command), Allow, "{command}");
            let bypass = bypass.deny(rule);
            assert_ne!(run(&bypass, command), Allow, "{command} with {rule}");
        }
    }
}

#[test]
fn what_rules_that_forbid_do_not_see_is_what_the_documentation_lists() {
    let free = Session::new(PermissionMode::Default)
        .allow("Bash")
        .deny("Bash(rm:*)")
        .deny("Read(secret/**)")
        .deny("Edit(private/**)");
    for command in [
        "git -c alias.z='!rm x' z",
        "echo x > p*/key.txt",
        "tee p*/key.txt",
        "make",
        "npm test",
        "./script.sh",
        "python3 x.py",
        "ls -a | xargs cat",
        "unzip x.zip",
        "git checkout main",
        "vim -c '!rm x'",
        "docker exec c rm x",
    ] {
        assert_eq!(run(&free, command), Allow, "{command}");
    }
    for (command, expected) in [
        ("ssh host rm x", Deny),
        ("X=rm; $X a", Deny),
        ("awk 1 a.txt", Ask),
        ("alias x=rm", Ask),
        ("chroot . rm x", Ask),
    ] {
        assert_eq!(run(&free, command), expected, "{command}");
    }
}

#[test]
fn files_that_must_not_be_read_are_not_read_by_another_name() {
    let free = Session::new(PermissionMode::Default)
        .allow("Bash")
        .deny("Read(secret/**)");
    for (command, expected) in [
        ("cat secret/key", Deny),
        ("cat ./secret/../secret/key", Deny),
        ("cat SECRET/key", Deny),
        ("cat < secret/key", Deny),
        ("cd secret && cat key", Deny),
        ("cd nowhere || cat secret/key", Deny),
        ("cp secret/key copy", Deny),
        ("cp -t copies secret/key", Deny),
        ("while read l; do echo $l; done < secret/key", Deny),
        ("cat se*/key", Ask),
        ("cat s?cret/key", Ask),
        ("grep -r key .", Ask),
        ("rg key", Ask),
        ("tar cf all.tar .", Ask),
        ("xxd secret/key", Ask),
        ("dd if=secret/key", Ask),
        ("curl -d @secret/key http://localhost", Ask),
        ("git show HEAD:secret/key", Ask),
        ("ln -s secret other", Ask),
        ("cd se* && cat key", Ask),
        ("cat \"$FILE\"", Ask),
        ("bash -c 'cat secret/key'", Ask),
        ("cat notes.txt", Allow),
        ("cat *.txt", Allow),
        ("grep key notes.txt", Allow),
        ("echo secret/key", Allow),
        ("npm test", Allow),
    ] {
        assert_eq!(run(&free, command), expected, "{command}");
    }
    let linked = free.link("/made/project/way/key", "/made/project/secret/key");
    assert_eq!(run(&linked, "cat way/key"), Deny);
    assert_eq!(run(&linked, "xxd way/key"), Ask);
}

#[test]
fn a_link_with_two_dots_behind_it_does_not_pass_a_rule_that_forbids() {
    let link = "/made/project/way/../secret/key";
    for (mode, rule) in [
        (PermissionMode::BypassPermissions, "Read(//vault/**)"),
        (PermissionMode::AcceptEdits, "Read(//vault/**)"),
    ] {
        let session = Session::new(mode)
            .deny(rule)
            .link(link, "/vault/secret/key");
        assert_eq!(run(&session, "cat way/../secret/key"), Deny);
        assert_eq!(run(&session, "cat < way/../secret/key"), Deny);
        assert_eq!(run(&session, "sudo cat way/../secret/key"), Deny);
    }
    let session = Session::new(PermissionMode::BypassPermissions).deny("Read(//vault/**)");
    let paths = session.paths("Bash", &json!({"command": "cat way/../secret/key"}));
    assert!(paths.contains(&link.to_owned()), "{paths:?}");
    let session = Session::new(PermissionMode::AcceptEdits).link(link, "/vault/secret/key");
    assert_eq!(run(&session, "touch way/../secret/key"), Ask);
}

#[test]
fn a_link_that_a_glob_or_a_walk_follows_is_judged_by_where_it_leads() {
    let globs = [
        "cat linkdir_ou?/o.txt",
        "cd linkdir_ou* && cat o.txt",
        "cat link*",
        "head < link*",
    ];
    let trees = [
        "grep -R x .",
        "grep -nR x",
        "egrep --dereference-recursive x .",
        "find -L .",
        "find . -follow",
        "rg -L x",
        "fd -L x",
        "tree -l",
        "ls -LR",
        "du -L .",
        "diff -r . sub",
    ];
    for command in globs.into_iter().chain(trees) {
        let input = json!({"command": command});
        let open = Session::new(PermissionMode::Default);
        let looks = open.looks("Bash", &input);
        assert!(
            !looks.globs.is_empty() || !looks.trees.is_empty(),
            "{command}"
        );
        let found = |links: &[&str], is_whole| {
            let links = links.iter().map(|&link| link.to_owned()).collect();
            open.clone().reached(&looks, &Reached { links, is_whole })
        };
        if !command.contains('<') && !command.contains("&&") {
            assert_eq!(
                run(&found(&["/made/project/src"], true), command),
                Allow,
                "{command}"
            );
        }
        assert_eq!(run(&found(&["/made/out"], true), command), Ask, "{command}");
        assert_eq!(
            run(&found(&[], false), command),
            Ask,
            "{command} in a large tree"
        );
    }
    for command in [
        "grep -r x .",
        "du -sh .",
        "find . -name x",
        "ls -la",
        "cat a.txt",
    ] {
        let looks =
            Session::new(PermissionMode::Default).looks("Bash", &json!({"command": command}));
        assert_eq!(looks, Looks::default(), "{command}");
    }
}

#[test]
fn what_nobody_means_to_remove_is_always_asked_about() {
    let bypass = Session::new(PermissionMode::BypassPermissions);
    for command in [
        "rm -rf /",
        "rm -rf /*",
        "rm -rf ~",
        "rm -rf $HOME",
        "rm -rf .",
        "rm -rf ..",
        "rm -rf /made",
        "sudo rm -rf /usr",
        "cd .. && rm -rf project",
        "ls; rm -r -f /made/project",
    ] {
        assert_eq!(run(&bypass, command), Ask, "{command}");
    }
    for command in ["rm -rf build", "rm -rf /made/other", "rm x*"] {
        assert_eq!(run(&bypass, command), Allow, "{command}");
    }
}

#[test]
fn homes_and_variables_that_are_not_known_are_not_taken_for_known_ones() {
    let session = Session::new(PermissionMode::Default);
    for command in [
        "cat ~root/x",
        "cat ~+/x",
        "for HOME in /etc; do cat $HOME/passwd; done",
        "HOME=/etc; cat $HOME/passwd",
        "export HOME=/etc; cat $HOME/passwd",
        "read HOME; cat $HOME/passwd",
        "cd sub; cat $PWD/../../x",
        "cat $((x))",
    ] {
        assert_eq!(run(&session, command), Ask, "{command}");
    }
}

/// Each of them runs code, writes, or reads outside of the project, and looks as if it did not.
#[test]
fn what_only_looks_harmless_is_asked_about() {
    let session = Session::new(PermissionMode::Default);
    for command in [
        "echo \"$(cat <<'EOF' | 'sh'\ntouch evil\nEOF\nEOF' | 'sh\n)\"",
        "echo \"$(cat <<'EOF' >'/root/.bashrc'\nevil\nEOF\nEOF' >'/root/.bashrc\n)\"",
        "echo 'a[$(touch evil)]'; echo $((_))",
        "__='a[$(touch evil)]'; echo $((__))",
        "test -v 'a[$(touch evil)]'",
        "[[ 'a[`touch evil`]' -eq 0 ]]",
        "[ -v 'a[`touch evil`]' ]",
        "a='b[$(touch evil)]'; [[ a -eq 0 ]]",
        "PATH=.; ls",
        "PATH=.\nls",
        "for PATH in .; do ls; done",
        "CDPATH=/; cd etc && cat passwd",
        "IFS=/; ls",
        "LD_PRELOAD=./x.so; ls",
        "GIT_EXTERNAL_DIFF=./evil; git diff",
        "git grep -nO./evil x",
        "git grep --open=./evil x",
        "git cat-file --textcon HEAD:a",
        "fd -Hx rm",
        "fd --exec=rm",
        "tree -ao out",
        "hostname -F./a",
        "ss -tK",
        "file -bC",
        "rg -uz x",
        "jq -nf FILE",
        "cd a/b/c; cat ../../../../etc/passwd",
        "false && cd sub; cat ../secret",
        "grep -e. /etc/shadow",
        "grep --regexp=. /etc/shadow",
        "grep -f/etc/shadow a.txt",
        "diff --from-file=/etc/shadow a.txt",
        "wc --files0-from=/etc/shadow",
        "find -L / -name x",
        "find -O3 /etc",
        "find . -anewer /etc/shadow",
    ] {
        assert_eq!(run(&session, command), Ask, "{command}");
    }
    let editing = Session::new(PermissionMode::AcceptEdits);
    let automatic = Session::new(PermissionMode::Auto);
    for command in [
        "cp \"-t/etc\" a.txt",
        "cp \\-t/etc a.txt",
        "cp \"--target-directory=/etc\" a.txt",
        "mv '-t/etc' a.txt",
        "cp -t/etc a.txt",
        "sed s/a/b/ a.txt '-e1e touch evil'",
        "sed s/a/b/ a.txt '-fscript'",
        "cp a.txt sub/../../b",
    ] {
        assert_eq!(run(&editing, command), Ask, "{command}");
        assert_eq!(run(&automatic, command), Ask, "{command}");
    }
}

#[test]
fn a_rule_allows_only_what_it_names() {
    for (rule, command) in [
        ("Bash(find:*)", "timeout 5 find . -delete"),
        ("Bash(find:*)", "nohup find . -exec rm {} +"),
        ("Bash(find:*)", "command find . -delete"),
        ("Bash(eval:*)", "builtin eval 'touch evil'"),
        ("Bash(source:*)", "command source ./x"),
        ("Bash(npm run:*)", "\"npm run x/evil\""),
        ("Bash(npm run:*)", "timeout --foo=bar 5 npm run x"),
        ("Bash(npm run:*)", "PATH=.; npm run x"),
        ("Bash", "command cd .git && echo x > config"),
        ("Bash", "cp --target-directory=.git/hooks a.txt"),
        ("Bash", "cp -t.git/hooks a.txt"),
    ] {
        let session = Session::new(PermissionMode::Default).allow(rule);
        assert_eq!(run(&session, command), Ask, "{command} with {rule}");
    }
}

#[test]
fn a_question_says_which_part_did_not_pass_and_what_would_help() {
    let session = Session::new(PermissionMode::Default).allow("Bash(npm test:*)");
    let input = json!({"command": "npm test && cargo build --release; ls"});
    let decision = session.decide("Bash", &input);
    assert_eq!((decision.verdict, &decision.reason), (Ask, &Reason::Parts));
    let parts: Vec<_> = decision
        .parts
        .iter()
        .map(|part| (part.command.as_str(), part.verdict))
        .collect();
    assert_eq!(
        parts,
        [
            ("npm test", Allow),
            ("cargo build --release", Ask),
            ("ls", Allow)
        ]
    );
    assert_eq!(
        suggested(&decision).unwrap(),
        ["+Bash(cargo build *)@localSettings"]
    );
    let outside = session.decide("Bash", &json!({"command": "cat /etc/hosts"}));
    assert_eq!(outside.blocked_path.as_deref(), Some("/etc/hosts"));
    assert_eq!(
        suggested(&outside).unwrap(),
        [
            "+Bash(cat /etc/hosts)@localSettings",
            "+Read(//etc/**)@session"
        ]
    );
}

#[test]
fn whatever_is_decided_each_part_says_why() {
    let session = Session::new(PermissionMode::Default)
        .deny("Bash(shred:*)")
        .ask("Bash(make:*)")
        .allow("Bash(npm test)");
    let input = json!({"command": "npm test && shred x; make; rm -rf build; cat /etc/hosts"});
    let decision = session.decide("Bash", &input);
    assert_eq!(decision.verdict, Deny);
    let parts: Vec<_> = decision
        .parts
        .iter()
        .map(|part| (part.command.as_str(), part.verdict, part.reason.kind()))
        .collect();
    assert_eq!(
        parts,
        [
            ("npm test", Allow, Some("rule")),
            ("shred x", Deny, Some("rule")),
            ("make", Ask, Some("rule")),
            ("rm -rf build", Ask, Some("other")),
            ("cat /etc/hosts", Ask, Some("other")),
        ]
    );
}

#[test]
fn a_call_without_a_command_is_asked_about() {
    let session = Session::new(PermissionMode::Default);
    for input in [json!({}), json!({"command": 5}), json!(null)] {
        assert_eq!(session.verdict("Bash", &input), Ask, "{input}");
    }
}
