// Proves that candidates copy right before any of them is timed.
#include "verify.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.hpp"

namespace asterope {

namespace {

constexpr std::size_t kCanary = 192; ///< more than any stage writes at once
constexpr std::array<std::size_t, 9> kOffsets = {0, 1, 7, 8, 15, 16, 31, 32, 63};
constexpr std::array<std::size_t, 14> kSizes = {128, 129,  191,  192,  193,  255,  256,
                                                320, 1023, 1024, 1025, 2047, 4160, 9001};
constexpr std::size_t kRoom = 9001 + 64 + 2 * kCanary;

/// What parent and child share: where the child is, and what it found there.
struct Report {
    std::size_t position; ///< in the list of variants
    char reason[160];     ///< empty while nothing is wrong
};

/// Deterministic bytes that no shift of themselves equals.
std::uint8_t pattern(std::size_t i) {
    return static_cast<std::uint8_t>((i * 2654435761u) >> 11);
}

/// Fills `reason` and returns false at the first byte that is not as it must be.
bool copies_right(const Candidate& candidate, char* reason, std::size_t room) {
    static std::array<std::uint8_t, kRoom> source_room, destination_room, untouched;
    for (std::size_t i = 0; i < kRoom; ++i) source_room[i] = pattern(i);
    untouched.fill(0xA5);
    for (const std::size_t size : kSizes) {
        for (const std::size_t source_offset : kOffsets) {
            for (const std::size_t destination_offset : kOffsets) {
                const std::uint8_t* source = source_room.data() + kCanary + source_offset;
                std::uint8_t* destination = destination_room.data() + kCanary + destination_offset;
                std::memset(destination - kCanary, 0xA5, size + 2 * kCanary);
                const void* returned =
                    candidate.variant->copy(destination, source, size, candidate.distance());
                const bool right =
                    returned == destination && std::memcmp(destination, source, size) == 0 &&
                    std::memcmp(destination - kCanary, untouched.data(), kCanary) == 0 &&
                    std::memcmp(destination + size, untouched.data(), kCanary) == 0;
                if (right) continue;

                const auto fail = [&](const char* what, std::ptrdiff_t where) {
                    std::snprintf(reason, room, "%s %td of %zu (source +%zu, destination +%zu)",
                                  what, where, size, source_offset, destination_offset);
                    return false;
                };
                const auto end = static_cast<std::ptrdiff_t>(size + kCanary);
                for (std::ptrdiff_t i = -static_cast<std::ptrdiff_t>(kCanary); i < end; ++i) {
                    const bool inside = i >= 0 && i < static_cast<std::ptrdiff_t>(size);
                    if (!inside && destination[i] != 0xA5) return fail("stray write at byte", i);
                    if (inside && destination[i] != source[i]) return fail("wrong byte", i);
                }
                return fail("wrong return value, copy", 0);
            }
        }
    }
    return true;
}

/// One entry for each variant and extreme distance: correctness cannot depend on the distance in
/// between, as it only moves prefetches, which fault on nothing.
std::vector<std::size_t> extremes(const std::vector<Candidate>& space) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < space.size(); ++i) {
        const bool first = i == 0 || space[i - 1].variant != space[i].variant;
        const bool last = i + 1 == space.size() || space[i + 1].variant != space[i].variant;
        if (first || last) chosen.push_back(i);
    }
    return chosen;
}

} // namespace

std::vector<Invalid> verify(const std::vector<Candidate>& space) {
    const std::vector<std::size_t> chosen = extremes(space);
    void* shared =
        mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw Failure("no memory to verify the candidates in");
    auto* report = new (shared) Report{};

    std::map<const asterope_variant*, std::string> broken;
    for (std::size_t next = 0; next < chosen.size(); next = report->position + 1) {
        report->reason[0] = '\0';
        const pid_t child = fork();
        if (child < 0) {
            munmap(shared, sizeof(Report));
            throw Failure(std::string("cannot start a process to verify in: ") +
                          std::strerror(errno));
        }
        if (child == 0) {
            for (std::size_t i = next; i < chosen.size(); ++i) {
                report->position = i;
                if (!copies_right(space[chosen[i]], report->reason, sizeof report->reason)) {
                    _exit(1);
                }
            }
            _exit(0);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
        std::string reason = report->reason;
        if (WIFSIGNALED(status)) reason = std::string("died: ") + strsignal(WTERMSIG(status));
        broken.emplace(space[chosen[report->position]].variant, reason);
    }
    munmap(shared, sizeof(Report));

    std::vector<Invalid> invalid;
    for (std::size_t i = 0; i < space.size(); ++i) {
        const auto found = broken.find(space[i].variant);
        if (found != broken.end()) invalid.push_back({i, found->second});
    }
    return invalid;
}

} // namespace asterope
