// Timings from a recording: what any search can be run against instead of the machine.
#include "run/recorded_timings.hpp"

#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"
#include "space/features.hpp"

namespace asterope {

namespace {

using nlohmann::json;

/// A part of the header as a type; `where` leads to it.
template <class Value> Value part(const Recording& recording, const char* where) {
    return recording.header.at(json::json_pointer(where)).get<Value>();
}

Features features_of(const Recording& recording) {
    Cpu cpu;
    cpu.features = part<std::vector<std::string>>(recording, "/machine/cpu/features");
    return Features(cpu, part<std::vector<std::string>>(recording, "/options/without"));
}

} // namespace

RecordedSpace::RecordedSpace(const Recording& recording, const std::string& what)
    : extended_(part<std::string>(recording, "/options/space") == "extended"),
      spaces_(features_of(recording), extended_, false,
              part<Spaces::Invalids>(recording, "/invalid")),
      libc_thresholds_(
          part<std::map<std::string, std::size_t>>(recording, "/machine/libc_thresholds")),
      places_(spaces_.space.size(), -1) {
    std::unordered_map<std::string, std::size_t> entrants;
    for (const Candidate& candidate : spaces_.space) {
        copies_.push_back(timed_copy(candidate));
        entrants.emplace(copies_.back().name, entrants.size());
    }
    for (std::size_t place = 0; place < recording.names.size(); ++place) {
        const std::string& name = recording.names[place];
        const auto found = entrants.find(name);
        if (found == entrants.end()) {
            throw BadInput(what + ": the candidate '" + name.substr(0, 80) +
                           "' is none that this version has for its CPU: replay it with " +
                           "the version that recorded it");
        }
        places_[found->second] = static_cast<int>(place);
    }
}

const RecordedField::Samples* RecordedSpace::samples(const RecordedField& field,
                                                     Entrant entrant) const {
    const int place = places_[static_cast<std::size_t>(entrant)];
    // Those that were first timed at a later size have no place in this one's.
    if (place < 0 || static_cast<std::size_t>(place) >= field.candidates.size()) return nullptr;
    const RecordedField::Samples& samples = field.candidates[static_cast<std::size_t>(place)];
    return samples.empty() ? nullptr : &samples;
}

RecordedTimings::RecordedTimings(const Recording& recording, const RecordedSpace& space,
                                 std::uint64_t seed)
    : space_(space), seed_(seed) {
    for (const auto& [size, fields] : recording.sizes) {
        for (const auto& [workload, field] : fields) tables_[{size, workload}] = {&field, {}};
    }
}

Trial RecordedTimings::trial(const TrialRequest& asked) {
    const auto& [copy, entrant, size, workload, round] = asked;
    Table& table = tables_.at({size, workload});
    const RecordedField& field = *table.field;
    auto deck = table.decks.find(entrant);
    if (deck == table.decks.end()) {
        const auto* samples = entrant < 0 ? &field.libc : space_.samples(field, entrant);
        const std::string name =
            entrant == kLibc ? "libc"
            : entrant < 0    ? "libc again"
                             : space_.spaces().space[static_cast<std::size_t>(entrant)].name();
        const RandomStream random{seed_, size, number_of(name_of(workload)), number_of(name)};
        deck = table.decks.emplace(entrant, Deck{samples, {}, 0, random}).first;
    }
    double sample = deck->second.samples ? draw(deck->second) : 0;
    if (entrant < 0) {
        RandomStream random{seed_, size, number_of(name_of(workload)), number_of("rounds"), round};
        sample += field.rounds[random() % field.rounds.size()];
    }
    const double ns = field.libc_ns * std::exp(-sample);
    ++trials_;
    wall_seconds_ +=
        field.fixed_us * 1e-6 + field.per_timed * ns * 1e-9 * static_cast<double>(field.calls);
    return {ns};
}

double RecordedTimings::draw(Deck& deck) {
    if (deck.next == deck.order.size()) {
        deck.order.resize(deck.samples->size());
        std::iota(deck.order.begin(), deck.order.end(), 0u);
        shuffle(deck.order, deck.random);
        deck.next = 0;
    }
    return (*deck.samples)[deck.order[deck.next++]];
}

} // namespace asterope
