// A program's copies: their part in its time, and several programs as one.
#include "program/program.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace asterope {

namespace {

/// How many pieces of traces are kept of all programs together.
constexpr std::size_t kMostPieces = 256;

nlohmann::json estimate_json(const Estimate& one) {
    return {{"value", one.median}, {"low", one.low}, {"high", one.high}};
}

Estimate estimate_of(const nlohmann::json& json) {
    return {json.at("value"), json.at("low"), json.at("high")};
}

void add(Estimate& sum, const Estimate& one, double weight) {
    sum.median += weight * one.median;
    sum.low += weight * one.low;
    sum.high += weight * one.high;
}

/// One distribution of several, each value by the weight of its own.
Distribution joined(const std::vector<std::pair<const Distribution*, double>>& distributions) {
    std::map<std::size_t, double> sum;
    for (const auto& [distribution, weight] : distributions) {
        double total = 0;
        for (const auto& [value, probability] : distribution->pairs()) total += probability;
        for (const auto& [value, probability] : distribution->pairs()) {
            sum[value] += weight * probability / total;
        }
    }
    return Distribution({sum.begin(), sum.end()});
}

} // namespace

double Program::time_share(const ProgramBand& band) const {
    double sum = 0;
    for (const ProgramBand& one : bands) sum += one.share.median;
    return sum > 0 ? band.share.median / sum : 0;
}

void find_sizes(Program& program) {
    constexpr std::size_t kMost = 16;
    constexpr double kCallWork = 256; // a call takes about as long as so many bytes
    for (ProgramBand& band : program.bands) {
        band.sizes.clear();
        for (const auto& [size, calls] : program.statistics.sizes.pairs()) {
            if (size <= band.above || size > band.up_to || !(calls > 0)) continue;
            band.sizes.emplace_back(size, calls * (static_cast<double>(size) + kCallWork));
        }
        std::stable_sort(band.sizes.begin(), band.sizes.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        if (band.sizes.size() > kMost) band.sizes.resize(kMost);
        double sum = 0;
        for (const auto& [size, work] : band.sizes) sum += work;
        for (auto& [size, work] : band.sizes) work /= sum;
    }
}

std::size_t nearest(std::size_t size, const std::vector<std::size_t>& evaluated) {
    const auto above = std::lower_bound(evaluated.begin(), evaluated.end(), size);
    const auto index = static_cast<std::size_t>(above - evaluated.begin());
    if (above == evaluated.end()) return index - 1;
    if (index == 0) return 0;
    const auto upper = static_cast<double>(*above), lower = static_cast<double>(above[-1]);
    const auto here = static_cast<double>(std::max<std::size_t>(1, size));
    return upper / here < here / lower ? index : index - 1;
}

nlohmann::json program_json(const Program& program) {
    nlohmann::json bands = nlohmann::json::array();
    for (const ProgramBand& one : program.bands) {
        nlohmann::json& band = bands.emplace_back();
        band = {{"above", one.above},           {"up_to", one.up_to},
                {"calls", one.calls},           {"share", estimate_json(one.share)},
                {"situations", one.situations}, {"fresh", one.fresh},
                {"sizes", one.sizes},           {"probed", one.probed}};
        if (one.read) band["read"] = *one.read;
    }
    return {{"name", program.name}, {"share", estimate_json(program.share)}, {"bands", bands}};
}

Program program_of(const nlohmann::json& json) {
    CallStatistics statistics = fleet_statistics();
    json.at("name").get_to(statistics.name);
    Program program{statistics.name, estimate_of(json.at("share")), {}, std::move(statistics)};
    for (const nlohmann::json& one : json.at("bands")) {
        ProgramBand& band = program.bands.emplace_back();
        one.at("above").get_to(band.above);
        one.at("up_to").get_to(band.up_to);
        one.at("calls").get_to(band.calls);
        band.share = estimate_of(one.at("share"));
        one.at("situations").get_to(band.situations);
        one.at("fresh").get_to(band.fresh);
        one.at("sizes").get_to(band.sizes);
        one.at("probed").get_to(band.probed);
        if (one.contains("read")) band.read = one.at("read").get<double>();
    }
    return program;
}

Program join(const std::vector<WeightedProgram>& programs) {
    if (programs.size() == 1) return programs.front().program;
    double total = 0, calls = 0;
    for (const auto& [program, weight] : programs) {
        total += weight;
        for (const ProgramBand& band : program.bands) calls += weight * band.calls;
    }
    Program sum{"", {0, 0, 0}, programs.front().program.bands, fleet_statistics()};
    for (ProgramBand& band : sum.bands) {
        ProgramBand empty;
        empty.above = band.above;
        empty.up_to = band.up_to;
        band = empty;
    }
    std::vector<std::pair<const Distribution*, double>> sizes, alignments;
    std::vector<std::vector<TracedCall>> trace;
    std::vector<double> known(sum.bands.size()), read(known), watched(known);
    for (const auto& [program, given] : programs) {
        const double weight = given / total;
        sum.name += (sum.name.empty() ? "" : ", ") + program.name;
        add(sum.share, program.share, weight);
        double own_calls = 0;
        for (std::size_t i = 0; i < sum.bands.size(); ++i) {
            const ProgramBand& one = program.bands[i];
            ProgramBand& band = sum.bands[i];
            band.calls += given * one.calls;
            own_calls += given * one.calls;
            add(band.share, one.share, weight);
            band.probed += one.probed;
            const double time = weight * one.share.median;
            if (one.probed > 0) known[i] += time;
            for (std::size_t k = 0; k < one.situations.size(); ++k) {
                band.situations[k] += time * one.situations[k];
            }
            band.fresh += time * one.fresh;
            if (one.read) read[i] += time * *one.read;
            if (one.read) watched[i] += time;
        }
        const double part = calls > 0 ? own_calls / calls : 1;
        sizes.emplace_back(&program.statistics.sizes, part);
        alignments.emplace_back(&program.statistics.alignments, part);
        const auto& pieces = program.statistics.trace;
        const auto wanted = static_cast<std::size_t>(part * kMostPieces + 0.5);
        for (std::size_t i = 0; !pieces.empty() && i < wanted; ++i) {
            trace.push_back(pieces[i % pieces.size()]);
        }
    }
    for (std::size_t i = 0; i < sum.bands.size(); ++i) {
        ProgramBand& band = sum.bands[i];
        for (double& share : band.situations) share = known[i] > 0 ? share / known[i] : 0;
        band.fresh = known[i] > 0 ? band.fresh / known[i] : 0;
        if (watched[i] > 0) band.read = read[i] / watched[i];
    }
    sum.statistics = {sum.name, joined(sizes), joined(alignments), std::move(trace)};
    find_sizes(sum);
    return sum;
}

} // namespace asterope
