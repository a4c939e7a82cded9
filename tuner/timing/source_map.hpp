// A source area that is a file or a device: write-combining memory, a frame buffer, shared memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace asterope {

/// A stretch of a file, mapped shared and for reading only. Copies of it share the mapping.
class SourceMap {
  public:
    /// `text`: FILE[:OFFSET[:LENGTH]], in bytes or with K, M, G; OFFSET a multiple of the page
    /// size; without LENGTH to the file's end, which a device has not. Where a name has a colon,
    /// the longest beginning of `text` (up to a colon, or all of it) that exists is the file.
    /// `largest_size`: what copies need; see source_bytes_needed.
    ///
    /// Throws BadInput for what is missing, a directory, unreadable, too short, not aligned or not
    /// to be mapped, and where a page of it cannot be read: every page has been by then. Nobody can
    /// promise that it stays so: who shortens the file later ends the program by SIGBUS.
    SourceMap(std::string_view text, std::size_t largest_size);

    const char* data() const { return data_.get(); } ///< at the beginning of a page
    std::size_t bytes() const { return bytes_; }

  private:
    std::shared_ptr<const char> data_; ///< unmaps
    std::size_t bytes_;
};

/// The first page of a mapping that cannot be read, in bytes past `data`, which begins a page. A
/// child process reads them all, as a mapped page without a file behind it is a SIGBUS, which does
/// no harm there: pread would say nothing of devices that can be mapped only, mincore nothing of
/// pages yet to be read, and to come back from a signal handler with siglongjmp is no simpler.
/// Throws Failure where no child can be had.
std::optional<std::size_t> find_unreadable_page(const char* data, std::size_t bytes);

} // namespace asterope
