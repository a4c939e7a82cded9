// A log keeps names and hashes of libraries, so that a resumed run meets the same ones.
#include "run/references.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"
#include "timing/correctness.hpp"

namespace asterope {

namespace {

/// Hashes the library and its symbol. Where the library is missing, the symbol alone is hashed;
/// loading it later finds that it is missing.
std::string hash_of(const ExternalCopy& copy) {
    std::string content = copy.symbol + '\n';
    std::error_code missing;
    if (std::filesystem::is_regular_file(copy.path, missing)) { // a pipe would be waited for
        std::ifstream file(copy.path, std::ios::binary);
        content.append(std::istreambuf_iterator<char>(file), {});
    }
    return text_hash(content);
}

constexpr const char* kOption = "--reference";

/// The library and the symbol of "LIBRARY:MEMCPY,MEMSET". The symbol is that at the operation's
/// place in kOperations. It is empty where the reference lacks that operation.
std::pair<std::string, std::string> place_in(const std::string& text, Operation operation) {
    const std::size_t colon = text.rfind(':');
    const bool named = colon != text.npos && text.find('/', colon) == text.npos;
    if (!named) return {text, name_of(operation)}; // the libraries' own names
    const std::string library = text.substr(0, colon), symbols = text.substr(colon + 1);
    const auto each = split(symbols, ',');
    if (each.size() > kOperations.size()) return {library, symbols}; // which no library has
    const auto place = static_cast<std::size_t>(operation);
    return {library, place < each.size() ? std::string(each[place]) : ""};
}

} // namespace

std::vector<ExternalCopy> parse_references(std::vector<std::string> texts, Operation operation) {
    std::erase_if(texts,
                  [&](const auto& text) { return place_in(text, operation).second.empty(); });
    return parse_external_copies(texts, kOption, {"libc"}, operation, kReferenceForm, place_in);
}

void require_use(const std::vector<std::string>& texts, const std::vector<Operation>& operations) {
    for (const std::string& text : texts) {
        const auto lacks = [&](Operation one) { return place_in(text, one).second.empty(); };
        if (!std::ranges::all_of(operations, lacks)) continue;
        throw BadInput(std::string(kOption) + " '" + text.substr(0, 80) +
                       "' has no function of --operations: write " + kReferenceForm);
    }
}

std::vector<NamedReference> names_of(const std::vector<ExternalCopy>& references) {
    std::vector<NamedReference> names;
    for (const ExternalCopy& one : references) names.push_back({one.name, hash_of(one)});
    return names;
}

std::vector<TimedCopy> load_references(const std::vector<ExternalCopy>& references) {
    std::vector<TimedCopy> copies;
    for (const ExternalCopy& one : references) {
        copies.push_back(
            reference_copy(one.name, load_required(one, kOption), copies.size(), one.operation));
    }
    return copies;
}

void require_still_right(const std::vector<TimedCopy>& references) {
    for (const TimedCopy& one : references) {
        const std::string fault = fault_since(one.function, one.name, one.operation);
        if (fault.empty()) continue;
        throw Failure(one.name +
                      " copied right before the search, and copies wrong since: " + fault +
                      ": no profile is written, and the log is removed, as the timings "
                      "beside it are worthless; leave it out, or repair it");
    }
}

std::vector<TimedCopy> logged_references(const std::vector<NamedReference>& references,
                                         Operation operation) {
    std::vector<TimedCopy> copies;
    for (const NamedReference& one : references) {
        copies.push_back(reference_copy(one.name, nullptr, copies.size(), operation));
    }
    return copies;
}

} // namespace asterope
