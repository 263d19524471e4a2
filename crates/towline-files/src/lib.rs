//! A path is judged as what will be opened, and that is opened.
//!
//! [`RealPath::resolve`] follows the links of a path once, as the kernel does. The result is what rules and roots are held
//! against, and it alone can be opened: without following any link. A folder that is swapped for a link between the
//! judgement and the opening makes the opening fail; it never leads elsewhere. Nothing here waits for a pipe or a device.
//!
//! ```
//! use towline_files::{RealPath, open};
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! std::fs::create_dir(folder.path().join("notes"))?;
//! std::fs::write(folder.path().join("notes/today"), "buy milk")?;
//! let real = RealPath::resolve(&folder.path().join("notes/today"))?;
//! assert!(real.starts_with(RealPath::resolve(folder.path())?)); // the judgement
//! assert_eq!(open(&real)?.read(100)?.as_deref(), Some(&b"buy milk"[..]));
//!
//! // A link in place of the folder is not followed any more.
//! std::fs::rename(folder.path().join("notes"), folder.path().join("old"))?;
//! std::os::unix::fs::symlink("old", folder.path().join("notes"))?;
//! assert!(open(&real).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! Which paths may be opened is decided elsewhere: by rules in the agent, by roots in the bridge.

mod directory;
mod draft;
mod file;
mod ignored;
mod reach;
mod real_path;
mod resolved;
mod status;
mod walked;
mod without_links;

pub use directory::{Directory, Entries, Entry};
pub use draft::Draft;
pub use file::{PlainFile, Refused, open};
pub use ignored::Ignored;
pub use reach::{Lookout, Reach};
pub use real_path::RealPath;
pub use resolved::{Resolved, resolve_paths};
pub use status::{Kind, Status, status};
pub use walked::Walked;
pub use without_links::is_link_in_the_way;
