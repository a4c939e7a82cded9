// asterope-tune thin: a trial log made small enough to keep and to share.
#include "run/thin.hpp"

#include <cstdio>
#include <iostream>

#include "base/atomic_file.hpp"
#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "run/recorded_timings.hpp"
#include "run/recording.hpp"

namespace asterope {

void thin(const ThinRequest& request) {
    if (request.samples == 0) throw BadInput("samples 0: keep at least 1 of each candidate");
    require_writable(request.output);
    const std::vector<std::size_t> wanted =
        request.sizes.empty() ? std::vector<std::size_t>() : parse_size_list(request.sizes);

    Recording recording(request.log);
    const std::string what = "log " + request.log;
    const RecordedSpace space(recording, what); // refuses what nobody could replay
    for (const std::string& warning : recording.warnings) {
        std::fprintf(stderr, "warning: %s\n", warning.c_str());
    }
    for (const std::size_t size : wanted) {
        if (!recording.sizes.count(size)) {
            throw BadInput(what + ": has no size " + format_size(size));
        }
    }
    std::erase_if(recording.sizes, [&](const auto& recorded) {
        return !wanted.empty() && !contains(wanted, recorded.first);
    });
    const std::size_t bytes = recording.write_thinned(request.output, request.samples);
    std::cout << "wrote " << request.output << ": " << recording.sizes.size() << " sizes, "
              << recording.names.size() << " candidates, " << bytes << " bytes\n";
}

} // namespace asterope
