//! Files that are to be there before the session begins (`--file`): fetched, and put where CLI 2.1.325 puts them, in
//! `<working directory>/<session id>/uploads`.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use towline_files::{Directory, RealPath, status};

use crate::{
    config::{FileSpec, FilesToFetch, Provider},
    model::files::Files,
};

impl FileSpec {
    /// Reads `file_id:relative_path`.
    ///
    /// ```
    /// use towline_agent::FileSpec;
    ///
    /// let spec = FileSpec::read("file_abc:docs/a.txt")?;
    /// assert_eq!((spec.id(), spec.path().to_str()), ("file_abc", Some("docs/a.txt")));
    /// assert!(FileSpec::read("file_abc:../a.txt").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// When it has another form, or the path would lead out of its folder.
    pub fn read(spec: &str) -> Result<Self, String> {
        let form = "the form is file_id:relative_path";
        let (id, path) = spec.split_once(':').ok_or(form)?;
        let is_part =
            |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(is_part) {
            return Err(format!("`{id}` is no id of a file; {form}"));
        }
        let mut inside = PathBuf::new();
        for component in Path::new(path).components() {
            match component {
                Component::Normal(name) => inside.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(format!("`{path}` leads out of the folder; {form}"));
                }
            }
        }
        if inside.as_os_str().is_empty() || path.ends_with('/') || path.contains('\0') {
            return Err(format!("`{path}` is no path of a file; {form}"));
        }
        Ok(Self {
            id: id.to_owned(),
            path: inside,
        })
    }

    /// The API's id of the file.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it goes, below its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Fetches the files into a folder, one after the other, each all or nothing. An error names the file.
pub(crate) async fn fetch(
    files: &FilesToFetch,
    provider: &Provider,
    cwd: &Path,
    folder: &Path,
) -> Result<(), String> {
    if files.specs.is_empty() {
        return Ok(());
    }
    let Provider::Api(api) = provider else {
        return Err(
            "Error: --file needs the API, and there is none with --model offline".to_owned(),
        );
    };
    let account = Files::new(api, files.token.as_ref().map(|token| token.0.as_str()))
        .map_err(|error| format!("Error: --file: {}", error.message))?;
    for spec in &files.specs {
        let FileSpec { id, path } = spec;
        let refuse = |why: String| format!("Error: --file {id}:{}: {why}", path.display());
        let unwritten = |error: io::Error| refuse(format!("it cannot be written: {error}"));
        let (directory, target) = prepare(cwd, &folder.join(path)).map_err(unwritten)?;
        let mut draft = directory.draft(0o600).map_err(unwritten)?;
        account.fetch(id, draft.file_mut()).await.map_err(refuse)?;
        let name = target.file_name().unwrap_or_default();
        draft.take_place_of(name).map_err(unwritten)?;
    }
    Ok(())
}

/// The folder of a file, made where it is missing and really inside the project; and where the file will be.
fn prepare(cwd: &Path, target: &Path) -> io::Result<(Directory, RealPath)> {
    let outside = || io::Error::other("a link leads out of the project");
    let parent = target.parent().unwrap_or(cwd);
    // Nothing is made behind a link that leads to nothing.
    let there = parent
        .ancestors()
        .find(|folder| folder.symlink_metadata().is_ok());
    status(&RealPath::resolve(there.unwrap_or(cwd))?)?;
    let (project, folder) = (RealPath::resolve(cwd)?, RealPath::resolve(parent)?);
    if !folder.starts_with(&project) {
        return Err(outside());
    }
    let name = target.file_name().ok_or_else(outside)?;
    let target = folder.below(Path::new(name)).ok_or_else(outside)?;
    Ok((Directory::create(&folder)?, target))
}

const LONGEST_ID: usize = 256;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_spec_is_an_id_and_a_path_that_stays_inside() {
        for (spec, expected) in [
            ("file_abc:a.txt", Ok("a.txt")),
            ("file_abc:./sub/a.txt", Ok("sub/a.txt")),
            ("f-1:a:b.txt", Ok("a:b.txt")),
            ("nonsense", Err("the form is file_id:relative_path")),
            (":a.txt", Err("`` is no id")),
            ("../x:a.txt", Err("`../x` is no id")),
            ("a/b:a.txt", Err("`a/b` is no id")),
            ("f:", Err("`` is no path")),
            ("f:.", Err("`.` is no path")),
            ("f:dir/", Err("`dir/` is no path")),
            ("f:../a.txt", Err("leads out of the folder")),
            ("f:a/../../b", Err("leads out of the folder")),
            ("f:/etc/passwd", Err("leads out of the folder")),
            ("f:a\0b", Err("is no path")),
        ] {
            match (FileSpec::read(spec), expected) {
                (Ok(read), Ok(path)) => assert_eq!(read.path(), Path::new(path), "{spec}"),
                (Err(why), Err(words)) => assert!(why.contains(words), "{spec}: {why}"),
                (read, _) => panic!("{spec}: {read:?}"),
            }
        }
    }

    #[test]
    fn a_link_does_not_lead_out_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let (cwd, outside) = (folder.path().join("project"), folder.path().join("outside"));
        fs::create_dir(&cwd).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, cwd.join("link")).unwrap();
        std::os::unix::fs::symlink(cwd.join("nowhere"), cwd.join("broken")).unwrap();
        for path in ["link/a.txt", "link/deep/a.txt", "broken/a.txt"] {
            assert!(prepare(&cwd, &cwd.join(path)).is_err(), "{path}");
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        let (_directory, target) = prepare(&cwd, &cwd.join("id/uploads/a.txt")).unwrap();
        let expected = cwd.canonicalize().unwrap().join("id/uploads/a.txt");
        assert_eq!(target.as_path(), expected);
    }
}
