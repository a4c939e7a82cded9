// The options of `asterope-tune merge`.
#include "merge/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/option_checks.hpp"
#include "merge/merge.hpp"

namespace asterope {

Subcommand add_merge(CLI::App& app) {
    const auto request = std::make_shared<MergeRequest>();
    CLI::App* const command = app.add_subcommand(
        "merge", "make from searches on several machines of one type their common best");
    command->add_option("INPUTS", request->inputs, "the machines' trial logs (--log FILE)")
        ->required();
    command->add_option("-o,--output", request->output, "where the profile goes")
        ->type_name("FILE")
        ->check(not_empty())
        ->required();
    command->add_flag("--quiet", request->quiet, "print errors only");
    return {command, [request] {
                merge(*request);
                return kDone;
            }};
}

} // namespace asterope
