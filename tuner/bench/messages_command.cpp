// asterope-bench messages: publish and subscribe over shared memory, between two processes.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "bench/apps/message_pair.hpp"
#include "bench/bench_run.hpp"
#include "machine/affinity.hpp"

namespace asterope {

namespace {

struct MessagesOptions {
    RoutineOptions routine{.rounds = 31};
    std::string sizes = "512K,1M,2M";
    std::string rings = "8M,256M";
};

void check_messages(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& rings) {
    for (const std::size_t size : sizes) {
        if (size % sizeof(std::uint64_t)) {
            throw BadInput("a message of " + format_size(size) +
                           " is not a whole number of words: give multiples of 8 bytes");
        }
    }
    if (rings.front() < sizes.back()) {
        throw BadInput("a ring of " + format_size(rings.front()) +
                       " has no room for a message of " + format_size(sizes.back()) +
                       ": make --ring larger or --sizes smaller");
    }
}

/// The cells of one condition: end to end, then the parts.
std::vector<std::string> labels_of(std::size_t ring, std::size_t size) {
    std::vector<std::string> labels = {
        formatted("%-8s %-8s end to end", format_size(ring).c_str(), format_size(size).c_str())};
    for (const char* part : {"publish", "take", "read"}) {
        labels.emplace_back(formatted("%20s%s", "", part));
    }
    return labels;
}

int run_messages(const MessagesOptions& options) {
    const std::vector<std::size_t> sizes = parse_size_list(options.sizes);
    const std::vector<std::size_t> rings = parse_size_list(options.rings);
    check_messages(sizes, rings);
    BenchRun run(options.routine);
    require_memory(rings.back(), "a ring of " + format_size(rings.back()) + " is",
                   usable_memory(run.machine()));
    std::vector<int> others = allowed_cpus(); // before the process is pinned
    const int publisher_cpu = run.start(options.routine.cpu, false);
    std::erase(others, publisher_cpu);
    const int subscriber_cpu = others.empty() ? publisher_cpu : others.back();

    std::printf("Messages over shared memory, %s against %s: %d paired rounds, publisher on CPU "
                "%d,\nsubscriber on CPU %d%s. x libc above 1: the routine is faster; floor: libc "
                "against itself.\n",
                options.routine.symbol().c_str(), run.machine().libc.c_str(),
                options.routine.rounds, publisher_cpu, subscriber_cpu,
                subscriber_cpu == publisher_cpu ? " as well: each waits for the other to run" : "");
    run.plan(static_cast<double>(rings.size() * sizes.size()) * 3); // libc, the routine, libc again
    run.begin(plain_table("ring     message  step      ", 29, TimeUnit::microseconds));
    GeometricMean ratios;
    for (const std::size_t ring : rings) {
        for (const std::size_t size : sizes) {
            MessagePair pair(ring, size, subscriber_cpu);
            Job job{"messages", "messages", labels_of(ring, size), size};
            job.watched = false;
            job.sample_cost = 1;
            job.time = [&](const Contender& contender, std::uint64_t, int) -> PartSeconds {
                const MessageTimes times =
                    pair.run({contender.name, contender.copy},
                             times_for(settling_bytes(last_cache_bytes(run.machine())), size),
                             times_for(kTimedBytes, size));
                return {times.total, times.publish, times.take, times.read};
            };
            ratios.add(run.measure(job).front().routine().ratio.median);
        }
    }
    std::printf("%s\n", mean_text("end to end", ratios).c_str());
    return kDone;
}

} // namespace

Subcommand add_messages_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<MessagesOptions>();
    CLI::App& command = add_command(
        app, "messages",
        "publish and subscribe over shared memory: a publisher copies each message into a ring of "
        "slots, a subscriber (on another CPU where there is one) copies it out and reads it; timed "
        "from the beginning of the first copy to the end of the reading, and in parts");
    add_option(command, "--sizes", &options->sizes, "bytes a message, K, M, G for powers of 1024",
               "LIST", {.shows_default = true});
    add_option(command, "--ring", &options->rings,
               "bytes of the ring; one that is larger than the last cache is as shadesmar's: "
               "each message goes where none has been for long",
               "LIST", {.shows_default = true});
    add_options(command, options->routine);
    return {command, [options] {
                return in_child_process(options->routine, [&] { return run_messages(*options); });
            }};
}

} // namespace asterope
