// What asterope-bench measures, kept for its JSON report and shown as tables.
#include "bench_report.hpp"

#include <cmath>
#include <cstdio>

#include "interrupt.hpp"

namespace asterope {

namespace {

nlohmann::ordered_json ratio_json(const Estimate& estimate) {
    return {{"median", estimate.median}, {"low", estimate.low}, {"high", estimate.high}};
}

} // namespace

Comparison Report::compare(std::size_t size, Workload workload, const Paired::Seconds& seconds) {
    const Paired paired(
        {kLibcCopy, kRoutine, kLibcCopyAgain}, {workload}, rounds_, 0,
        [&](int copy, Workload which, std::uint64_t round) {
            throw_if_interrupted();
            return seconds(copy, which, round);
        },
        company_of);
    const Comparison comparison{paired.seconds(kLibcCopy, workload),
                                paired.seconds(kRoutine, workload),
                                paired.ratio(kLibcCopy, kRoutine, workload),
                                paired.ratio(kLibcCopy, kLibcCopyAgain, workload)};
    nlohmann::ordered_json json = {{"suite", suite_}, {"workload", name_of(workload)}};
    if (size) json["size"] = size;
    json["libc_ns"] = comparison.libc * 1e9;
    json["ns"] = comparison.ours * 1e9;
    json["ratio"] = ratio_json(comparison.ratio);
    json["noise_floor"] = ratio_json(comparison.floor);
    results_.push_back(std::move(json));
    return comparison;
}

void Report::begin(const std::string& title) {
    std::printf("\n%-12s libc ns/call  ours ns/call  ours GB/s  x libc  (low..high)   floor\n",
                title.c_str());
    logs_ = 0;
    rows_ = 0;
}

void Report::row(const std::string& label, std::size_t size, Workload workload,
                 const Paired::Seconds& seconds) {
    const auto [libc, ours, ratio, floor] = compare(size, workload, seconds);
    std::printf("%-12s %12.1f %13.1f ", label.c_str(), libc * 1e9, ours * 1e9);
    if (size) {
        std::printf("%10.2f", static_cast<double>(size) / ours / 1e9);
    } else {
        std::printf("%10s", "");
    }
    std::printf(" %7.2f  (%.2f..%.2f)  (%.2f..%.2f)\n", ratio.median, ratio.low, ratio.high,
                floor.low, floor.high);
    std::fflush(stdout);
    logs_ += std::log(ratio.median);
    ++rows_;
}

void Report::end() const {
    if (rows_ > 1) {
        std::printf("%-12s %45.2f  geometric mean\n", "all", std::exp(logs_ / rows_));
    }
}

} // namespace asterope
