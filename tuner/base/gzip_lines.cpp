// Text files of lines, plain or gzipped.
#include "base/gzip_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <zlib.h>

#include "base/error.hpp"
#include "base/text_file.hpp"

namespace asterope {

namespace {

constexpr std::size_t kLongest = std::size_t{16} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;

gzFile as_gzip(void* file) {
    return static_cast<gzFile>(file);
}

void close(void* file) {
    gzclose_r(as_gzip(file));
}

/// No text has them; JSON writes them as escapes.
bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r';
}

} // namespace

LineReader::LineReader(const std::filesystem::path& path, std::string what)
    : what_(std::move(what)), file_(nullptr, close), buffer_(kPiece) {
    Descriptor descriptor = open_to_read(path, what_);
    const int number = descriptor.get();
    file_.reset(gzdopen(number, "rb"));
    if (!file_) throw BadInput(what_ + ": no memory to read it");
    descriptor.release();
    gzbuffer(as_gzip(file_.get()), kPiece);
    if (!fill() && !torn_) {
        refuse_silent_pipe(number, what_);
        throw BadInput(what_ + ": is empty");
    }
    const std::string_view start(buffer_.data(), end_);
    if (start.substr(0, kByteOrderMark.size()) == kByteOrderMark) bytes_ = kByteOrderMark.size();
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
        // What follows whole lines may be anything: a machine that stopped leaves zeros there. A
        // file that has no line at all is no text file cut short.
        if (number_ == 0) require_text(line, 1);
        line.clear();
    }
    return false;
}

std::string LineReader::all() {
    if (!gzdirect(as_gzip(file_.get()))) {
        throw BadInput(what_ + ": is gzipped, as only trial logs may be");
    }
    std::string text;
    do {
        text.append(start());
        if (text.size() > kLongest) throw BadInput(what_ + ": is longer than 16 MiB");
    } while (fill());
    return text;
}

bool LineReader::fill() {
    begin_ = end_ = 0;
    if (torn_) return false;
    const int length =
        gzread(as_gzip(file_.get()), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    const int system = errno;
    int error = Z_OK;
    const char* text = gzerror(as_gzip(file_.get()), &error);
    // The gzip ended too early; what there was of it may have come with this piece.
    if (error == Z_BUF_ERROR) {
        torn_ = true;
    } else if (error == Z_ERRNO) {
        throw BadInput(what_ + ": " + std::strerror(system));
    } else if (length < 0) {
        throw BadInput(what_ + ": is a damaged gzip file (" +
                       (error == Z_MEM_ERROR ? "no memory" : text) + ")");
    }
    end_ = static_cast<std::size_t>(std::max(length, 0));
    return end_ > 0;
}

void LineReader::require_text(std::string_view line, std::size_t number) const {
    // Bytes that begin no character in UTF-8: many binary formats open with one.
    const auto first = line.empty() ? ' ' : static_cast<unsigned char>(line.front());
    if ((first >= 0x80 && first < 0xC0) || first >= 0xF8 || std::ranges::any_of(line, is_control)) {
        throw BadInput(what_ + ": line " + std::to_string(number) + " is no text");
    }
}

} // namespace asterope
