// Reads large pieces of the file and looks for newlines in them.
#include "base/line_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/text_file.hpp"

namespace asterope {

namespace {

constexpr std::size_t kLongest = std::size_t{16} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;

/// No text has them; JSON writes them as escapes.
bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r';
}

} // namespace

LineReader::LineReader(const std::filesystem::path& path, std::string what)
    : what_(std::move(what)), file_(open_to_read(path, what_)), buffer_(kPiece) {
    if (!fill()) {
        refuse_silent_pipe(file_.get(), what_);
        throw BadInput(what_ + ": is empty");
    }
    if (start().starts_with("\x1f\x8b")) {
        throw BadInput(what_ + ": is gzipped: unpack it first (gunzip)");
    }
    if (start().starts_with(kByteOrderMark)) bytes_ = kByteOrderMark.size();
    begin_ = bytes_;
}

bool LineReader::next(std::string& line) {
    line.clear();
    for (;;) {
        const char* begin = buffer_.data() + begin_;
        const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', end_ - begin_));
        const char* end = newline ? newline : buffer_.data() + end_;
        line.append(begin, end);
        if (line.size() > kLongest) {
            throw BadInput(what_ + ": line " + std::to_string(number_ + 1) +
                           " is longer than 16 MiB");
        }
        if (newline) {
            begin_ = static_cast<std::size_t>(newline + 1 - buffer_.data());
            require_text(line, ++number_);
            bytes_ += line.size() + 1;
            return true;
        }
        if (!fill()) break;
    }
    if (!line.empty()) {
        torn_ = true;
        // Any bytes may follow whole lines: a machine that stopped leaves zeros there. A file
        // without a whole line is not a text file cut short, so its text is checked.
        if (number_ == 0) require_text(line, 1);
        line.clear();
    }
    return false;
}

bool LineReader::fill() {
    begin_ = 0;
    end_ = read_piece(file_.get(), buffer_.data(), buffer_.size(), what_);
    return end_ > 0;
}

void LineReader::require_text(std::string_view line, std::size_t number) const {
    // Bytes that begin no character in UTF-8: many binary formats open with one.
    const auto first = line.empty() ? ' ' : static_cast<unsigned char>(line.front());
    if ((first >= 0x80 && first < 0xC0) || first >= 0xF8 || std::ranges::any_of(line, is_control)) {
        throw BadInput(what_ + ": line " + std::to_string(number) + " is not text");
    }
}

} // namespace asterope
