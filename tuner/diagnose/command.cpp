// The options of `asterope-tune diagnose`.
#include "diagnose/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/option_checks.hpp"
#include "diagnose/diagnose.hpp"

namespace asterope {

Subcommand add_diagnose(CLI::App& app) {
    const auto request = std::make_shared<DiagnosisRequest>();
    CLI::App* const command = app.add_subcommand(
        "diagnose", "measure what the pitfalls of memory benchmarks do to copies here");
    command->add_option("PROFILE", request->profile,
                        "compare its winners, too; without it libc alone");
    command->add_option("--json", request->json, "write all figures there")->type_name("FILE");
    command->add_option("--cpu", request->cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(whole_number());
    command->add_flag("--quick", request->quick, "fewer rounds: some seconds in all");
    command->add_option("--only", request->only, "only these sections: " + section_names())
        ->type_name("NAMES")
        ->delimiter(',');
    return {command, [request] {
                diagnose(*request);
                return kDone;
            }};
}

} // namespace asterope
