//! A suite: the recordings that are played, and what belongs to them. The repository has one, and
//! `TOWLINE_PARITY_TRACES=FOLDER` names another: `FOLDER/*.jsonl` are its recordings, `FOLDER/parity-setups.toml` and
//! `FOLDER/parity-differences.toml`, where they exist, what they need and the differences that are meant.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    Conversation,
    differences::Meant,
    recording::{Recording, TRACES},
    setup::Setup,
};

/// The repository's list.
#[derive(Debug, Deserialize)]
pub(crate) struct List {
    /// Recordings that are not played, by the reason.
    pub(crate) left_out: BTreeMap<String, Vec<String>>,
    /// Recordings that are played, by their group.
    #[serde(flatten)]
    pub(crate) groups: BTreeMap<String, Vec<String>>,
}

impl List {
    pub(crate) fn read(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|error| panic!("parity.toml: {error}"))
    }

    pub(crate) fn of_the_repository() -> Self {
        Self::read(LIST)
    }
}

/// Recordings with what belongs to them.
#[derive(Debug)]
pub(crate) struct Suite {
    folder: PathBuf,
    pub(crate) setups: BTreeMap<String, Setup>,
    pub(crate) meant: Meant,
    groups: BTreeMap<String, Vec<String>>,
    /// All of the repository's conversations are played.
    pub(crate) is_the_whole_list: bool,
}

impl Suite {
    /// The suite of `TOWLINE_PARITY_TRACES`, else the repository's; with `TOWLINE_PARITY=PART` only the conversations
    /// with that part in their names.
    pub(crate) fn chosen() -> Self {
        let mut suite = match env::var_os("TOWLINE_PARITY_TRACES") {
            Some(folder) => Self::of_folder(Path::new(&folder)),
            None => Self::of_the_repository(),
        };
        if let Some(part) = wanted() {
            for names in suite.groups.values_mut() {
                names.retain(|name| name.contains(&part));
            }
            suite.is_the_whole_list = false;
        }
        suite
    }

    pub(crate) fn of_the_repository() -> Self {
        Self {
            folder: PathBuf::from(TRACES),
            setups: Setup::all(),
            meant: Meant::read(""),
            groups: List::of_the_repository().groups,
            is_the_whole_list: true,
        }
    }

    /// Those of the repository's recordings that its list leaves out.
    pub(crate) fn left_out() -> Self {
        Self {
            groups: List::of_the_repository().left_out,
            is_the_whole_list: false,
            ..Self::of_the_repository()
        }
    }

    pub(crate) fn of_folder(folder: &Path) -> Self {
        // Tests run in the folder of their crate, not in the caller's.
        assert!(
            folder.is_absolute(),
            "TOWLINE_PARITY_TRACES={} is no absolute path: write it from the root",
            folder.display()
        );
        let names = Recording::names(folder);
        assert!(
            !names.is_empty(),
            "{} has no recordings (*.jsonl)",
            folder.display()
        );
        // A conversation before another may be one of the repository's, with its setup.
        let mut setups = Setup::all();
        let own = Setup::read(&text_in(folder, "parity-setups.toml"));
        for name in own.keys() {
            let file = folder.join("parity-setups.toml");
            let is_there = names.contains(name);
            assert!(is_there, "{}: no recording {name}.jsonl", file.display());
        }
        setups.extend(own);
        Self {
            setups,
            meant: Meant::read(&text_in(folder, "parity-differences.toml")),
            groups: BTreeMap::from([(folder.display().to_string(), names)]),
            folder: folder.to_owned(),
            is_the_whole_list: false,
        }
    }

    /// A recording of this suite, or else of the repository.
    pub(crate) fn recording(&self, name: &str) -> Recording {
        let is_own = self.folder.join(format!("{name}.jsonl")).exists();
        let folder = if is_own {
            &self.folder
        } else {
            Path::new(TRACES)
        };
        Recording::read_in(folder, name)
    }

    pub(crate) fn conversations(&self) -> Vec<Conversation> {
        let groups = self.groups.iter();
        let named = groups.flat_map(|(group, names)| names.iter().map(move |name| (group, name)));
        named
            .map(|(group, name)| Conversation {
                group: group.clone(),
                recording: self.recording(name),
                setup: self.setups.get(name).cloned().unwrap_or_default(),
                name: name.clone(),
            })
            .collect()
    }
}

/// The conversations that are asked for by a part of their names.
pub(crate) fn wanted() -> Option<String> {
    env::var("TOWLINE_PARITY").ok()
}

fn text_in(folder: &Path, name: &str) -> String {
    match fs::read_to_string(folder.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.unwrap_or_else(|error| panic!("{}/{name}: {error}", folder.display())),
    }
}

pub(crate) const LIST: &str = include_str!("../../data/parity.toml");
