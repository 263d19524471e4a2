//! The settings of git that name a program, collected from its documentation (`git help --config`, git-config(1),
//! gitattributes(5), git-interpret-trailers(1), githooks(5)), and a check that the list is complete.

/// A setting that names a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramSetting {
    /// As git documents it.
    pub documented: &'static str,
    /// The name of the section, that of the subsection, and that of the variable, as bytes: a subsection may hold any.
    pub(super) name: (&'static str, Option<&'static [u8]>, &'static str),
    pub(super) form: Form,
}

/// How a setting names a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By a path, or by a line for the shell.
    Path,
    /// By a line for the shell behind an exclamation mark.
    Shell,
    /// By a folder with hooks in it.
    Hooks,
    /// By an address whose transport is a program.
    Address,
}

const fn setting(
    documented: &'static str,
    section: &'static str,
    subsection: Option<&'static [u8]>,
    variable: &'static str,
) -> ProgramSetting {
    ProgramSetting {
        documented,
        name: (section, subsection, variable),
        form: Form::Path,
    }
}

const fn formed(form: Form, setting: ProgramSetting) -> ProgramSetting {
    ProgramSetting { form, ..setting }
}

const EVIL: Option<&[u8]> = Some(b"evil");
/// No text: it gets lost where names are taken for UTF-8.
const NOT_UTF8: Option<&[u8]> = Some(b"x\xff");

/// All of them.
pub const PROGRAM_SETTINGS: &[ProgramSetting] = &[
    formed(Form::Shell, setting("alias.*", "alias", None, "status")),
    formed(Form::Shell, setting("alias.*", "alias", None, "evil")),
    setting("browser.<tool>.cmd", "browser", EVIL, "cmd"),
    setting("browser.<tool>.path", "browser", EVIL, "path"),
    setting(
        "core.alternateRefsCommand",
        "core",
        None,
        "alternateRefsCommand",
    ),
    setting("core.askPass", "core", None, "askPass"),
    setting("core.editor", "core", None, "editor"),
    setting("core.fsmonitor", "core", None, "fsmonitor"),
    setting("core.gitProxy", "core", None, "gitProxy"),
    formed(
        Form::Hooks,
        setting("core.hooksPath", "core", None, "hooksPath"),
    ),
    setting("core.pager", "core", None, "pager"),
    setting("core.sshCommand", "core", None, "sshCommand"),
    setting("credential.helper", "credential", None, "helper"),
    setting(
        "credential.<url>.*",
        "credential",
        Some(b"https://example.org"),
        "helper",
    ),
    setting("diff.<driver>.command", "diff", NOT_UTF8, "command"),
    setting("diff.<driver>.textconv", "diff", EVIL, "textconv"),
    setting("diff.external", "diff", None, "external"),
    setting("difftool.<tool>.cmd", "difftool", EVIL, "cmd"),
    setting("difftool.<tool>.path", "difftool", EVIL, "path"),
    setting("filter.<driver>.clean", "filter", NOT_UTF8, "clean"),
    setting("filter.<driver>.clean", "filter", Some(b"e=v.il"), "clean"),
    setting("filter.<driver>.smudge", "filter", NOT_UTF8, "smudge"),
    setting("filter.<driver>.process", "filter", EVIL, "process"),
    setting("gc.recentObjectsHook", "gc", None, "recentObjectsHook"),
    setting("gpg.program", "gpg", None, "program"),
    setting("gpg.<format>.program", "gpg", Some(b"ssh"), "program"),
    setting(
        "gpg.ssh.defaultKeyCommand",
        "gpg",
        Some(b"ssh"),
        "defaultKeyCommand",
    ),
    setting("guitool.<name>.cmd", "guitool", EVIL, "cmd"),
    setting("help.browser", "help", None, "browser"),
    setting("hook.<name>.command", "hook", EVIL, "command"),
    setting("imap.tunnel", "imap", None, "tunnel"),
    setting("instaweb.browser", "instaweb", None, "browser"),
    setting("instaweb.httpd", "instaweb", None, "httpd"),
    setting("interactive.diffFilter", "interactive", None, "diffFilter"),
    setting("man.<tool>.cmd", "man", EVIL, "cmd"),
    setting("man.<tool>.path", "man", EVIL, "path"),
    setting("merge.<driver>.driver", "merge", NOT_UTF8, "driver"),
    setting("mergetool.<tool>.cmd", "mergetool", EVIL, "cmd"),
    setting("mergetool.<tool>.path", "mergetool", EVIL, "path"),
    setting("pager.<cmd>", "pager", None, "diff"),
    setting("pager.<cmd>", "pager", None, "status"),
    setting("remote.<name>.receivepack", "remote", EVIL, "receivepack"),
    setting("remote.<name>.uploadpack", "remote", EVIL, "uploadpack"),
    formed(
        Form::Address,
        setting("remote.<name>.url", "remote", EVIL, "url"),
    ),
    setting("remote.<name>.vcs", "remote", Some(b"other"), "vcs"),
    setting("sendemail.ccCmd", "sendemail", None, "ccCmd"),
    setting("sendemail.headerCmd", "sendemail", None, "headerCmd"),
    setting("sendemail.smtpServer", "sendemail", None, "smtpServer"),
    setting("sendemail.toCmd", "sendemail", None, "toCmd"),
    setting("sequence.editor", "sequence", None, "editor"),
    formed(
        Form::Shell,
        setting("submodule.<name>.update", "submodule", EVIL, "update"),
    ),
    setting("tar.<format>.command", "tar", Some(b"tgz"), "command"),
    setting("trailer.<key-alias>.cmd", "trailer", EVIL, "cmd"),
    setting(
        "trailer.<key-alias>.command",
        "trailer",
        NOT_UTF8,
        "command",
    ),
    setting(
        "uploadpack.packObjectsHook",
        "uploadpack",
        None,
        "packObjectsHook",
    ),
    setting("web.browser", "web", None, "browser"),
];

/// Every hook of githooks(5) that stands in a folder.
pub(super) const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// The settings that `git help --config` lists, that sound like a program, and that [`PROGRAM_SETTINGS`] lacks.
///
/// ```
/// use towline_testkit::hostile_repository::unlisted_programs;
///
/// assert_eq!(
///     unlisted_programs("core.pager\ncore.bare\ncore.newDiffCommand\n"),
///     ["core.newDiffCommand"]
/// );
/// ```
pub fn unlisted_programs(listed: &str) -> Vec<&str> {
    let is_listed = |name: &str| {
        PROGRAM_SETTINGS
            .iter()
            .any(|known| known.documented == name)
    };
    let sounds = |name: &str| {
        let last = name
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        SOUNDS.iter().any(|sound| last.contains(sound))
    };
    listed
        .lines()
        .map(str::trim)
        .filter(|name| name.contains('.') && sounds(name))
        .filter(|name| !is_listed(name) && !HARMLESS.contains(name))
        .collect()
}

/// Words in the names of settings that name programs.
const SOUNDS: &[&str] = &[
    "askpass",
    "browser",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "external",
    "filter",
    "fsmonitor",
    "helper",
    "hook",
    "httpd",
    "pager",
    "process",
    "program",
    "proxy",
    "receivepack",
    "server",
    "shell",
    "smudge",
    "textconv",
    "tool",
    "tunnel",
    "uploadpack",
    "vcs",
    "watch",
];

/// These sound like a program, and are a switch, a name of a tool that another setting defines, or an address.
const HARMLESS: &[&str] = &[
    "advice.ignoredHook",
    "advice.waitingForEditor",
    "color.pager",
    "column.clean",
    "commit.cleanup",
    "commitGraph.maxNewFilters",
    "completion.commands",
    "core.fsmonitorHookVersion",
    "diff.<driver>.cachetextconv",
    "diff.guitool",
    "diff.tool",
    "gc.repackFilter",
    "gc.repackFilterTo",
    "gitcvs.dbDriver",
    "http.proxy",
    "http.proxyAuthMethod",
    "http.proxySSLCAInfo",
    "http.proxySSLCert",
    "http.proxySSLCertPasswordProtected",
    "http.proxySSLKey",
    "merge.guitool",
    "merge.tool",
    "notes.rewrite.<command>",
    "rebase.abbreviateCommands",
    "receive.updateServerInfo",
    "remote.<name>.partialclonefilter",
    "remote.<name>.proxy",
    "remote.<name>.proxyAuthMethod",
    "repack.updateServerInfo",
    "sendemail.smtpServerOption",
    "sendemail.smtpServerPort",
    "uploadpack.allowFilter",
];
