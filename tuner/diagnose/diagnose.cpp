// asterope-tune diagnose: what the pitfalls of memory benchmarks do to copies on this machine.
#include "diagnose/diagnose.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/version.hpp"
#include "diagnose/sections.hpp"
#include "machine/affinity.hpp"
#include "profile/profile.hpp"
#include "profile/provisional.hpp"
#include "space/features.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

using namespace diagnosis;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kRounds = 31, kQuickRounds = 11;

/// The sections to run, in their own order. Throws BadInput for a name that is none of theirs.
std::vector<NamedSection> chosen(const std::vector<std::string>& only) {
    for (const std::string& name : only) {
        if (std::none_of(std::begin(kSections), std::end(kSections),
                         [&](const NamedSection& section) { return section.name == name; })) {
            throw BadInput("section '" + name.substr(0, 40) + "' is unknown: choose of " +
                           section_names());
        }
    }
    std::vector<NamedSection> sections;
    for (const NamedSection& section : kSections) {
        if (only.empty() || std::find(only.begin(), only.end(), section.name) != only.end()) {
            sections.push_back(section);
        }
    }
    return sections;
}

/// The largest copy: twice the last cache, as far as time and memory allow; a power of 2.
std::size_t largest_copy(const Machine& machine, bool quick) {
    const std::size_t usable = machine.usable_bytes ? machine.usable_bytes : 1024 * kMiB;
    const std::size_t wanted = std::max(std::bit_ceil(2 * last_cache_bytes(machine)), 16 * kMiB);
    const std::size_t most = std::max(std::bit_floor(usable / 16), kMiB);
    return std::min({wanted, most, (quick ? 64 : 128) * kMiB});
}

/// Bytes a side: room for the largest copy, and for the buffers at critical strides where they are
/// not absurdly far apart.
std::size_t arena_side(std::size_t largest, const Machine& machine) {
    std::size_t side = largest + 4 * kMiB;
    for (const CriticalStride& stride : critical_strides(machine.caches)) {
        if (stride.span() <= std::min(256 * kMiB, machine.usable_bytes / 8)) {
            side = std::max(side, stride.span() + 4 * kMiB);
        }
    }
    return side;
}

} // namespace

std::string section_names() {
    std::string names;
    for (const NamedSection& section : kSections) {
        names += (names.empty() ? "" : ", ") + std::string(section.name);
    }
    return names;
}

void diagnose(const DiagnosisRequest& request) {
    const std::vector<NamedSection> sections = chosen(request.only);
    const Machine machine = read_machine("/", request.cpu);
    Copies copies;
    if (!request.profile.empty()) {
        copies = Copies(read_profile(request.profile), Features(machine.cpu, {}));
    }
    if (!request.json.empty()) require_writable(request.json);
    std::vector<int> others = allowed_cpus(); // as long as none is pinned
    const int cpu = pin_to_cpu(request.cpu);
    std::erase(others, cpu);
    start_clock(machine.cpu.invariant_tsc);
    catch_interrupts();
    const std::size_t largest = largest_copy(machine, request.quick);
    const Arena arena(arena_side(largest, machine));
    const int rounds = request.quick ? kQuickRounds : kRounds;

    std::printf("%s, %s, CPU %d: %s, %d rounds.\n"
                "Times are medians of a call; figures without a unit say how many times as long "
                "that is as\n"
                "the time above it. x libc above 1: the winner is faster than libc there.\n",
                machine.cpu.brand.c_str(), machine.libc.c_str(), cpu,
                copies.empty() ? "libc's memcpy alone" : "libc's memcpy and the profile's winners",
                rounds);
    for (const std::string& line : copies.left_out()) std::printf("left out: %s\n", line.c_str());
    auto reports = nlohmann::ordered_json::array();
    MonitoredRounds watched(cpu);
    Progress progress(static_cast<double>(sections.size()), false);
    for (const NamedSection& named : sections) {
        progress.label(named.name);
        Section section = named.measure({machine, copies, arena, largest, rounds, others,
                                         [&](double share) { progress.advance(share); }, watched});
        section.name = named.name;
        progress.clear();
        std::printf("\n%s", to_text(section).c_str());
        std::fflush(stdout);
        reports.push_back(to_json(section));
    }
    if (!request.json.empty()) {
        const nlohmann::ordered_json report = {{"format", "asterope-diagnosis"},
                                               {"version", 1},
                                               {"tool_version", kVersion},
                                               {"machine", to_json(machine)},
                                               {"cpu", cpu},
                                               {"rounds", rounds},
                                               {"profile", !request.profile.empty()},
                                               {"left_out", copies.left_out()},
                                               {"noise", noise_json(watched.facts())},
                                               {"sections", reports}};
        write_atomically(request.json, report.dump(2) + '\n');
    }
    watched.warn("these figures are");
}

} // namespace asterope
