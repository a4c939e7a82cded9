// Follows the XDG base directory specification, from the environment's variables.
#include "machine/profile_places.hpp"

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"

namespace asterope {

namespace fs = std::filesystem;

namespace {

fs::path absolute_from(const char* variable) {
    const char* value = std::getenv(variable);
    if (!value || *value != '/') return {};
    return value;
}

/// A link that leads nowhere counts as existing, and so does a file in a folder that we may not
/// enter. The reader then says why it cannot be read.
bool is_there(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    return status.type() != fs::file_type::not_found;
}

} // namespace

fs::path user_profile() {
    fs::path folder = absolute_from("XDG_CONFIG_HOME");
    if (folder.empty()) {
        folder = absolute_from("HOME");
        if (folder.empty()) return {};
        folder /= ".config";
    }
    return folder / "asterope" / "profile.json";
}

fs::path system_profile() {
    return "/etc/asterope/profile.json";
}

fs::path profile_to_read(const std::string& named) {
    if (!named.empty()) return named;
    std::string looked;
    for (const fs::path& place : {user_profile(), system_profile()}) {
        if (place.empty()) continue;
        if (is_there(place)) return place;
        looked += (looked.empty() ? "" : " nor ") + place.string();
    }
    throw BadInput("no profile is named, and there is no " + looked +
                   ": name one, or make one for all with asterope-tune --system");
}

void make_folder_of(const fs::path& place) {
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    if (error) {
        throw BadInput("cannot make the folder of " + place.string() + ": " + error.message() +
                       "; become root for the system's place, or name a file of yours with -o");
    }
}

} // namespace asterope
