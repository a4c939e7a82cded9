// Rust: blocks of 1 MiB into a vector of 64 MiB.
fn main() {
    const MIB: usize = 1 << 20;
    let source: Vec<u8> = (0..16 * MIB).map(|i| (i * 7 >> 3) as u8).collect();
    let mut target = vec![0u8; 64 * MIB];
    let turns: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut start = 0;
    for turn in 0..turns {
        start = turn % 4 * 16 * MIB;
        for i in (0..16 * MIB).step_by(MIB) {
            target[start + i..start + i + MIB].copy_from_slice(&source[i..i + MIB]);
        }
    }
    let sum = target[start..start + 16 * MIB]
        .iter()
        .fold(0u64, |sum, &byte| (sum * 31 + u64::from(byte)) % 4_294_967_291);
    println!("result {} {}", sum, 16 * MIB);
}
