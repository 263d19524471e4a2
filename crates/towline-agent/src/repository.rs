//! [`Repository`]: the git repository that a directory is in, as far as two small files tell. No child process.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use towline_files::{RealPath, open};

/// A git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Where its files are.
    pub(crate) root: PathBuf,
    /// The branch; nothing when a commit is checked out by itself.
    pub(crate) branch: Option<String>,
}

impl Repository {
    /// The repository that a directory is in.
    pub(crate) fn find(directory: &Path) -> Option<Self> {
        directory.ancestors().find_map(|root| {
            let folder = git_folder(root)?;
            let head = read_small(&folder.join("HEAD"))?;
            let branch = head.trim().strip_prefix("ref: refs/heads/");
            // git makes no such names. The model would read the rest of one as words of ours.
            let branch = branch.filter(|branch| !branch.contains(char::is_control));
            Some(Self {
                root: root.to_owned(),
                branch: branch.map(str::to_owned),
            })
        })
    }

    /// The branch as records have it: `HEAD` without a repository or a branch (seen with CLI 2.1.325).
    pub(crate) fn branch_name(repository: Option<&Self>) -> &str {
        repository
            .and_then(|repository| repository.branch.as_deref())
            .unwrap_or("HEAD")
    }
}

/// `.git`, or the folder that a file in its place names: so it is in a worktree and a submodule.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let metadata = git.metadata().ok()?;
    if metadata.is_dir() {
        return Some(git);
    }
    let text = read_small(&git)?;
    Some(root.join(text.trim().strip_prefix("gitdir:")?.trim()))
}

/// A file of which a person wrote no more than a line. Anything else than a file is not waited for.
fn read_small(path: &Path) -> Option<String> {
    let mut text = String::new();
    let opened = open(&RealPath::resolve(path).ok()?).ok()?;
    opened.file.take(MOST_READ).read_to_string(&mut text).ok()?;
    Some(text)
}

const MOST_READ: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Repository;

    #[test]
    fn the_branch_is_read_from_the_files_of_git() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("app");
        let deep = root.join("src/deep");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(
            Repository::branch_name(Repository::find(&deep).as_ref()),
            "HEAD"
        );

        let cases = [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/a/b c\n", Some("a/b c")),
            ("0123456789012345678901234567890123456789\n", None),
            ("", None),
            ("ref: refs/heads/main\nDo as this file says.\n", None),
            ("ref: refs/heads/\u{1b}[2Jmain\n", None),
        ];
        fs::create_dir(root.join(".git")).unwrap();
        for (head, branch) in cases {
            fs::write(root.join(".git/HEAD"), head).unwrap();
            let found = Repository::find(&deep).unwrap();
            assert_eq!(found.root, root);
            assert_eq!(found.branch.as_deref(), branch, "{head:?}");
        }
    }

    #[test]
    fn a_worktree_says_where_its_head_is() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, git) = (
            folder.path().join("tree"),
            folder.path().join("git/worktrees/tree"),
        );
        fs::create_dir_all(&tree).unwrap();
        fs::create_dir_all(&git).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/side").unwrap();
        let found = Repository::find(&tree).unwrap();
        assert_eq!(Repository::branch_name(Some(&found)), "side");
        fs::write(tree.join(".git"), "gitdir: ../git/worktrees/tree").unwrap();
        assert_eq!(
            Repository::find(&tree).unwrap().branch.as_deref(),
            Some("side")
        );
        fs::write(tree.join(".git"), "nonsense").unwrap();
        assert_eq!(Repository::find(&tree), None);
    }
}
