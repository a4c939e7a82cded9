// The profile as JSON, written.
#include "machine/cpu.hpp"
#include "profile/field_writer.hpp"
#include "profile/provisional.hpp"

namespace asterope {

nlohmann::ordered_json to_json(const Profile& profile) {
    nlohmann::ordered_json written = {
        {"format", kProfileFormat}, {"version", kProfileVersion}, {"architecture", kArchitecture}};
    profile_fields::Writer writer{written};
    profile_fields::fields(writer, profile);
    return written;
}

nlohmann::ordered_json noise_json(const DisturbanceCounts& noise) {
    return profile_fields::write(noise, 6);
}

} // namespace asterope
