// The check runs in a child process, so that a copy may crash, hang or exit without harm.
#include "timing/correctness.hpp"

#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/child_process.hpp"
#include "base/text.hpp"
#include "base/watched_run.hpp"
#include "space/checked_copy.hpp"

namespace asterope {

namespace {

constexpr const char* kRight = "copies right";

/// Tries every small size, and larger ones about powers of two, where copies switch their method.
std::string try_all(CopyFunction function, Operation operation) {
    CheckedCopy checked{
        [=](void* to, const void* from, std::size_t size) { return function(to, from, size, 0); },
        std::vector<std::size_t>(260)};
    std::iota(checked.sizes.begin(), checked.sizes.end(), 0);
    std::vector<std::size_t>& few = checked.sizes_at_few_offsets;
    for (std::size_t power = 512; power <= std::size_t{1} << 20; power *= 2) {
        auto& sizes = power < 8192 ? checked.sizes : few;
        sizes.insert(sizes.end(), {power - 1, power, power + 1, power + power / 2 + 7});
    }
    // where threads and streaming stores begin
    few.insert(few.end(), {std::size_t{5} << 20, (std::size_t{20} << 20) + 77});
    checked.sets = !facts_of(operation).reads;
    return first_fault(checked);
}

/// Tries moves within one buffer, at sizes about those where copies switch their method.
std::string try_overlaps(CopyFunction move) {
    return first_fault(
        {[=](void* to, const void* from, std::size_t size) { return move(to, from, size, 0); },
         {},
         {1, 7, 32, 64, 100, 128, 129, 255, 257, 500, 512, 513, 1000, 1024, 1025, 4097, 9001,
          70001},
         true});
}

} // namespace

std::string fault_of(const std::function<CopyFunction(std::string& reason)>& find,
                     Operation operation, bool moves, double seconds) {
    ChildProcess child([&](int answers) {
        // A library may print while it is loaded. That must not mix with our output.
        const int nowhere = open("/dev/null", O_RDWR);
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            dup2(nowhere, standard);
        }
        std::string reason;
        const CopyFunction copy = find(reason);
        if (copy) reason = try_all(copy, operation);
        if (copy && moves && reason.empty()) reason = try_overlaps(copy);
        // said aloud: a copy that calls exit() says nothing
        if (reason.empty()) reason = kRight;
        write_all(answers, reason);
    });
    const std::optional<std::string> said = read_until_end(child.answers(), seconds);
    if (!said) return formatted("still runs after %g s of checking", seconds);
    const int status = child.wait();
    if (WIFSIGNALED(status)) return std::string("died: ") + strsignal(WTERMSIG(status));
    if (said->empty()) return "ends the process that calls it";
    if (*said == kRight) return "";
    // Each process that the copy forked writes its findings behind those of the others.
    return said->find(kRight) == said->npos ? *said : "starts other processes";
}

std::string fault_since(CopyFunction copy, std::string_view name, Operation operation) {
    const Calling calling(name);
    return try_all(copy, operation);
}

} // namespace asterope
