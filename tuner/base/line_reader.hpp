// Text files, line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace asterope {

/// Reads a text file line by line. A byte order mark at its beginning is skipped.
class LineReader {
  public:
    /// `what` begins every error: "log trials.jsonl". Throws BadInput where the file is missing,
    /// unreadable, a folder, a pipe that nothing writes to, empty, or gzipped.
    LineReader(const std::filesystem::path& path, std::string what);

    /// The next line, without its newline; false at the end. Lines without one are never given: see
    /// torn(). Throws BadInput for a line with control characters or longer than 16 MiB. Our files
    /// have no such lines.
    bool next(std::string& line);

    /// After next() was false: whether part of a line was left. A run that was killed leaves such
    /// an end.
    bool torn() const { return torn_; }

    /// Begins every error.
    const std::string& what() const { return what_; }
    /// Names the file in errors, once its first lines have told its kind.
    void rename(std::string what) { what_ = std::move(what); }

    /// Before the first next(): the file's beginning, at least its first line or 256 KiB. It stays
    /// to be read: not everything can be read twice, a pipe cannot.
    std::string_view start() const { return {buffer_.data() + begin_, end_ - begin_}; }

    /// The number of the line that next() gave last, from 1 on.
    std::size_t number() const { return number_; }

    /// That all lines up to that one have in the file, in bytes.
    std::uintmax_t bytes() const { return bytes_; }

  private:
    /// False at the end.
    bool fill();
    void require_text(std::string_view line, std::size_t number) const;

    std::string what_;
    Descriptor file_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0; ///< the part of the buffer that was not given yet
    std::size_t number_ = 0;
    std::uintmax_t bytes_ = 0;
    bool torn_ = false;
};

} // namespace asterope
