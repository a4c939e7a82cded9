// Shares the candidates among child processes, at most one for each CPU.
#include "space/verify.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "machine/affinity.hpp"
#include "space/checked_copy.hpp"

namespace asterope {

namespace {

constexpr std::array<std::size_t, 14> kSizes = {128, 129,  191,  192,  193,  255,  256,
                                                320, 1023, 1024, 1025, 2047, 4160, 9001};
/// Where pages are interleaved: no whole group of 2 or 4 of them, one, several, and every kind of
/// rest. A group fits from the next line boundary on.
constexpr std::array<std::size_t, 12> kGroupSizes = {8192,  8255,  8256,  8257,  12288, 16384,
                                                     16447, 16448, 16449, 20001, 32960, 36863};

/// The memory that parent and child share: the child's position, and its findings.
struct Report {
    std::size_t position; ///< in the list of subjects
    char reason[160];     ///< empty while nothing is wrong
};

/// Subjects that one child process after the other goes through: the next begins behind the one
/// that killed the last.
class Part {
  public:
    Part(const std::vector<CheckedCopy>& subjects, std::size_t begin, std::size_t end)
        : subjects_(subjects), next_(begin), end_(end) {
        void* shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) throw Failure("no memory to verify the candidates in");
        report_ = new (shared) Report{};
    }
    ~Part() {
        child_.reset(); // it writes there
        munmap(report_, sizeof(Report));
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    void start() {
        report_->reason[0] = '\0';
        child_.emplace([this](int) {
            for (std::size_t i = next_; i < end_; ++i) {
                report_->position = i;
                const std::string fault = first_fault(subjects_[i]);
                if (fault.empty()) continue;
                report_->reason[fault.copy(report_->reason, sizeof report_->reason - 1)] = '\0';
                _exit(kFailed);
            }
        });
    }

    /// Waits until all its subjects are through; has been started.
    void finish(std::vector<Invalid>& faults) {
        for (;;) {
            const int status = child_->wait();
            if (status == 0) return;
            if (WIFSIGNALED(status)) throw_if_interrupted(); // a signal to all of the group
            faults.push_back(
                {report_->position, WIFSIGNALED(status)
                                        ? std::string("died: ") + strsignal(WTERMSIG(status))
                                        : report_->reason});
            next_ = report_->position + 1;
            start();
        }
    }

  private:
    const std::vector<CheckedCopy>& subjects_;
    std::size_t next_, end_;
    Report* report_;
    std::optional<ChildProcess> child_;
};

/// Finds the faults of all subjects. It runs on all CPUs that this process may use, as it is not
/// pinned yet.
std::vector<Invalid> find_faults(const std::vector<CheckedCopy>& subjects) {
    const std::size_t count = std::min(allowed_cpus().size(), subjects.size() / 8 + 1);
    std::vector<std::unique_ptr<Part>> parts;
    for (std::size_t i = 0; i < count; ++i) {
        parts.push_back(std::make_unique<Part>(subjects, subjects.size() * i / count,
                                               subjects.size() * (i + 1) / count));
        parts.back()->start();
    }
    std::vector<Invalid> faults;
    for (const auto& part : parts) part->finish(faults);
    return faults;
}

CheckedCopy small_subject(asterope_small_candidate copy, asterope_candidate large) {
    std::vector<std::size_t> sizes(140);
    std::iota(sizes.begin(), sizes.end(), 0);
    sizes.insert(sizes.end(), {191, 192, 193, 255, 256, 257, 300, 511, 512, 513, 1025});
    return {[=](void* to, const void* from, std::size_t size) {
                return copy(to, from, size, 0, large);
            },
            sizes};
}

/// The subject for any other kind.
CheckedCopy plain_subject(const asterope_kind& kind, asterope_candidate copy) {
    CheckedCopy subject{
        [=](void* to, const void* from, std::size_t size) { return copy(to, from, size, 0); },
        {128, 129, 143, 144, 145, 159, 160, 161, 191, 192, 193, 255,
         256, 257, 287, 288, 289, 319, 320, 321, 384, 385, 512, 577}};
    if (kind.overlap) {
        subject.sizes_at_few_offsets = {1023, 1025, 4160, 9001};
        subject.moves = true;
    } else {
        subject.sizes.insert(subject.sizes.end(),
                             {513, 575, 576, 639, 640, 641, 1023, 1024, 1025, 2047, 9001});
        std::erase_if(subject.sizes, [&](std::size_t size) { return size < kind.least; });
    }
    return subject;
}

/// Cached and uncached in turn, only the cached way where it already went wrong. No threshold
/// brings about the other ways for certain: tests of the templates take it by a clock of theirs.
/// `from` is the value of a set.
CheckedCopy sensing_subject(const asterope_copy& probe, asterope_candidate pipeline, bool is_set) {
    constexpr unsigned long kNever = 0xFFFFFFFF;
    const asterope_candidate sense = probe.copy;
    const auto both_ways = [=](void* to, const void* from, std::size_t size) {
        asterope_sensing cached{}, uncached{};
        cached.threshold = kNever;
        cached.hot = pipeline;
        // A page fault, or what reads like one, goes on with `fetch`.
        uncached.cold = uncached.fetch = pipeline;
        // An uncached set goes on with either of its two. At a threshold of 0, each store to it
        // would read as a page fault.
        if (is_set) {
            uncached.threshold = 16;
            uncached.hot = pipeline;
        }
        sense(to, from, size, reinterpret_cast<std::size_t>(&cached));
        const auto* const bytes = static_cast<const unsigned char*>(to);
        const auto value = static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(from));
        const bool right = is_set ? std::all_of(bytes, bytes + size,
                                                [&](unsigned char one) { return one == value; })
                                  : std::memcmp(to, from, size) == 0;
        if (right) {
            std::memset(to, is_set ? ~value : 0xA5, size);
            sense(to, from, size, reinterpret_cast<std::size_t>(&uncached));
        }
        return static_cast<const void*>(to);
    };
    return {both_ways, {16384, 16385, 16447, 16448, 20003, 32767, 32768, 36001}};
}

} // namespace

std::vector<Invalid> verify(const std::vector<Candidate>& space) {
    // Only the extreme distances: those in between only move prefetches, which fault on nothing.
    std::map<const asterope_variant*, std::set<std::size_t>> distances;
    for (const Candidate& candidate : space) {
        distances[candidate.variant].insert(candidate.distance());
    }
    std::vector<CheckedCopy> subjects;
    std::vector<const asterope_variant*> variants;
    for (const auto& [of, all] : distances) {
        const asterope_variant* variant = of; // lambdas capture no structured bindings
        for (const std::size_t distance : std::set{*all.begin(), *all.rbegin()}) {
            CheckedCopy subject{[variant, distance](void* to, const void* from, std::size_t size) {
                                    return variant->copy(to, from, size, distance);
                                },
                                {kSizes.begin(), kSizes.end()}};
            subject.sets = !facts_of(operation_of(*variant)).reads;
            if (static_cast<std::size_t>(variant->acts_above) >= kGroupSizes.front()) {
                subject.sizes_at_few_offsets.assign(kGroupSizes.begin(), kGroupSizes.end());
            }
            variants.push_back(variant);
            subjects.push_back(std::move(subject));
        }
    }
    std::map<const asterope_variant*, std::string> broken;
    for (const auto& [index, fault] : find_faults(subjects)) broken.emplace(variants[index], fault);
    std::vector<Invalid> invalid;
    for (std::size_t i = 0; i < space.size(); ++i) {
        const auto found = broken.find(space[i].variant);
        if (found != broken.end()) invalid.push_back({i, found->second});
    }
    return invalid;
}

std::vector<Invalid> verify(const asterope_kind& kind,
                            const std::vector<const asterope_copy*>& space,
                            asterope_candidate pipeline) {
    std::vector<CheckedCopy> subjects;
    for (const asterope_copy* copy : space) {
        const bool is_set = !facts_of(operation_of(kind)).reads;
        subjects.push_back(kind.copies->small  ? small_subject(copy->small, pipeline)
                           : kind.copies->read ? sensing_subject(*copy, pipeline, is_set)
                                               : plain_subject(kind, copy->copy));
        subjects.back().sets = is_set;
    }
    return find_faults(subjects);
}

} // namespace asterope
