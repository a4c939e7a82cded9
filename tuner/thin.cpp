// asterope-tune thin: a trial log made small enough to keep and to share.
#include "thin.hpp"

#include <cstdio>
#include <iostream>

#include "atomic_file.hpp"
#include "contains.hpp"
#include "error.hpp"
#include "recorded_timings.hpp"
#include "recording.hpp"
#include "size_text.hpp"

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
