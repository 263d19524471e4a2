//! Command lines made from the grammar of bash and from the flags that programs' help names. The same seed gives the same
//! lines on every machine.

use std::collections::BTreeMap;

use fastrand::Rng;

/// Makes command lines.
pub(crate) struct Lines {
    random: Rng,
    /// Each program with the flags that its help names.
    flags: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Lines {
    pub(crate) fn new(seed: u64) -> Self {
        let flags = include_str!("../../data/program-flags.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_once(':').unwrap())
            .map(|(program, flags)| (program, flags.split_whitespace().collect()))
            .collect();
        Self {
            random: Rng::with_seed(seed),
            flags,
        }
    }

    /// A command line.
    pub(crate) fn line(&mut self) -> String {
        self.statement(2)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())]
    }

    fn happens(&mut self, percent: u8) -> bool {
        self.random.u8(..100) < percent
    }

    /// A statement with so many levels of others in it.
    fn statement(&mut self, levels: usize) -> String {
        if levels == 0 || self.happens(55) {
            return self.redirected(levels);
        }
        let a = self.statement(levels - 1);
        let b = self.statement(levels - 1);
        let word = self.word(levels - 1);
        let name = self.one(NAMES);
        match self.random.usize(..30) {
            0 | 1 => format!("{a} && {b}"),
            2 => format!("{a} || {b}"),
            3 => format!("{a}; {b}"),
            4 | 5 => format!("{a} | {b}"),
            6 => format!("{a}\n{b}"),
            7 => format!("{a} |& {b}"),
            8 => format!("! {a}"),
            9 => format!("( {a} )"),
            10 => format!("{{ {a}; }}"),
            11 => format!("if {a}; then {b}; fi"),
            12 => format!("while {a}; do {b}; break; done"),
            13 => format!("until {a}; do {b}; break; done"),
            14 => format!("for {name} in {word}; do {a}; done"),
            15 => format!("select {name} in {word}; do {a}; break; done"),
            16 => format!("case {word} in {word}) {a};; *) {b};; esac"),
            17 => format!("{name}() {{ {a}; }}; {name}"),
            18 => format!("[[ {word} {} {word} ]] && {a}", self.test_operator()),
            19 => format!("(( {name} = 1 )) && {a}"),
            20 => format!("{name}={word}; {a}"),
            21 => format!("{name}[{word}]={word}; {a}"),
            22 => format!("{a} &"),
            23 => format!("[ -n {word} ] && {a}"),
            24 => format!("[ {word} > {word} ] || {a}"),
            25 => format!("cd {} || {a}", self.path()),
            26 => format!("cd {}; {a}", self.path()),
            27 => format!("{a}\n\\{b}"),
            28 => format!("{a} # {b}"),
            _ => format!("cd {} && {a}", self.path()),
        }
    }

    fn test_operator(&mut self) -> &'static str {
        self.one(&["==", "=~", "!=", "-eq", "-nt", "<"])
    }

    fn redirected(&mut self, levels: usize) -> String {
        let command = self.prefixed(levels);
        if !self.happens(12) {
            return command;
        }
        let word = self.word(levels.min(1));
        match self.random.usize(..13) {
            0 => format!("{command} > {}", self.path()),
            1 => format!("{command} >> {}", self.path()),
            2 => format!("{command} < {}", self.path()),
            3 => format!("{command} <<< {word}"),
            4 => format!("{command} <<'EOF'\n{word}\nEOF"),
            5 => format!("{command} <<EOF\n{word}\nEOF"),
            6 => format!("{command} 2>&1"),
            7 => format!("{command} > /dev/null"),
            8 => format!("{command} &> {}", self.path()),
            9 => format!("{command} > /dev/null {word}"),
            10 => format!("{command} <<E''\n{word}\nE\n{word}\nE''"),
            11 => format!("{command} <&-"),
            _ => format!("{command} 2> /dev/null"),
        }
    }

    /// A command with variables or other commands in front of it.
    fn prefixed(&mut self, levels: usize) -> String {
        let command = self.command(levels);
        match self.random.usize(..30) {
            0 | 1 => format!("{}={} {command}", self.one(VARIABLES), self.plain()),
            2 => format!("{} {command}", self.one(WRAPPERS)),
            3 => format!("{}={}; {command}", self.one(VARIABLES), self.plain()),
            4 => format!("! ! {command}"),
            5 => format!("{} 2>&1 {command}", self.one(WRAPPERS)),
            _ => command,
        }
    }

    fn command(&mut self, levels: usize) -> String {
        match self.random.usize(..20) {
            0..3 => self.one(CHANGERS).to_owned(),
            3..5 => {
                let changer = self.one(FILE_CHANGERS);
                format!("{changer} {}", self.path())
            }
            5..10 => self.git(levels),
            _ => {
                let programs: Vec<&'static str> = self.flags.keys().copied().collect();
                let programs: Vec<_> = programs
                    .into_iter()
                    .filter(|name| !name.starts_with("git "))
                    .collect();
                let program = self.one(&programs);
                self.with_arguments(program, levels)
            }
        }
    }

    fn git(&mut self, levels: usize) -> String {
        let programs: Vec<&'static str> = self.flags.keys().copied().collect();
        let programs: Vec<_> = programs
            .into_iter()
            .filter(|name| name.starts_with("git "))
            .collect();
        let program = self.one(&programs);
        self.with_arguments(program, levels)
    }

    fn with_arguments(&mut self, program: &'static str, levels: usize) -> String {
        let mut line = program.to_owned();
        for _ in 0..self.random.usize(..4) {
            line.push(' ');
            let is_flag = self.happens(45);
            let flags = self.flags[program].clone();
            if is_flag && !flags.is_empty() {
                let flag = self.one(&flags);
                if flag.len() > 2 && self.happens(5) {
                    // The shell puts the halves together.
                    let (start, end) = flag.split_at(flag.len() / 2);
                    line.push_str(start);
                    line.push_str("\\\n");
                    line.push_str(end);
                } else {
                    line.push_str(flag);
                }
                if flag.starts_with("--") && self.happens(25) {
                    line.push('=');
                    line.push_str(&self.plain());
                }
            } else {
                line.push_str(&self.word(levels));
            }
        }
        line
    }

    fn path(&mut self) -> &'static str {
        self.one(PATHS)
    }

    /// A word that the shell takes as it is.
    fn plain(&mut self) -> String {
        if self.happens(50) {
            self.path().to_owned()
        } else {
            self.one(PLAIN).to_owned()
        }
    }

    fn word(&mut self, levels: usize) -> String {
        if levels == 0 || self.happens(80) {
            return self.plain();
        }
        let name = self.one(NAMES);
        let plain = self.plain();
        let inner = self.statement(levels.min(1) - 1);
        match self.random.usize(..27) {
            0 => format!("$({inner})"),
            1 => format!("`{}`", inner.replace('`', "")),
            2 => format!("\"$({inner})\""),
            3 => format!("<({inner})"),
            4 => format!("${name}"),
            5 => format!("\"${name}\""),
            6 => format!("${{{name}}}"),
            7 => format!("${{{name}/$({inner})/y}}"),
            8 => format!("${{{name}:-{plain}}}"),
            9 => format!("${{{name}[$({inner})]}}"),
            10 => format!("$(( {name} + 1 ))"),
            11 => "$(( 1 + 2 ))".to_owned(),
            12 => format!("$'{plain}'"),
            13 => format!("{{{plain},b}}"),
            14 => format!("'{plain}'"),
            15 => format!("\"{plain}\""),
            16 => format!("\\{plain}"),
            17 => format!("{plain}\\ x"),
            18 => "$[1+1]".to_owned(),
            19 => format!("{name}={plain}"),
            20 => format!("~root/{plain}"),
            21 => format!("\"$\\\n({inner})\""),
            22 => format!("{plain}\\\n{plain}"),
            23 => format!("`echo \\`{inner}\\``"),
            24 => "\"$(( 1 + 1 ))\"".to_owned(),
            25 => format!("{{{name}}}"),
            _ => format!("{plain}*"),
        }
    }
}

const NAMES: &[&str] = &["x", "FOO", "HOME", "PWD", "i"];

const PATHS: &[&str] = &[
    "a.txt",
    "./a.txt",
    "sub/b.txt",
    "sub",
    ".",
    "..",
    "sub/../a.txt",
    "{OUT}/o.txt",
    "{OUT}",
    "/etc/passwd",
    "/etc",
    "/",
    "~",
    "~/x",
    "link_out.txt",
    "linkdir_out",
    "linkdir_out/o.txt",
    "linkdir_ou?/o.txt",
    "linkdir_ou*",
    "link*",
    "link_secret/key.txt",
    "secret/key.txt",
    "se*/key.txt",
    "*.txt",
    "src/*.rs",
    "nothing.txt",
    ".git/config",
    ".claude/x",
    ".env",
    "/dev/null",
    "/proc/self/environ",
    "script.sh",
    "../out/o.txt",
    "-",
];

const PLAIN: &[&str] = &[
    "x", "1", "--", "-x", "k", "v1", "HEAD", "HEAD~1", "main", "origin", "'a b'", "\"a b\"",
    "s/a/b/", "+%s", "5", ".a", "BEGIN", "a=b", "@x", "x:y", "env", "1p", "demo", "get", "list",
    "show", "name",
];

/// Variables in front of a command.
const VARIABLES: &[&str] = &[
    "FOO",
    "NODE_ENV",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "HOME",
    "GIT_DIR",
    "PAGER",
    "LESSOPEN",
    "LD_PRELOAD",
    "TZ",
    "TERM",
    "CI",
    "IFS",
    "CDPATH",
    "GREP_OPTIONS",
    "LS_COLORS",
    "MANPATH",
    "MANOPT",
    "TZDIR",
    "PS4",
    "RUST_LOG",
    "MALLOC_TRACE",
    "GCONV_PATH",
    "NLSPATH",
    "POSIXLY_CORRECT",
    "TERMINFO",
    "RIPGREP_CONFIG_PATH",
];

/// Programs that start the rest of the line.
const WRAPPERS: &[&str] = &[
    "timeout 5",
    "timeout -k 1 5",
    "time",
    "nice",
    "nice -n 5",
    "nohup",
    "stdbuf -o0",
    "command",
    "command -v",
    "builtin",
    "exec",
    "eval",
    "env",
    "env A=1",
    "sudo",
    "xargs",
    "xargs -n1",
    "setsid",
    "ionice",
    "nsenter",
    "unshare",
    "chroot .",
    "bash -c",
    "sh -c",
    "busybox",
    "watch",
    "script -c",
    "strace",
    "flock a.txt",
    "runuser -u x",
    "setpriv",
    "coproc",
    "noglob",
    "doas",
    "systemd-run",
    "chrt 1",
    "taskset 1",
    "parallel",
    "unbuffer",
    "ltrace",
];

/// Commands that change something, or start something.
const CHANGERS: &[&str] = &[
    "npm test",
    "npm test x",
    "make",
    "python3 -c 1",
    "python3 x.py",
    "curl http://localhost",
    "node x.js",
    "bash script.sh",
    "./script.sh",
    "git commit -m x",
    "git push",
    "kill 1",
    "awk '{print $1}' a.txt",
    "awk 'BEGIN{system(1)}'",
    "sed -i s/a/b/ a.txt",
    "sed s/a/b/ a.txt",
    "sed -n 1p a.txt",
    "find . -exec ls {} +",
    "find . -delete",
    "tee a.txt",
    "source script.sh",
    ". script.sh",
    "trap ls EXIT",
    "export FOO=1",
    "unset x",
    "read x",
    "printf -v x 1",
    "true",
    "false",
    "declare x=1",
    "alias x=ls",
    "set -e",
    "shopt -s extglob",
    "ulimit -a",
    "umask",
    "wait",
    "jobs",
    "type ls",
    "hash ls",
    "mapfile x",
    "let x=1",
    "exit",
    "return",
    "break",
    "history",
    "pushd sub",
    "popd",
    "dirs",
    "times",
    "enable",
    "bind -l",
];

/// Programs that change the files that they are given.
const FILE_CHANGERS: &[&str] = &[
    "rm",
    "rm -rf",
    "rm -f",
    "rmdir",
    "touch",
    "mkdir",
    "mkdir -p",
    "mv a.txt",
    "cp a.txt",
    "cp -r sub",
    "ln -s a.txt",
    "chmod +x",
    "truncate -s0",
    "dd if=a.txt",
    "tar cf x.tar",
    "sed -i s/a/b/",
    "tee",
    "install a.txt",
    "mv sub d && touch",
];
