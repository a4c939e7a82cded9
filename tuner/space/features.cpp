// The option names the beginnings of features to leave out. Unknown beginnings are refused.
#include "space/features.hpp"

#include <algorithm>

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "space/space.hpp"

namespace asterope {

Features::Features(const Cpu& cpu, const std::vector<std::string>& without)
    : granted_(cpu.features) {
    const auto begins_with = [](const std::string& beginning) {
        return [&](std::string_view name) { return name.substr(0, beginning.size()) == beginning; };
    };
    std::vector<std::string> known = cpu.features;
    for (const OperationFacts& operation : kOperations) {
        for (const asterope_variant& variant : variants(*operation.space)) {
            const auto needs = split(variant.needs, ' ');
            known.insert(known.end(), needs.begin(), needs.end()); // this CPU may lack them
        }
    }
    for (const std::string& beginning : without) {
        if (beginning.empty() || std::ranges::none_of(known, begins_with(beginning))) {
            throw BadInput("--without '" + beginning.substr(0, 40) +
                           "' is not a CPU feature: name one as /proc/cpuinfo does, or the "
                           "beginning of several, like " +
                           kFeatureExamples[0]);
        }
        std::erase_if(granted_, begins_with(beginning));
    }
}

bool Features::operator()(std::string_view feature) const {
    return contains(granted_, feature);
}

} // namespace asterope
