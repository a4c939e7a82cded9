// Text files of lines, plain or gzipped.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// Reads a text file line by line; a gzipped one is known by how it begins, whatever its name.
class LineReader {
  public:
    /// `what` begins every error: "log trials.jsonl". Throws BadInput where the file is missing,
    /// unreadable, a folder or empty.
    LineReader(const std::filesystem::path& path, std::string what);

    /// The next line, without its newline; false at the end. Lines without one are never given: see
    /// torn(). Throws BadInput for a line that is no text (it has control characters) or longer
    /// than 16 MiB, which nothing we read is, and for a damaged gzip.
    bool next(std::string& line);

    /// After next() was false: whether something was left that is no whole line, or the gzip was
    /// cut short. A run that was killed leaves such an end.
    bool torn() const { return torn_; }

    /// The number of the line that next() gave last, from 1 on.
    std::size_t number() const { return number_; }

  private:
    /// False at the end.
    bool fill();
    void require_text(std::string_view line, std::size_t number) const;

    std::string what_;
    std::unique_ptr<void, void (*)(void*)> file_; ///< a gzFile: zlib's header stays out of here
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0; ///< what of the buffer was not given yet
    std::size_t number_ = 0;
    bool torn_ = false;
};

/// Gzips `text` and writes it as write_atomically does. The same text gives the same bytes: the
/// file holds neither a name nor a time.
void write_gzipped(const std::filesystem::path& path, std::string_view text);

} // namespace asterope
