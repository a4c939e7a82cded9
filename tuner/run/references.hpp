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

/// How --reference wants it to be written. Where no symbol is named, they are memcpy and memset;
/// where one is, it is that of copies.
inline constexpr const char* kReferenceForm = "NAME=PATH[:MEMCPY[,MEMSET]]";

/// Reads the part of each --reference that is about the operation, and the libraries, as far as
/// they are there. Throws BadInput for a text that cannot be read and for two of one name.
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

/// The same of a log, which has their figures: nothing is loaded, and they cannot be called.
std::vector<TimedCopy> logged_references(const std::vector<Reference>& references);

} // namespace asterope
