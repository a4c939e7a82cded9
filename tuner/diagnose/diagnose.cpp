// asterope-tune diagnose: the effects of memory benchmarks' pitfalls on copies on this machine.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "diagnose/sections.hpp"
#include "machine/affinity.hpp"
#include "profile/profile.hpp"
#include "profile/provisional.hpp"
#include "run/command.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

using namespace diagnosis;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kRounds = 31, kQuickRounds = 11;

struct Request {
    std::string profile; ///< whose winners are compared with libc; empty: libc alone
    std::string json;    ///< where the report goes; empty: nowhere
    int cpu = -1;        ///< negative: the last one allowed
    bool quick = false;
    std::vector<std::string> only; ///< names of sections; empty: all
};

/// "working_set, critical_stride, ...": those there are, in the order in which they run.
std::string section_names() {
    return joined(kSections, &NamedSection::name);
}

/// The sections to run, in their own order. Throws BadInput for the name of another section.
std::vector<NamedSection> chosen(const std::vector<std::string>& only) {
    for (const std::string& name : only) {
        if (!contains(kSections, name, &NamedSection::name)) {
            throw BadInput("section '" + name.substr(0, 40) + "' is unknown: choose of " +
                           section_names());
        }
    }
    std::vector<NamedSection> sections;
    for (const NamedSection& section : kSections) {
        if (only.empty() || contains(only, section.name)) sections.push_back(section);
    }
    return sections;
}

/// The largest copy: twice the last cache, as far as time and memory allow; a power of 2.
std::size_t largest_copy(const Machine& machine, bool quick) {
    const std::size_t wanted = std::max(std::bit_ceil(2 * last_cache_bytes(machine)), 16 * kMiB);
    const std::size_t most = std::max(std::bit_floor(usable_memory(machine) / 16), kMiB);
    return std::min({wanted, most, (quick ? 64 : 128) * kMiB});
}

/// Bytes a side: room for the largest copy, and for the buffers at critical strides where they are
/// not absurdly far apart.
std::size_t arena_side(std::size_t largest, const Machine& machine) {
    std::size_t side = largest + 4 * kMiB;
    for (const CriticalStride& stride : critical_strides(machine.caches)) {
        if (stride.span() <= std::min(256 * kMiB, usable_memory(machine) / 8)) {
            side = std::max(side, stride.span() + 4 * kMiB);
        }
    }
    return side;
}

/// Prints a table for each section and writes the report.
void diagnose(const Request& request) {
    const std::vector<NamedSection> sections = chosen(request.only);
    const Machine machine = read_machine("/", request.cpu);
    Winners winners;
    if (!request.profile.empty()) {
        refuse_loss(request.json, request.profile, "the profile", "--json");
        winners = Winners(read_profile(request.profile), granted_features(machine.cpu));
    }
    if (!request.json.empty()) require_writable(request.json);
    std::vector<int> others = allowed_cpus(); // before the process is pinned
    const int cpu = pin_to_cpu(request.cpu);
    std::erase(others, cpu);
    start_clock(machine.cpu.invariant_tsc);
    catch_interrupts();
    const std::size_t largest = largest_copy(machine, request.quick);
    const Arena arena(arena_side(largest, machine));
    const int rounds = request.quick ? kQuickRounds : kRounds;

    std::printf("%s, %s, CPU %d: %s, %d rounds.\n"
                "Times are medians of a call; figures without a unit are multiples of the "
                "time above\nthem. x libc above 1: the winner is faster than libc there.\n",
                machine.cpu.brand.c_str(), machine.libc.c_str(), cpu,
                winners.empty() ? "libc's memcpy alone" : "libc's memcpy and the profile's winners",
                rounds);
    for (const std::string& line : winners.left_out()) std::printf("left out: %s\n", line.c_str());
    auto reports = nlohmann::ordered_json::array();
    TimingsBy source{DisturbanceMonitor(cpu)};
    RunTimings timings(false);
    timings.go_on_with(source);
    timings.progress.plan("", static_cast<double>(sections.size()));
    for (const NamedSection& named : sections) {
        timings.progress.label(named.name);
        Section section =
            named.measure({machine, winners, arena, largest, rounds, others, timings, source});
        section.name = named.name;
        timings.progress.clear();
        std::printf("\n%s", to_text(section).c_str());
        std::fflush(stdout);
        reports.push_back(to_json(section));
    }
    if (!request.json.empty()) {
        const nlohmann::ordered_json report = {
            {"format", "asterope-diagnosis"},
            {"version", 1},
            {"tool_version", kVersion},
            {"machine", to_json(machine)},
            {"cpu", cpu},
            {"rounds", rounds},
            {"profile", !request.profile.empty()},
            {"left_out", winners.left_out()},
            {"noise", noise_json(timings.disturbed_rounds().facts())},
            {"sections", reports}};
        write_atomically(request.json, report.dump(2) + '\n');
    }
    timings.disturbed_rounds().warn("these figures are");
}

} // namespace

Subcommand add_diagnose(CLI::App& app) {
    const auto request = std::make_shared<Request>();
    CLI::App& command = add_command(
        app, "diagnose", "measure the effects of memory benchmarks' pitfalls on copies here");
    add_option(command, "PROFILE", &request->profile,
               "compare its winners, too; without it libc alone", "", {.not_empty = true});
    add_option(command, "--json", &request->json, "write all figures there", "FILE",
               {.not_empty = true});
    add_cpu(command, request->cpu);
    add_option(command, "--quick", &request->quick, "fewer rounds: some seconds in all");
    add_option(command, "--only", &request->only, "only these sections: " + section_names(),
               "NAMES", {.separated_by_commas = true});
    return {command, [request] { diagnose(*request); }};
}

} // namespace asterope
