//! Gathers its standard input in memory, then writes a copy of it that the tuned copy has made.

use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let mut all = Vec::new();
    io::stdin().read_to_end(&mut all)?;
    let mut copy = vec![0; all.len()];
    tuned_copy::copy(&mut copy, &all);
    io::stdout().write_all(&copy)
}
