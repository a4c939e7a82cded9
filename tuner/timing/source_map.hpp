// A source area that is a file or a device: write-combining memory, a frame buffer, shared memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace asterope {

/// A stretch of a file, mapped shared and for reading only. Copies of it share the mapping.
class SourceMap {
  public:
    /// `text`: FILE[:OFFSET[:LENGTH]], in bytes or with K, M, G; OFFSET a multiple of the page
    /// size. Without LENGTH the map goes to the file's end, which a device lacks. Where a name has
    /// a colon, the longest beginning of `text` (up to a colon, or all of it) that exists is the
    /// file. `largest_size`: copies of this size need source_bytes_needed.
    ///
    /// Throws BadInput for a file that is missing, a directory, unreadable, too short, not aligned
    /// or not to be mapped. It also throws where a page of the file cannot be read: the constructor
    /// reads every page. Pages may still vanish later: a process that shortens the file then ends
    /// the program by SIGBUS.
    SourceMap(std::string_view text, std::size_t largest_size);

    const std::string& file() const { return file_; }
    const char* data() const { return data_.get(); } ///< at the beginning of a page
    std::size_t bytes() const { return bytes_; }

  private:
    std::string file_;
    std::shared_ptr<const char> data_; ///< unmaps
    std::size_t bytes_;
};

/// The first page of a mapping that cannot be read, in bytes past `data`, which begins a page. A
/// child process reads all pages: a mapped page without a file behind it is a SIGBUS, which does no
/// harm there. Rejected: pread says nothing of devices that can be mapped only. mincore says
/// nothing of pages yet to be read. Coming back from a signal handler with siglongjmp is not
/// simpler. Throws Failure where no child process can be started.
std::optional<std::size_t> find_unreadable_page(const char* data, std::size_t bytes);

} // namespace asterope
