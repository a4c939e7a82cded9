// asterope-tune's main: one tuning run, or one of its subcommands.
#include "base/command_line.hpp"
#include "base/error.hpp"
#include "run/command.hpp"
#include "timing/remote_copy.hpp"
#include "version/version_text.hpp"

namespace asterope {
namespace {

int run(int argc, char** argv) {
    CommandLine line(
        "asterope-tune",
        "Finds the fastest memory copy of each size on this machine, writes the winners "
        "to a profile and renders them as C.",
        version_text("asterope-tune"),
        "Exit codes: 0 done; 1 failed while running; 2 bad arguments or bad input; 3 the "
        "profile is stale; 130 interrupted.");
    CLI::App& app = line.app();
    const std::function<TuningRequest()> request = add_tuning(app);
    const std::vector<Subcommand> subcommands = {add_check(app), add_diagnose(app), add_replay(app),
                                                 add_merge(app), add_tunables(app)};
    if (!line.parse(argc, argv)) return kDone;
    if (const auto code = line.run_named(subcommands)) return *code;
    const TuningRequest asked = request();
    if (!asked.references.empty()) return tune_watched(asked);
    tune(asked);
    return kDone;
}

} // namespace
} // namespace asterope

int main(int argc, char** argv) {
    // the processes of `tunables` are this program too
    if (const auto served = asterope::serve_samples(argc, argv)) return *served;
    return asterope::run_command("asterope-tune", [&] { return asterope::run(argc, argv); });
}
