// Finds the shared library, or builds it from the profile.
#include "bench/routine.hpp"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/child_process.hpp"
#include "base/command_line.hpp"
#include "base/error.hpp"
#include "machine/profile_places.hpp"
#include "run/built_routine.hpp"

namespace asterope {

static constexpr const char* kInstead = "name a shared library with --routine instead";

void add_options(CLI::App& app, RoutineOptions& options) {
    add_option(app, "--routine", &options.library,
               "shared library with the routine (default: build/libasterope_memcpy.so, else the "
               "one beside this program, else one that is built from the profile for this run)",
               "FILE");
    add_option(app, "--rounds", &options.rounds, "rounds a row", "N",
               {.shows_default = true, .within = {{3, 100000}}});
    add_cpu(app, options.cpu);
}

std::string routine_library(const RoutineOptions& options) {
    if (!options.library.empty()) return options.library;
    constexpr const char* kLibrary = "libasterope_memcpy.so";
    std::error_code ignored;
    for (const std::filesystem::path& folder : {std::filesystem::path("build"), program_folder()}) {
        if (std::filesystem::exists(folder / kLibrary, ignored)) return folder / kLibrary;
    }
    // Built once for all entry points, deleted when the program ends: children load it, too.
    static std::optional<ScratchFolder> folder;
    static std::string library;
    if (library.empty()) {
        std::filesystem::path profile;
        try {
            profile = profile_to_read(options.profile);
        } catch (const BadInput& none) {
            throw BadInput("build/libasterope_memcpy.so is missing, and cannot be built: " +
                           std::string(none.what()) + ", or " + kInstead);
        }
        library = build_routine(profile, folder.emplace(kInstead), kInstead);
        // stdout may be a table for programs, so this goes to stderr.
        std::fprintf(stderr, "the routine is built from %s\n",
                     Error::one_line(profile.string()).c_str());
    }
    return library;
}

} // namespace asterope
