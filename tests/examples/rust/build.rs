//! Compiles the routine that asterope-generate has put into the folder `routine`.

use std::{path::Path, process};

const ROUTINE: &str = "routine/asterope_memcpy.c";

fn main() {
    println!("cargo:rerun-if-changed=routine");
    if !Path::new(ROUTINE).exists() {
        eprintln!("{ROUTINE} is missing: asterope-generate profile.json -o routine");
        process::exit(1);
    }
    cc::Build::new().file(ROUTINE).compile("asterope_memcpy");
}
