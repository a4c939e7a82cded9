// The references of a run, which winners are judged by besides libc: asked for, logged, loaded.
#pragma once

#include <string>
#include <vector>

#include "profile/search_options.hpp"
#include "timing/external_copy.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

struct Reference {
    ExternalCopy copy; ///< of a log: its name alone
    std::string hash;  ///< of its library and symbol: another one makes another search
};

/// The form of --reference. Without symbols, they are memcpy and memset. A single symbol is that of
/// copies.
inline constexpr const char* kReferenceForm = "NAME=PATH[:MEMCPY[,MEMSET]]";

/// Reads the operation's part of each --reference, and hashes the libraries that exist. Throws
/// BadInput for a text of another form, and for two of one name.
std::vector<Reference> parse_references(const std::vector<std::string>& texts,
                                        Operation operation = Operation::copy);

/// The references in the form of a log's header, and back.
std::vector<NamedReference> names_of(const std::vector<Reference>& references);
std::vector<Reference> references_of(const std::vector<NamedReference>& names,
                                     Operation operation = Operation::copy);

/// Copies to be timed. Throws BadInput for the first that is missing, copies wrongly, crashes or
/// hangs.
std::vector<TimedCopy> load_references(const std::vector<Reference>& references);

/// Throws Failure, which names the first reference that copies wrongly after all its calls. The
/// timings beside it are worthless then.
void require_still_right(const std::vector<TimedCopy>& references);

/// The references of a log, which has their figures. They are not loaded, and cannot be called.
std::vector<TimedCopy> logged_references(const std::vector<Reference>& references);

} // namespace asterope
