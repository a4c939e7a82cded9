// A thinned recording: a trial log made small enough to keep, as a file of its own format.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/gzip_lines.hpp"
#include "run/log_fields.hpp"
#include "run/recording.hpp"

namespace asterope {

namespace {

using nlohmann::json;
using Samples = RecordedField::Samples;

/// Thinned samples are whole numbers of this part of a log unit: a hundredth of a per cent.
constexpr double kUnit = 1e-4;
/// Libc is compared with everybody: a few of its samples would be the noise of all.
constexpr std::size_t kLibcSamples = 64;
/// No trial differs from libc by more, as a logarithm: a damaged file does.
constexpr double kMost = 50;

Samples samples_of(const json& numbers) {
    if (!numbers.is_array()) throw BadInput("has samples that are no list");
    Samples samples;
    for (const json& number : numbers) {
        if (!number.is_number_integer() || !(std::abs(number.get<double>()) * kUnit < kMost)) {
            throw BadInput("has a sample that is none");
        }
        samples.push_back(static_cast<float>(number.get<double>() * kUnit));
    }
    return samples;
}

RecordedField field_of(const LogFields& line, std::size_t candidates) {
    RecordedField field;
    field.calls = line.calls();
    field.libc_ns = line.positive("libc_ns");
    field.fixed_us = line.not_negative("fixed_us");
    field.per_timed = line.positive("per_timed");
    field.libc = samples_of(line.list("libc"));
    field.rounds = samples_of(line.list("rounds"));
    if (field.libc.empty() || field.rounds.empty()) throw BadInput("has no samples of libc");
    for (const json& one : line.list("candidates")) field.candidates.push_back(samples_of(one));
    if (field.candidates.size() != candidates) {
        throw BadInput("has samples of " + std::to_string(field.candidates.size()) +
                       " candidates, but there are " + std::to_string(candidates));
    }
    return field;
}

nlohmann::ordered_json numbers_of(const Samples& samples) {
    auto numbers = nlohmann::ordered_json::array();
    for (const float sample : samples) numbers.push_back(std::lround(sample / kUnit));
    return numbers;
}

} // namespace

RecordedField::Samples thin_samples(Samples samples, std::size_t count) {
    std::sort(samples.begin(), samples.end());
    if (samples.size() <= count) return samples;
    Samples kept;
    for (std::size_t i = 0; i < count; ++i) {
        kept.push_back(samples[(2 * i + 1) * samples.size() / (2 * count)]);
    }
    return kept;
}

void Recording::read_thinned(LineReader& lines) {
    read_line(lines, [&](const LogFields& line) {
        for (const json& name : line.list("names")) {
            if (!name.is_string()) throw BadInput("has a name that is no text");
            names.push_back(name.get<std::string>());
        }
    });
    while (read_line(lines, [&](const LogFields& line) {
        const std::size_t size = line.whole("size");
        if (size == 0) throw BadInput("has the size 0");
        const Workload workload = line.workload();
        if (!sizes[size].emplace(workload, field_of(line, names.size())).second) {
            throw BadInput("has a size and workload that were there before");
        }
    })) {
    }
    // Cut short: the last size may lack workloads.
    if (lines.torn() && !sizes.empty() &&
        sizes.rbegin()->second.size() < sizes.begin()->second.size()) {
        sizes.erase(std::prev(sizes.end()));
    }
}

std::size_t Recording::write_thinned(const std::filesystem::path& path, std::size_t count) const {
    json first = header;
    first["thinned"] = {{"samples", count}};
    std::string text = first.dump() + '\n' + json{{"names", names}}.dump() + '\n';
    for (const auto& [size, fields] : sizes) {
        for (const auto& [workload, field] : fields) {
            nlohmann::ordered_json line;
            line["size"] = size;
            line["workload"] = name_of(workload);
            line["calls"] = field.calls;
            line["libc_ns"] = field.libc_ns;
            line["fixed_us"] = std::round(field.fixed_us * 1000) / 1000;
            line["per_timed"] = std::round(field.per_timed * 1e6) / 1e6;
            line["libc"] = numbers_of(thin_samples(field.libc, std::max(count, kLibcSamples)));
            line["rounds"] = numbers_of(thin_samples(field.rounds, std::max(count, kLibcSamples)));
            line["candidates"] = nlohmann::ordered_json::array();
            for (const Samples& samples : field.candidates) {
                line["candidates"].push_back(numbers_of(thin_samples(samples, count)));
            }
            text += line.dump() + '\n';
        }
    }
    return write_gzipped(path, text);
}

} // namespace asterope
