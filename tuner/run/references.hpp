// The references of a run, which winners are judged by besides libc: asked for, logged, loaded.
#pragma once

#include <string>
#include <vector>

#include "profile/search_options.hpp"
#include "timing/external_copy.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// The form of --reference. Without symbols, they are memcpy and memset. A single symbol is that of
/// copies.
inline constexpr const char* kReferenceForm = "NAME=PATH[:MEMCPY[,MEMSET]]";

/// Reads the operation's part of each --reference. Throws BadInput for a text of another form, and
/// for two of one name.
std::vector<ExternalCopy> parse_references(std::vector<std::string> texts,
                                           Operation operation = Operation::copy);

/// Throws BadInput for the first --reference that has no function of these operations.
void require_use(const std::vector<std::string>& texts, const std::vector<Operation>& operations);

/// The references in the form of a log's header. Hashes the libraries that exist: another one makes
/// another search.
std::vector<NamedReference> names_of(const std::vector<ExternalCopy>& references);

/// Copies to be timed. Throws BadInput for the first that is missing, copies wrongly, crashes or
/// hangs.
std::vector<TimedCopy> load_references(const std::vector<ExternalCopy>& references);

/// Throws Failure, which names the first reference that copies wrongly after all its calls. The
/// timings beside it are worthless then.
void require_still_right(const std::vector<TimedCopy>& references);

/// The references of a log, which has their figures. They are not loaded, and cannot be called.
std::vector<TimedCopy> logged_references(const std::vector<NamedReference>& references,
                                         Operation operation);

} // namespace asterope
