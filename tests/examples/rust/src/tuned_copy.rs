//! Copies slices with the tuned routine. Safe: what memcpy leaves undefined does not compile or
//! panics, as it does with the slices' own methods.

use std::mem::size_of_val;
use std::ops::Range;
use std::os::raw::c_void;

extern "C" {
    fn asterope_memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn asterope_memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
}

/// As `to.copy_from_slice(from)`. Panics where the lengths differ.
///
/// ```
/// let mut to = [0; 3];
/// tuned_copy::copy(&mut to, &[1, 2, 3]);
/// assert_eq!(to, [1, 2, 3]);
/// ```
///
/// Slices that overlap do not compile, as one of them is borrowed mutably:
///
/// ```compile_fail,E0502
/// let mut numbers = [1, 2, 3];
/// tuned_copy::copy(&mut numbers[1..], &numbers[..2]);
/// ```
///
/// Nor do elements that own something, which would then be freed twice:
///
/// ```compile_fail,E0277
/// let from = [String::from("a")];
/// let mut to = [String::new()];
/// tuned_copy::copy(&mut to, &from);
/// ```
#[track_caller]
pub fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    assert!(
        to.len() == from.len(),
        "{} elements do not fill {}",
        from.len(),
        to.len()
    );
    // SAFETY: both are valid for as many bytes, a mutable borrow overlaps no other, and a value
    // that is Copy is its bytes.
    unsafe {
        asterope_memcpy(
            to.as_mut_ptr().cast(),
            from.as_ptr().cast(),
            size_of_val(from),
        );
    }
}

/// As `slice.copy_within(from, to)`: the two parts may overlap. Panics where one of them does not
/// lie inside the slice.
///
/// ```
/// let mut numbers = [1, 2, 3, 4];
/// tuned_copy::copy_within(&mut numbers, 0..3, 1);
/// assert_eq!(numbers, [1, 1, 2, 3]);
/// ```
#[track_caller]
pub fn copy_within<T: Copy>(slice: &mut [T], from: Range<usize>, to: usize) {
    let bytes = size_of_val(&slice[from.clone()]);
    assert!(
        to <= slice.len() && from.len() <= slice.len() - to,
        "no room for {} elements at {} of {}",
        from.len(),
        to,
        slice.len()
    );
    let start = slice.as_mut_ptr();
    // SAFETY: both parts lie inside the slice, as was just checked, and memmove minds overlaps.
    unsafe {
        asterope_memmove(start.add(to).cast(), start.add(from.start).cast(), bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{copy, copy_within};

    #[test]
    fn a_copy_equals_its_source() {
        for size in [0, 1, 100, 5000, 3_000_000] {
            let from: Vec<u32> = (7..).take(size).collect();
            let mut to = vec![0; size];
            copy(&mut to, &from);
            assert!(from == to, "{} elements", size);
        }
    }

    #[test]
    fn structs_and_empty_types_are_copied() {
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct Point(u8, f64);
        let mut to = [Point(0, 0.0); 2];
        copy(&mut to, &[Point(1, 2.0), Point(3, 4.0)]);
        assert_eq!(to, [Point(1, 2.0), Point(3, 4.0)]);
        copy(&mut [(); 3], &[(); 3]);
    }

    #[test]
    #[should_panic(expected = "2 elements do not fill 3")]
    fn differing_lengths_are_refused() {
        copy(&mut [0; 3], &[1; 2]);
    }

    #[test]
    fn copy_within_does_as_the_slice_does() {
        for (from, to) in [(0..7, 3), (3..10, 0), (4..4, 10), (0..10, 0)] {
            let mut ours: Vec<u64> = (0..10).collect();
            let mut theirs = ours.clone();
            copy_within(&mut ours, from.clone(), to);
            theirs.copy_within(from, to);
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    #[should_panic(expected = "no room for 7 elements at 4 of 10")]
    fn copy_within_stays_inside() {
        copy_within(&mut [0; 10], 0..7, 4);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn copy_within_reads_no_further_than_the_slice() {
        copy_within(&mut [0; 10], 8..11, 0);
    }
}
