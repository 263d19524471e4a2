//! The programs that only read.

/// A program, and how it may be called so that it only reads.
pub(super) struct Program {
    /// Its name; of git and docker with the subcommand.
    pub(super) name: &'static str,
    /// The flags that it may get, as [`super::flags`] describes them; `None` for any flag.
    pub(super) flags: Option<&'static str>,
    /// The words that it may get.
    pub(super) words: Words,
}

/// Which words a program may get: a glob may become a flag, and CLI 2.1.325 asks about a `$` even where it is quoted.
#[derive(Clone, Copy)]
pub(super) enum Words {
    /// Globs, and words with a `$`.
    Any,
    /// Globs.
    Globs,
    /// Words with a `$`.
    Dollars,
    /// Neither.
    Plain,
}

const fn any_flag(name: &'static str, words: Words) -> Program {
    Program {
        name,
        flags: None,
        words,
    }
}

const fn with(name: &'static str, words: Words, flags: &'static str) -> Program {
    Program {
        name,
        flags: Some(flags),
        words,
    }
}

/// All of them.
pub(super) const PROGRAMS: &[Program] = &[
    any_flag("basename", Words::Any),
    any_flag("df", Words::Any),
    any_flag("dirname", Words::Any),
    any_flag("du", Words::Any),
    any_flag("echo", Words::Any),
    any_flag("readlink", Words::Any),
    any_flag("realpath", Words::Any),
    any_flag("tr", Words::Any),
    any_flag("cat", Words::Globs),
    any_flag("cmp", Words::Globs),
    any_flag("column", Words::Globs),
    any_flag("cut", Words::Globs),
    any_flag("diff", Words::Globs),
    any_flag("head", Words::Globs),
    any_flag("hexdump", Words::Globs),
    any_flag("ls", Words::Globs),
    any_flag("nl", Words::Globs),
    any_flag("od", Words::Globs),
    any_flag("rev", Words::Globs),
    any_flag("stat", Words::Globs),
    any_flag("strings", Words::Globs),
    any_flag("tac", Words::Globs),
    any_flag("tail", Words::Globs),
    any_flag("wc", Words::Globs),
    any_flag("expr", Words::Dollars),
    any_flag("false", Words::Dollars),
    any_flag("free", Words::Dollars),
    any_flag("groups", Words::Dollars),
    any_flag("id", Words::Dollars),
    any_flag("seq", Words::Dollars),
    any_flag("sleep", Words::Dollars),
    any_flag("true", Words::Dollars),
    any_flag("type", Words::Dollars),
    any_flag("uname", Words::Dollars),
    any_flag("locale", Words::Dollars),
    any_flag("nproc", Words::Dollars),
    any_flag("uptime", Words::Dollars),
    any_flag("docker ps", Words::Dollars),
    any_flag("docker images", Words::Dollars),
    any_flag("find", Words::Plain),
    any_flag("comm", Words::Plain),
    any_flag("expand", Words::Plain),
    any_flag("fmt", Words::Plain),
    any_flag("fold", Words::Plain),
    any_flag("numfmt", Words::Plain),
    any_flag("paste", Words::Plain),
    any_flag("pr", Words::Plain),
    any_flag("tsort", Words::Plain),
    any_flag("unexpand", Words::Plain),
    any_flag("cal", Words::Plain),
    with("egrep", Words::Globs, EGREP),
    with("fgrep", Words::Globs, FGREP),
    with("grep", Words::Globs, FGREP),
    with("md5sum", Words::Globs, MD5SUM),
    with("sha1sum", Words::Globs, MD5SUM),
    with("sha256sum", Words::Globs, MD5SUM),
    with("jq", Words::Dollars, JQ),
    with("base64", Words::Plain, BASE64),
    with("date", Words::Plain, DATE),
    with("fd", Words::Plain, FD),
    with("file", Words::Plain, FILE),
    with("git blame", Words::Plain, GIT_BLAME),
    with("git branch", Words::Plain, GIT_BRANCH),
    with("git cat-file", Words::Plain, "-e -p -t -s --batch-check -#"),
    with("git describe", Words::Plain, GIT_DESCRIBE),
    with("git diff", Words::Plain, GIT_DIFF),
    with("git for-each-ref", Words::Plain, GIT_FOR_EACH_REF),
    with("git grep", Words::Plain, GIT_GREP),
    with("git log", Words::Plain, GIT_LOG),
    with("git ls-files", Words::Plain, GIT_LS_FILES),
    with(
        "git merge-base",
        Words::Plain,
        "--all --octopus --is-ancestor --independent --fork-point -#",
    ),
    with("git reflog", Words::Plain, "-n# --all -#"),
    with("git remote", Words::Plain, "-v --verbose"),
    with("git rev-list", Words::Plain, GIT_REV_LIST),
    with("git rev-parse", Words::Plain, GIT_REV_PARSE),
    with("git shortlog", Words::Plain, GIT_SHORTLOG),
    with("git show", Words::Plain, GIT_SHOW),
    with("git status", Words::Plain, GIT_STATUS),
    with("git tag", Words::Plain, GIT_TAG),
    with("help", Words::Plain, "-d"),
    with("lsof", Words::Plain, LSOF),
    with(
        "man",
        Words::Plain,
        "-d -f --whatis -k --apropos -w -S# -s# -a --all",
    ),
    with("netstat", Words::Plain, "-r -i -s -g -v -n -l -a -f="),
    with("pgrep", Words::Plain, PGREP),
    with("printf", Words::Plain, ""),
    with("rg", Words::Plain, RG),
    with("sort", Words::Plain, SORT),
    with("ss", Words::Plain, SS),
    with("tput", Words::Plain, "-T= -V -x"),
    with("tree", Words::Plain, TREE),
    with("uniq", Words::Plain, UNIQ),
    with("docker logs", Words::Plain, DOCKER_LOGS),
    with(
        "docker inspect",
        Words::Plain,
        "-f= --format= -s --size --type=",
    ),
    with("which", Words::Plain, "-a"),
];

const EGREP: &str = "\
    -i -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e= --regexp= -f= --file= \
    --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v \
    --invert-match -V --version --help -m+ --max-count# -b --byte-offset -n --line-number --line-buffered -H \
    --with-filename -h --no-filename --label= -o --only-matching -q --quiet --silent --binary-files= -a --text -I \
    -d= --directories= -D= --devices= -r --recursive -R --dereference-recursive --include= --exclude= \
    --exclude-from= --exclude-dir= -L --files-without-match -l --files-with-matches -c --count -T --initial-tab -Z \
    --null -B+ --before-context# -A+ --after-context# -C+ --context# --group-separator= --no-group-separator \
    --color=";

const FGREP: &str = "\
    -i -E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e= --regexp= -f= --file= \
    --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v \
    --invert-match -V --version --help -m+ --max-count# -b --byte-offset -n --line-number --line-buffered -H \
    --with-filename -h --no-filename --label= -o --only-matching -q --quiet --silent --binary-files= -a --text -I \
    -d= --directories= -D= --devices= -r --recursive -R --dereference-recursive --include= --exclude= \
    --exclude-from= --exclude-dir= -L --files-without-match -l --files-with-matches -c --count -T --initial-tab -Z \
    --null -B+ --before-context# -A+ --after-context# -C+ --context# --group-separator= --no-group-separator \
    --color= -U";

const MD5SUM: &str = "\
    -b --binary -c --check --tag -t --text -z --zero --ignore-missing --quiet --status --strict -w --warn --help \
    --version";

const JQ: &str = "\
    -c -n -e -s -r -R -C -M -S --tab --compact-output --null-input --exit-status --slurp --raw-output --raw-input \
    --color-output --monochrome-output --sort-keys --arg= --argjson=";

const BASE64: &str = "\
    -d --decode -i= --ignore-garbage -w# --wrap# --help --version";

const DATE: &str = "\
    -u --utc --universal -d= --date= --debug -I --iso-8601= -R --rfc-email --rfc-3339= -r= --reference= --help \
    --version";

const FD: &str = "\
    --glob -H --hidden -I --no-ignore --no-ignore-vcs --no-ignore-parent -s --case-sensitive -i --ignore-case -g \
    --regex -F --fixed-strings --and= -a --absolute-path -L --follow -p --full-path -0 --print0 -d# --max-depth# \
    --min-depth# --exact-depth# -E= --exclude= --prune -t= --type= -e= --extension= -S= --size= --changed-within= \
    --changed-before= -o= --owner= --threads# --batch-size# --ignore-file= -c= --color= -j# --max-results# -1 -q \
    --quiet --show-errors --base-directory= --search-path= --path-separator= --strip-cwd-prefix --one-file-system -h \
    --help -V --version";

const FILE: &str = "\
    --help -v --version -b --brief -c --exclude= --exclude-quiet= -F= --separator= -i --mime --mime-type \
    --mime-encoding --apple -k --keep-going -l --list -L --dereference -h --no-dereference -n --no-buffer -0 \
    --print0 -p --preserve-date -r --raw -s --special-files";

const GIT_BLAME: &str = "\
    -f -n -p -t -l -s -e -w -C -M -L= --root --incremental --ignore-rev= --abbrev# --show-stats --porcelain \
    --line-porcelain --date= --score-debug --show-name --show-number --show-email -#";

const GIT_BRANCH: &str = "\
    -r -a --merged --no-merged -l --points-at= -v --remotes --contains= --no-contains= --all -i --color --no-color \
    --show-current --abbrev# --no-abbrev --column --no-column --sort= --list --ignore-case --verbose -#";

const GIT_DESCRIBE: &str = "\
    --tags --contains --abbrev# --dirty --broken --candidates# --exact-match --long --match= --exclude= --always -#";

const GIT_DIFF: &str = "\
    -p -s -u --patch-with-stat --stat --numstat --shortstat --dirstat --check --summary --name-only --name-status \
    --binary --ws-error-highlight= --inter-hunk-context# -B --break-rewrites -M --find-renames -D \
    --irreversible-delete -C --find-copies --no-renames -l --minimal --ignore-all-space --ignore-space-change \
    --ignore-space-at-eol --ignore-blank-lines --patience --histogram --diff-algorithm= --word-diff \
    --word-diff-regex= --color-words -R -S= -G= --pickaxe-all --pickaxe-regex --cached --exit-code --staged \
    --diff-filter= --color --no-color --full-index --abbrev# --find-copies-harder --relative= --function-context \
    --quiet --no-ext-diff -#";

const GIT_FOR_EACH_REF: &str = "\
    --points-at= --merged= --no-merged= --contains= --no-contains= --count# --sort= -#";

const GIT_GREP: &str = "\
    -e= -v -i -w --max-depth# -E -G -F -P -n -h -H -l --files-with-matches -L -o -c -C# -B# -A# --and --or --not -q \
    --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp \
    --fixed-strings --line-number --files-without-match --only-matching --count --quiet --color --no-color --break \
    --heading --threads# --recurse-submodules --cached --untracked --context# --after-context# --before-context# -#";

const GIT_LOG: &str = "\
    -p -S= -G= -n# --since= --all --follow --no-decorate --decorate --source --stat --patch --no-patch --numstat \
    --shortstat --name-only --name-status --grep= --reverse --max-count# --skip# --after= --until= --before= \
    --author= --committer= --walk-reflogs --merges --no-merges --no-min-parents --no-max-parents --first-parent \
    --branches --tags --remotes --cherry-mark --cherry-pick --left-right --date= --boundary --full-history --dense \
    --sparse --simplify-merges --ancestry-path --date-order --author-date-order --topo-order --no-walk --graph \
    --abbrev-commit --oneline --relative-date --color -s --diff-filter= --no-color --pickaxe-regex --pickaxe-all \
    --no-ext-diff -#";

const GIT_LS_FILES: &str = "\
    -z -t -v -f -c -d -m -o -i -s -k -u -x= --exclude= --exclude-standard --full-name --cached --deleted --others \
    --ignored --stage --unmerged --killed --modified --directory --no-empty-directory --eol --error-unmatch \
    --recurse-submodules --abbrev# --debug -#";

const GIT_REV_LIST: &str = "\
    --max-count# --max-age# --min-age# --sparse --no-merges --min-parents# --no-min-parents --max-parents# \
    --no-max-parents --all --branches --tags --remotes --reverse --abbrev# --abbrev-commit --count --since= --grep= \
    -n# --skip# --after= --until= --before= --author= --committer= --walk-reflogs --merges --first-parent \
    --full-history --dense --ancestry-path --graph --oneline --source -#";

const GIT_REV_PARSE: &str = "\
    --show-prefix --show-toplevel --verify --short= --abbrev-ref --symbolic --symbolic-full-name --git-dir \
    --git-common-dir --absolute-git-dir --is-inside-git-dir --is-inside-work-tree --is-bare-repository \
    --is-shallow-repository --show-cdup -#";

const GIT_SHORTLOG: &str = "\
    -c -n -s -e --numbered --summary --email --group= --committer --since= --after= --until= --before= --author= \
    --no-merges --all --branches --tags --remotes -#";

const GIT_SHOW: &str = "\
    --stat -s --name-only --abbrev-commit --oneline --date= --decorate --raw -p --color --patch --no-patch \
    --first-parent -m --numstat --shortstat --name-status --diff-filter= --no-color --word-diff --word-diff-regex= \
    --color-words --no-ext-diff -#";

const GIT_STATUS: &str = "\
    -v -s -b -u= --no-renames --renames -M= --find-renames= --short --branch --porcelain --long --verbose \
    --untracked-files= --ignore-submodules= --ignored --column --no-column --ahead-behind --no-ahead-behind -#";

const GIT_TAG: &str = "\
    -n# -l --contains= --no-contains= --points-at= --column --no-column --sort= --merged= --no-merged= --list -i \
    --ignore-case -#";

const LSOF: &str = "\
    -e= -c= -d= -E -F -g -i -L -o -p= -r -s -S -T -u= -x -h -a -b -K -l -n -N -O -P -Q -R -t -U -v -V -X -A= -k= -C";

const PGREP: &str = "\
    -d= --delimiter= -l --list-name -a --list-full -v --inverse -w --lightweight -c --count -f --full -g= --pgroup= \
    -G= --group= -i --ignore-case -n --newest -o --oldest -O= --older= -P= --parent= -s= --session= -t= --terminal= \
    -u= --euid= -U= --uid= -x --exact -F= --pidfile= -L --logpidfile -r= --runstates= --ns= --nslist= --help -V \
    --version";

const RG: &str = "\
    -h --help -e= -f= --type-list --version --regexp= -A+ --after-context# --context# -B+ --before-context# -a \
    --text -u -o --only-matching -i --ignore-case -S --smart-case --color= --column --line-number -C+ -c --count \
    --debug -l --files-with-matches --files-without-match -F --fixed-strings -L --follow -g= --glob= --no-ignore \
    --heading --no-heading --hidden -v --invert-match --json -n --word-regexp -m+ --max-count# --max-depth# -H -q \
    --quiet --stats -t= --type= -T= --type-not= -w";

const SORT: &str = "\
    -b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -i \
    --ignore-nonprinting -M --month-sort -h --human-numeric-sort -n --numeric-sort -R --random-sort -r --reverse \
    --sort= -V --version-sort --batch-size# -c --check -C -k= --key= -m --merge -s --stable -S= --buffer-size= -t= \
    --field-separator= --parallel# -u --unique -z --zero-terminated --help --version";

const SS: &str = "\
    -h --help -V --version -n --numeric -a --all -l --listening -o --options -e --extended -m --memory -p \
    --processes -i --info --tipcinfo -s --summary --tos --cgroup -b --bpf -E --events -Z --context -z --contexts -4 \
    --ipv4 -6 --ipv6 -0 --packet -t --tcp -M --mptcp -S --sctp -u --udp -d --dccp -w --raw -x --unix --tipc --vsock \
    -f= --family= -H --no-header -O --oneline --inet-sockopt -A= --query= --socket=";

const TREE: &str = "\
    -L# -H= -T= -P= -I= --gitignore --matchdirs --metafirst --ignore-case --nolinks --hintro= --houtro= --inodes \
    --device --sort= --dirsfirst --filesfirst --filelimit# --si --du --prune --charset= --timefmt= --fflinks --info \
    --noreport --version --help -a -d -l -f -x -q -N -Q -p -u -g -s -h -D -c -F -v -t -U -r -i -A -S -n -C -X -J";

const UNIQ: &str = "\
    -c --count=* -d --repeated=* -D --all-repeated=* -f --skip-fields=* --group=* -i --ignore-case=* -s \
    --skip-chars=* -u --unique=* -z --zero-terminated=* -w --check-chars=* --help=* --version=*";

const DOCKER_LOGS: &str = "\
    --details -f --follow --since= -n= --tail= -t --timestamps --until=";
