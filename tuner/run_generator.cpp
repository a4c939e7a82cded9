// Renders the routine by calling asterope-generate.
#include "run_generator.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "error.hpp"

namespace asterope {

void run_generator(const std::filesystem::path& profile, const std::filesystem::path& folder,
                   bool quiet) {
    std::error_code ignored;
    std::filesystem::path command =
        std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
        "asterope-generate";
    if (!std::filesystem::exists(command, ignored)) command = "asterope-generate";

    std::string arguments[] = {command.string(), profile.string(), "-o", folder.string()};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                    arguments[3].data(), nullptr};
    pid_t child = 0;
    const std::string again =
        "; the profile is written: run asterope-generate " + profile.string() + " yourself";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (quiet) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        throw Failure("cannot run asterope-generate: " + std::string(std::strerror(error)) + again);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw Failure("asterope-generate failed" + again);
    }
}

} // namespace asterope
