// Parses the option, maps the file, and reads every page once so that a bad one is found early.
#include "timing/source_map.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text_file.hpp"
#include "timing/fresh_memory.hpp"
#include "timing/placement.hpp"

namespace asterope {

namespace {

/// The option's text, taken apart.
struct Request {
    std::string file;
    std::size_t offset = 0;
    std::optional<std::size_t> length;
};

bool exists(const std::string& path) {
    std::error_code ignored; // a file that cannot be looked at is missing; opening it says why
    return std::filesystem::exists(path, ignored);
}

Request parse(std::string_view text) {
    Request request;
    std::size_t end = text.size();
    bool found = exists(std::string(text));
    while (!found) {
        const std::size_t colon = end == 0 ? text.npos : text.rfind(':', end - 1);
        if (colon == text.npos) break;
        end = colon;
        found = exists(std::string(text.substr(0, end)));
    }
    // Where no file is found, the error names as much of the text as can be a file.
    request.file = text.substr(0, found ? end : text.find(':'));
    if (!found || end == text.size()) return request;

    const std::string_view numbers = text.substr(end + 1);
    const std::size_t colon = numbers.find(':');
    const std::string_view offset = numbers.substr(0, colon);
    if (offset != "0") request.offset = parse_size(offset); // which refuses 0
    if (colon != numbers.npos) request.length = parse_size(numbers.substr(colon + 1));
    return request;
}

/// Loads one byte of each page. `position` is the present page's offset.
void read_pages(const volatile char* data, std::size_t bytes, volatile std::size_t& position) {
    for (std::size_t at = 0; at < bytes; at += page_size()) {
        position = at;
        (void)data[at];
    }
}

} // namespace

std::optional<std::size_t> find_unreadable_page(const char* data, std::size_t bytes) {
    const FreshMemory shared(sizeof(std::size_t), FreshMemory::shared);
    auto& position = *reinterpret_cast<volatile std::size_t*>(shared.begin());
    ChildProcess child([&](int) {
        // The child exits by itself, so that it dumps no core, even where the parent handles these
        // signals.
        for (const int fault : {SIGBUS, SIGSEGV}) std::signal(fault, [](int) { _exit(kFailed); });
        read_pages(data, bytes, position);
    });
    if (child.wait() == 0) return std::nullopt;
    return position;
}

SourceMap::SourceMap(std::string_view text, std::size_t largest_size) {
    // the beginning of long words only: one line is promised
    const std::string option = "source map '" + std::string(text.substr(0, 200)) + "': ";
    const auto refuse = [&](const std::string& why) { return BadInput(option + why); };
    const Request request = [&] {
        try {
            return parse(text);
        } catch (const BadInput& error) {
            throw refuse(error.what());
        }
    }();
    if (request.file.empty()) throw refuse("names no file: write FILE[:OFFSET[:LENGTH]]");
    file_ = request.file;
    const std::string name = request.file.substr(0, 200);

    const std::string cannot_open = option + "cannot open " + name;
    const Descriptor file = open_to_read(request.file, cannot_open);
    struct stat facts;
    if (fstat(file.get(), &facts) != 0) throw BadInput(cannot_open + ": " + std::strerror(errno));
    if (S_ISDIR(facts.st_mode)) throw refuse(name + " is a directory: name a file or a device");
    if (request.offset % page_size() != 0) {
        throw refuse("OFFSET is not a multiple of the page size, " + format_size(page_size()));
    }
    // devices report 0, as they lack a size of this kind
    const auto size = static_cast<std::size_t>(facts.st_size);
    if (size == 0 && S_ISREG(facts.st_mode)) throw refuse(name + " is empty");
    if (size == 0 && !request.length) {
        throw refuse(name + " is a device without a size: add :OFFSET:LENGTH");
    }
    if (size > 0 && request.offset >= size) {
        throw refuse("OFFSET is beyond the end of " + name + ", which has " + std::to_string(size) +
                     " bytes");
    }
    bytes_ = request.length.value_or(size - request.offset);
    if (size > 0 && bytes_ > size - request.offset) {
        throw refuse("LENGTH goes beyond the end of " + name + ": there are " +
                     std::to_string(size - request.offset) + " bytes from OFFSET on");
    }
    const std::size_t needed = source_bytes_needed(largest_size);
    if (bytes_ < needed) {
        throw refuse("copies of " + format_size(largest_size) + " need " + std::to_string(needed) +
                     " bytes, here are " + std::to_string(bytes_) +
                     ": map more, or name smaller --sizes");
    }

    void* mapping = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.get(),
                         static_cast<off_t>(request.offset));
    if (mapping == MAP_FAILED) {
        throw refuse(name + " cannot be mapped: " + std::strerror(errno));
    }
    data_ = {static_cast<const char*>(mapping),
             [mapping, bytes = bytes_](const char*) { munmap(mapping, bytes); }};
    if (const auto page = find_unreadable_page(data(), bytes_)) {
        throw refuse("the page at byte " + std::to_string(request.offset + *page) + " of " + name +
                     " cannot be read: name another OFFSET or LENGTH");
    }
    // The pages are touched once more here, as this process has page tables of its own.
    volatile std::size_t position;
    read_pages(data(), bytes_, position);
}

} // namespace asterope
