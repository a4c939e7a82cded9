// Whether a profile was tuned for the program that a recording is of.
#include "check/other_program.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace asterope {

namespace {

/// How much of the copies' time may be spent at other sizes from one recording of a program to the
/// next.
constexpr double kUsualChange = 0.25;

/// What part of the time that the profile was tuned for is spent at other sizes now, 0 to 1.
double moved(const ProgramOutcome& tuned, const Program& recorded) {
    double whole = 0, same = 0;
    for (const ProgramOutcome::Band& band : tuned.bands) whole += band.share;
    if (whole == 0) return 0;
    for (const ProgramOutcome::Band& band : tuned.bands) {
        const auto found =
            std::find_if(recorded.bands.begin(), recorded.bands.end(), [&](const ProgramBand& one) {
                return one.above == band.above && one.up_to == band.up_to;
            });
        if (found == recorded.bands.end()) continue;
        same += std::min(band.share / whole, recorded.time_share(*found));
    }
    return 1 - same;
}

} // namespace

std::vector<std::string> other_program(const Profile& profile, const Program& recorded) {
    const auto& tuned = profile.search.program;
    const std::string name = profile_name(recorded.name);
    if (!tuned) return {"program: it was tuned for all programs, not for " + name};
    const std::string separator = ", ";
    const bool of_several = tuned->name.find(separator) != std::string::npos;
    if (of_several && (separator + tuned->name + separator).find(separator + name + separator) !=
                          std::string::npos) {
        return {}; // how much of the time is each one's is not kept
    }
    std::vector<std::string> reasons;
    if (tuned->name != name) {
        reasons.push_back("program: it was tuned for " + tuned->name + ", the recording is of " +
                          name);
    }
    const double change = moved(*tuned, recorded);
    if (change > kUsualChange) {
        std::string reason;
        append(reason, "program: %.0f %% of its copies' time is spent at other sizes than then",
               100 * change);
        reasons.push_back(reason);
    }
    return reasons;
}

} // namespace asterope
