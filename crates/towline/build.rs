//! Has the linker pack the program's relocations where the C library can read that: over a megabyte less to read at each
//! start, and to keep in memory for as long as it runs.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name| env::var(name).unwrap_or_default();
    let is_for_this_machine = of("HOST") == of("TARGET");
    if is_for_this_machine && of("CARGO_CFG_TARGET_ENV") == "gnu" && c_library() >= Some((2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of glibc, if that can be told. An older one refuses to start what was packed.
fn c_library() -> Option<(u32, u32)> {
    let said = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
