// The options of `asterope-tune tunables`.
#include "tunables/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/option_checks.hpp"
#include "search/objective.hpp"
#include "tunables/tunables.hpp"

namespace asterope {

Subcommand add_tunables(CLI::App& app) {
    const auto request = std::make_shared<TunablesRequest>();
    CLI::App* const command = app.add_subcommand(
        "tunables", "find the GLIBC_TUNABLES that make glibc's own memcpy fastest on this machine, "
                    "where no library may be replaced");
    command->add_option("-o,--output", request->output, "write what was measured there, as JSON")
        ->type_name("FILE")
        ->check(not_empty());
    command->add_option("--rigor", request->rigor, "quick (a minute), standard, or exhaustive")
        ->type_name("LEVEL")
        ->capture_default_str();
    command->add_option("--workload", request->workload, tunable_text())
        ->type_name("NAME")
        ->capture_default_str();
    command
        ->add_option("--weights", request->weights,
                     "a mix of workloads of your own, such as hot=1,consume=2")
        ->type_name("LIST")
        ->check(not_empty());
    command
        ->add_option("--sizes", request->sizes,
                     "transfer sizes, from 128 up, K, M, G for powers of 1024 (default: powers of "
                     "two to 32M, and around each cache's size)")
        ->type_name("LIST")
        ->check(not_empty());
    command->add_option("--cpu", request->cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number());
    command->add_option("--seed", request->seed, "of the order of trials")
        ->type_name("N")
        ->check(whole_number())
        ->capture_default_str();
    command->add_flag("--quiet", request->quiet,
                      "print the line to set alone, and nothing where the default is as good");
    return {command, [request] {
                find_tunables(*request);
                return kDone;
            }};
}

} // namespace asterope
