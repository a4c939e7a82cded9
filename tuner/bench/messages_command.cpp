// asterope-bench messages: publish and subscribe over shared memory, between two processes.
#include "bench/messages_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/size_text.hpp"
#include "bench/apps/message_pair.hpp"
#include "bench/apps/steps.hpp"
#include "bench/routine.hpp"
#include "machine/affinity.hpp"
#include "machine/machine.hpp"
#include "timing/clock.hpp"
#include "timing/libc_copy.hpp"

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

/// As many messages as bring `bytes`, and a few in any case.
unsigned messages_of(std::size_t bytes, std::size_t message_bytes) {
    return static_cast<unsigned>(std::max<std::size_t>(4, bytes / message_bytes));
}

void check(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& rings,
           std::size_t past_page) {
    if (past_page % sizeof(std::uint64_t)) throw BadInput("--past-page must be a multiple of 8");
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

void print_step(const std::string& ring, const std::string& size, const char* name,
                std::size_t bytes, const Step& step) {
    std::printf("%-8s %-8s %-11s %9.1f %9.1f %10.2f%s\n", ring.c_str(), size.c_str(), name,
                step.libc * 1e6, step.ours * 1e6, static_cast<double>(bytes) / step.ours / 1e9,
                ratio_columns(step).c_str());
}

void run(const Options& options) {
    const std::vector<std::size_t> sizes = parse_size_list(options.sizes);
    const std::vector<std::size_t> rings = parse_size_list(options.rings);
    check(sizes, rings, options.past_page);
    const CopyFunction publish = load_routine(options.routine);
    RoutineOptions takes = options.routine;
    if (!options.take.empty()) takes.symbol = options.take;
    const CopyFunction take = load_routine(takes);
    const Machine machine = read_machine();
    const std::size_t usable =
        machine.usable_bytes ? machine.usable_bytes : machine.memory_bytes / 2;
    if (rings.back() > usable) {
        throw BadInput("a ring of " + format_size(rings.back()) + " is more than the " +
                       std::to_string(usable >> 20) + " MiB that may be taken: make it smaller");
    }
    // Nothing is pinned here: the two processes that are started take these CPUs.
    const auto [publisher_cpu, subscriber_cpu] = choose_cpus(options);
    start_clock(false); // the system's clock is one for all CPUs, whatever their counters say
    catch_interrupts();

    FunctionCopier libc(libc_copy(), libc_copy(), options.past_page);
    FunctionCopier ours(publish, take, options.past_page);
    std::string symbol = options.routine.symbol;
    if (take != publish) symbol += " and " + options.take;
    std::vector<MessagePair::Named> copiers(3);
    copiers[kAppLibc] = {"libc's memcpy", &libc};
    copiers[kAppRoutine] = {symbol, &ours};
    copiers[kAppLibcAgain] = {"libc's memcpy", &libc};

    std::printf("Messages over shared memory, %s against %s: %d paired rounds, publisher on CPU "
                "%d,\nsubscriber on CPU %d%s. x libc above 1: the routine is faster; floor: libc "
                "against itself.\n\n",
                symbol.c_str(), machine.libc.c_str(), options.routine.rounds, publisher_cpu,
                subscriber_cpu,
                subscriber_cpu == publisher_cpu ? " as well: each waits for the other to run" : "");
    std::printf("%-8s %-8s %-11s %9s %9s %10s %7s  %s\n", "ring", "message", "step", "libc us",
                "ours us", "ours GB/s", "x libc", "(low..high)   floor");

    // As much as the last cache holds, so that none of what another copier left is written back in
    // this one's turn; a shared cache may be said to be larger than what this machine has of it.
    const std::size_t settling =
        std::min<std::size_t>(last_cache_bytes(machine), std::size_t{64} << 20);
    std::vector<double> ratios;
    Progress progress(static_cast<double>(rings.size() * sizes.size()) * options.routine.rounds * 3,
                      false);
    for (const std::size_t ring : rings) {
        for (const std::size_t size : sizes) {
            progress.label(format_size(size));
            MessagePair pair(copiers, ring, size, publisher_cpu, subscriber_cpu);
            const std::vector<Step> steps =
                compare_steps(options.routine.rounds, [&](int copy, std::uint64_t) {
                    const MessageTimes times =
                        pair.run(static_cast<std::size_t>(copy), messages_of(settling, size),
                                 messages_of(kTimedBytes, size));
                    progress.advance(1);
                    return std::vector<double>{times.total, times.publish, times.take, times.read};
                });
            progress.clear();
            print_step(format_size(ring), format_size(size), "end to end", size, steps[0]);
            print_step("", "", "  publish", size, steps[1]);
            print_step("", "", "  take", size, steps[2]);
            print_step("", "", "  read", size, steps[3]);
            std::fflush(stdout);
            ratios.push_back(steps[0].ratio.median);
        }
    }
    std::printf("%s\n", ratio_summary("end to end", ratios).c_str());
}

} // namespace

Command add_messages_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "messages",
        "publish and subscribe over shared memory: a publisher writes a message, copies it into a "
        "ring of slots, a subscriber in another process on another CPU copies it out and reads it; "
        "the time from the beginning of the first copy to the end of the reading, and of its "
        "parts");
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
    command
        ->add_option("--past-page", options->past_page,
                     "bytes past a page at which the user's buffers begin; the ring's slots begin "
                     "at one; 16 is what malloc does, and brings 4K aliasing")
        ->type_name("N")
        ->check(CLI::Range(0, 4088))
        ->capture_default_str();
    return make_command(app, *command, [options] { run(*options); });
}

} // namespace asterope
