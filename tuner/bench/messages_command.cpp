// asterope-bench messages: publish and subscribe over shared memory, between two processes.
#include "bench/app_commands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "bench/apps/message_pair.hpp"
#include "bench/apps/steps.hpp"
#include "bench/routine.hpp"
#include "machine/affinity.hpp"
#include "timing/clock.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

namespace {

struct Options {
    RoutineOptions routine{.rounds = 31};
    std::string sizes = "512K,1M,2M";
    std::string rings = "8M,256M";
    std::size_t past_page = 0;
    std::string take; ///< the subscriber's symbol; the publisher's where none is named
    int subscriber_cpu = -1;
};

/// Bytes of messages that are timed in one turn of one copier.
constexpr std::size_t kTimedBytes = std::size_t{32} << 20;

void check(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& rings) {
    for (const std::size_t size : sizes) {
        if (size % sizeof(std::uint64_t)) {
            throw BadInput("a message of " + format_size(size) +
                           " is no whole number of words: give multiples of 8 bytes");
        }
    }
    if (rings.front() < sizes.back()) {
        throw BadInput("a ring of " + format_size(rings.front()) +
                       " has no room for a message of " + format_size(sizes.back()) +
                       ": make --ring larger or --sizes smaller");
    }
}

/// The publisher's CPU, and the subscriber's: the ones that are named, or the last ones allowed,
/// two different ones where there are two. Throws BadInput where one is not allowed.
std::pair<int, int> choose_cpus(const Options& options) {
    const std::vector<int> allowed = allowed_cpus();
    int publisher = options.routine.cpu, subscriber = options.subscriber_cpu;
    for (const int named : {publisher, subscriber}) {
        if (named >= 0) require_allowed(named);
    }
    const auto last_but = [&](int taken) {
        const auto other =
            std::find_if(allowed.rbegin(), allowed.rend(), [&](int cpu) { return cpu != taken; });
        return other == allowed.rend() ? taken : *other;
    };
    if (publisher < 0) publisher = last_but(subscriber);
    if (subscriber < 0) subscriber = last_but(publisher);
    return {publisher, subscriber};
}

void print_rows(std::size_t ring, std::size_t size, const std::vector<Step>& steps) {
    std::string table;
    append(table, "%-8s %-8s ", format_size(ring).c_str(), format_size(size).c_str());
    table = step_row(table + "end to end ", steps[0], size);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        constexpr const char* names[] = {"", "publish", "take", "read"};
        std::string label;
        append(label, "%20s%-9s", "", names[i]);
        table += step_row(label, steps[i], size);
    }
    std::fputs(table.c_str(), stdout);
}

void run(const Options& options) {
    const std::vector<std::size_t> sizes = parse_size_list(options.sizes);
    const std::vector<std::size_t> rings = parse_size_list(options.rings);
    check(sizes, rings);
    const CopyFunction publish = load_routine(options.routine);
    RoutineOptions takes = options.routine;
    if (!options.take.empty()) takes.symbol = options.take;
    const CopyFunction take = load_routine(takes);
    const Machine machine = read_machine();
    if (rings.back() > usable_bytes(machine)) {
        throw too_large("a ring of " + format_size(rings.back()) + " is", machine);
    }
    // Nothing is pinned here: the two processes that are started take these CPUs.
    const auto [publisher_cpu, subscriber_cpu] = choose_cpus(options);
    start_clock(false); // the system's clock is one for all CPUs, whatever their counters say
    catch_interrupts();

    std::string symbol = options.routine.symbol;
    if (take != publish) symbol += " and " + options.take;
    const Copier libc{"libc's memcpy", libc_copy(), libc_copy(), options.past_page};
    std::vector<Copier> copiers(3, libc);
    copiers[kAppRoutine] = {symbol, publish, take, options.past_page};

    std::printf("Messages over shared memory, %s against %s: %d paired rounds, publisher on CPU "
                "%d,\nsubscriber on CPU %d%s. x libc above 1: the routine is faster; floor: libc "
                "against itself.\n\n%s",
                symbol.c_str(), machine.libc.c_str(), options.routine.rounds, publisher_cpu,
                subscriber_cpu,
                subscriber_cpu == publisher_cpu ? " as well: each waits for the other to run" : "",
                step_header("ring     message  step       ").c_str());

    std::vector<double> ratios;
    Progress progress(static_cast<double>(rings.size() * sizes.size()) * options.routine.rounds * 3,
                      false);
    for (const std::size_t ring : rings) {
        for (const std::size_t size : sizes) {
            progress.label(format_size(size));
            MessagePair pair(copiers, ring, size, publisher_cpu, subscriber_cpu);
            const std::vector<Step> steps =
                compare_steps(options.routine.rounds, [&](int copy, std::uint64_t) {
                    const MessageTimes times = pair.run(static_cast<std::size_t>(copy),
                                                        times_for(settling_bytes_of(machine), size),
                                                        times_for(kTimedBytes, size));
                    progress.advance(1);
                    return std::vector<double>{times.total, times.publish, times.take, times.read};
                });
            progress.clear();
            print_rows(ring, size, steps);
            std::fflush(stdout);
            ratios.push_back(steps[0].ratio.median);
        }
    }
    std::printf("%s\n", ratio_summary("end to end", ratios).c_str());
}

} // namespace

AppCommand add_messages_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "messages",
        "publish and subscribe over shared memory: a publisher copies each message into a ring of "
        "slots, a subscriber on another CPU copies it out and reads it; timed from the beginning "
        "of "
        "the first copy to the end of the reading, and in parts");
    command->add_option("--sizes", options->sizes, "bytes a message, K, M, G for powers of 1024")
        ->type_name("LIST")
        ->capture_default_str();
    command
        ->add_option("--ring", options->rings,
                     "bytes of the ring; one that is larger than the last cache is as shadesmar's: "
                     "each message goes where none has been for long")
        ->type_name("LIST")
        ->capture_default_str();
    add_options(*command, options->routine);
    command
        ->add_option("--subscriber-symbol", options->take,
                     "the subscriber's copy function, where it is not the publisher's, --symbol")
        ->type_name("NAME");
    command
        ->add_option("--subscriber-cpu", options->subscriber_cpu,
                     "the subscriber's CPU (--cpu: the publisher's); another one where there is "
                     "one")
        ->type_name("N")
        ->check(CLI::Range(0, 99999));
    add_past_page(*command, options->past_page,
                  "the user's buffers begin; the ring's slots begin at one");
    return {command, [options] { run(*options); }};
}

} // namespace asterope
