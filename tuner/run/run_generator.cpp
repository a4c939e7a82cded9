// Renders the routine by calling asterope-generate.
#include "run/run_generator.hpp"

#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/program.hpp"

namespace asterope {

void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet, const std::string& remedy) {
    std::error_code ignored;
    std::filesystem::path command = program_folder() / "asterope-generate";
    if (!std::filesystem::exists(command, ignored)) command = "asterope-generate";
    std::vector<std::string> words = {command.string(), profile.string(), "-o", folder.string()};
    if (quiet) words.push_back("--quiet");
    try {
        const int status = run_program(std::move(words));
        if (status == 0) return;
        if (status == kInterrupted) throw Interrupted("interrupted; " + remedy);
    } catch (const std::system_error& error) {
        throw Failure("cannot run asterope-generate: " + error.code().message() + "; " + remedy);
    }
    throw Failure("asterope-generate failed; " + remedy);
}

} // namespace asterope
