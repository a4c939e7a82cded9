// Parses FILE and function from the option, and loads the function; errors name the option.
#include "timing/external_copy.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <system_error>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/watched_run.hpp"
#include "machine/cpu.hpp"
#include "timing/correctness.hpp"

namespace asterope {

namespace {

constexpr std::size_t kLongestName = 40;

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kLongestName &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-") == text.npos;
}

CopyFunction load_external(const ExternalCopy& copy, std::string& reason) {
    const Calling calling(copy.name); // a library's constructors are called
    void* library = load_library(copy.path, reason);
    if (!library) {
        reason = "cannot be loaded: " + reason;
        return nullptr;
    }
    void* function = dlsym(library, copy.symbol.c_str());
    if (!function) reason = copy.path + " has no function " + copy.symbol;
    return reinterpret_cast<CopyFunction>(function);
}

} // namespace

std::pair<std::string, std::string> place_of(const std::string& text, Operation) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos) return {text, ""};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

std::vector<ExternalCopy> parse_external_copies(const std::vector<std::string>& texts,
                                                const std::string& option,
                                                std::vector<std::string> taken, Operation operation,
                                                const char* form, decltype(place_of)* places) {
    std::vector<ExternalCopy> copies;
    for (const std::string& text : texts) {
        const auto refuse = [&](const std::string& why) {
            return BadInput(option + " '" + text.substr(0, 80) + "' " + why + ": write " + form +
                            ", such as musl=/lib/ld-musl-" + kArchitecture + ".so.1:memcpy");
        };
        const std::size_t equals = text.find('=');
        if (equals == text.npos) throw refuse("has no name");
        const std::string name = text.substr(0, equals);
        if (!is_name(name)) {
            throw refuse("has a name that is not of letters, digits, '.', '_' and '-', at most " +
                         std::to_string(kLongestName) + " of them");
        }
        const auto [path, symbol] = places(text.substr(equals + 1), operation);
        if (symbol.empty()) throw refuse("has no symbol");
        if (path.empty()) throw refuse("has no path");
        if (contains(taken, name)) {
            throw BadInput(option + " " + name + " is the name of another copy: choose another");
        }
        copies.push_back({name, path, symbol, operation});
        taken.push_back(name);
    }
    return copies;
}

void* load_library(const std::string& path, std::string& reason) {
    std::error_code missing;
    const auto type = std::filesystem::status(path, missing).type();
    if (type != std::filesystem::file_type::regular &&
        type != std::filesystem::file_type::not_found) {
        reason = path + ": is not a regular file"; // the loader would wait for a pipe's writer
        return nullptr;
    }
    // a name without a slash would be looked for in the system's library folders
    const std::string name = path.find('/') == std::string::npos ? "./" + path : path;
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) reason = dlerror();
    return library;
}

CopyFunction load_checked(const ExternalCopy& copy, std::string& reason) {
    reason = fault_of([&](std::string& missing) { return load_external(copy, missing); },
                      copy.operation);
    if (!reason.empty()) return nullptr;
    note_origin(copy.name, copy.symbol + " of " + copy.path);
    return load_external(copy, reason);
}

CopyFunction load_required(const ExternalCopy& copy, std::string_view option) {
    std::string reason;
    const CopyFunction function = load_checked(copy, reason);
    if (!function) throw BadInput(std::string(option) + ' ' + copy.name + ' ' + reason);
    return function;
}

} // namespace asterope
