// Compares the headers field by field, so that the error can name the difference.
#include "run/resume.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_text.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// The reason why a search with `wanted_header` cannot go on with a log of `recorded_header`; empty
/// if it can. The standing profile may differ, as a run whose budget ended has written one.
std::string difference(const LogHeader& recorded_header, LogHeader wanted_header) {
    for (const OperationFacts& facts : kOperations) {
        wanted_header.options.of(facts.operation).standing =
            recorded_header.options.of(facts.operation).standing;
    }
    const json recorded = to_json(recorded_header), wanted = to_json(wanted_header);
    static constexpr const char* kSpace = "it is of another space of candidates";
    static constexpr struct {
        const char *place, *reason;
    } parts[] = {{"/machine/fingerprint", "it is of another machine"},
                 {"/tool_version", "it was written by another version"},
                 {"/space_hash", kSpace},
                 {"/set_space_hash", kSpace},
                 {"/cpu", "it was timed on another CPU"},
                 {"/seed", "its search had another seed"}};
    for (const auto& [place, reason] : parts) {
        const json before = part_of(recorded, place), now = part_of(wanted, place);
        if (before != now) return reason + (" (" + before.dump() + " there, " + now.dump() + ')');
    }
    const json before = part_of(recorded, "/options"), now = part_of(wanted, "/options");
    json all = now;
    all.update(before); // some options are there only where they were given
    for (const auto& [name, unused] : all.items()) {
        const json there = before.value(name, json()), value = now.value(name, json());
        if (there != value) {
            return "its search had another " + name + " (" + there.dump().substr(0, 80) +
                   " there, " + value.dump().substr(0, 80) + " now)";
        }
    }
    return {};
}

} // namespace

RunLog open_run_log(const std::filesystem::path& path, const LogHeader& header, bool resumes) {
    const std::string what = "log " + path.string();
    Descriptor locked = resumes ? lock_sample_log(path) : Descriptor();
    if (!locked) {
        const nlohmann::ordered_json written = to_json(header);
        try {
            log_header_of(written); // else --resume would find the log damaged after hours
        } catch (const BadInput& fault) {
            throw BadInput(std::string("no log can hold these options: ") + fault.what() +
                           ": choose a shorter or plainer text");
        }
        return {what, {}, SampleLogWriter(path, written), header, 0};
    }
    SampleLogContents earlier = read_sample_log(path);
    const std::string why = difference(earlier.header, header);
    if (!why.empty()) {
        throw BadInput("cannot resume from " + path.string() + ": " + why +
                       "; give the options of that run, or start anew with another log");
    }
    if (earlier.torn) {
        std::fprintf(stderr, "warning: %s: its last line is not whole and was dropped\n",
                     path.c_str());
    }
    RunLog log{what, std::move(earlier.steps),
               SampleLogWriter(path, std::move(locked), earlier.bytes), earlier.header,
               earlier.resumed + 1};
    log.writer.resumed(header.started);
    return log;
}

} // namespace asterope
