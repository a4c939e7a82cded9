// The command line of `asterope-tune merge`: one profile of several machines of one type.
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "merge/common_best.hpp"
#include "run/command.hpp"

namespace asterope {

namespace {

/// The options as given.
struct MergeRequest {
    std::vector<std::string> inputs; ///< the machines' logs
    std::string output;
    bool quiet = false;
};

/// "128 B, 1 KiB, 2 KiB, 4 KiB, 8 KiB, 16 KiB and 3 more"
std::string listed(const std::vector<std::size_t>& sizes) {
    constexpr std::size_t kMost = 6;
    std::string text;
    for (std::size_t i = 0; i < sizes.size() && i < kMost; ++i) {
        text += (i ? ", " : "") + format_size(sizes[i]);
    }
    if (sizes.size() > kMost) text += " and " + std::to_string(sizes.size() - kMost) + " more";
    return text;
}

/// The common best of several searches. The same inputs in any order give the same bytes.
void merge(const MergeRequest& request) {
    constexpr std::size_t kMost = 256; // as many as the profile's schema has room for
    if (request.inputs.size() > kMost) {
        throw BadInput(std::to_string(request.inputs.size()) + " inputs: merge at most " +
                       std::to_string(kMost));
    }
    if (request.inputs.size() < 2) {
        throw BadInput("there is nothing to merge with " + request.inputs.front() +
                       ": give two logs at least");
    }
    require_writable(request.output);
    for (const std::string& input : request.inputs) { // before any is read: logs may be large
        refuse_loss(request.output, input, "one of the inputs", "-o");
    }
    std::vector<MergeSource> sources;
    for (const std::string& input : request.inputs) sources.push_back(read_merge_source(input));
    const CommonBest merged = common_best(std::move(sources));
    const Profile& profile = merged.profile;
    // Each input is sound, but forged ones may have an invalid sum.
    if (const std::string fault = fault_of(profile); !fault.empty()) {
        throw BadInput("cannot merge " + request.inputs.front() +
                       " with the others: the merged profile is invalid: " + fault +
                       ": make the inputs anew");
    }
    write_atomically(request.output, text_of(profile));
    if (request.quiet) return;
    if (!merged.table.empty()) std::cout << merged.table << '\n';
    std::cout << profile.sizes().size() << " sizes from " << profile.merged->sources.size()
              << " machines; profile: " << request.output << '\n'
              << std::flush;
    if (!merged.unmeasured.empty()) {
        std::fprintf(stderr,
                     "warning: at %s no candidate was measured on all machines, so these sizes "
                     "are left out\n",
                     listed(merged.unmeasured).c_str());
    }
}

} // namespace

Subcommand add_merge(CLI::App& app) {
    const auto request = std::make_shared<MergeRequest>();
    CLI::App& command = add_command(
        app, "merge", "make from searches on several machines of one type their common best");
    add_option(command, "INPUTS", &request->inputs, "the machines' sample logs (--log FILE)", "",
               {.required = true});
    add_option(command, "-o,--output", &request->output, "where the profile goes", "FILE",
               {.required = true, .not_empty = true});
    add_option(command, "--quiet", &request->quiet, "print errors only");
    return {command, [request] { merge(*request); }};
}

} // namespace asterope
