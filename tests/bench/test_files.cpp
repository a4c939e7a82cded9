// The bench's report: every figure is in it, under its name.
#include "bench/files.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace asterope;

namespace {

std::vector<Cell> cells() {
    Cell sizes{"sizes", "cold", "64 KiB", 65536, 2, "", {1, 0.98, 1.02}, {}};
    sizes.copies = {{"glibc", 812.1e-9, {1, 1, 1}, {0.6, 0.6, 0.6}},
                    {"asterope", 500e-9, {1.62, 1.6, 1.64}, {1, 1, 1}}};
    Cell mix = sizes;
    mix.suite = "mix";
    mix.workload = mix.label = "mix_l1";
    mix.size = 0;
    mix.threads = 1;
    mix.weighting = "bytes";
    return {sizes, mix};
}

} // namespace

TEST(ResultsJson, has_all_of_version_2) {
    const Machine machine;
    const Contenders contenders = {{"glibc", "libc", nullptr}, {"asterope", "ours", nullptr}};
    const std::vector<LeftOutCopy> left_out = {{"musl", "not installed"}};
    const DisturbanceCounts noise{900, 40, 60, {{"steal", 90}}, true};
    const auto json = results_json(
        {machine, 51, Operation::copy, "fleet", contenders, left_out, noise}, cells(), true);
    const std::pair<const char*, nlohmann::json> parts[] = {
        {"/noise",
         {{"rounds", 900},
          {"disturbed", {{"steal", 90}}},
          {"repeated", 40},
          {"kept", 60},
          {"provisional", true}}},
        {"/format", "asterope-bench"},
        {"/version", 2},
        {"/rounds", 51},
        {"/operation", "memcpy"},
        {"/distribution", "fleet"},
        {"/complete", true},
        {"/copies/1", {{"name", "asterope"}, {"description", "ours"}}},
        {"/left_out/0", {{"name", "musl"}, {"reason", "not installed"}}},
        {"/results/0/suite", "sizes"},
        {"/results/0/workload", "cold"},
        {"/results/0/label", "64 KiB"},
        {"/results/0/size", 65536},
        {"/results/0/threads", 2},
        {"/results/0/noise_floor", {{"median", 1.0}, {"low", 0.98}, {"high", 1.02}}},
        {"/results/0/copies/asterope/ratio", {{"median", 1.62}, {"low", 1.6}, {"high", 1.64}}}};
    const nlohmann::json report = json;
    for (const auto& [place, value] : parts)
        EXPECT_EQ(report.at(nlohmann::json::json_pointer(place)), value) << place;
    EXPECT_TRUE(json["machine"].is_object());
    const auto& first = json["results"][0];
    EXPECT_FALSE(first.contains("weighting"));
    EXPECT_DOUBLE_EQ(first["copies"]["glibc"]["ns"], 812.1);
    EXPECT_FALSE(first["copies"]["glibc"].contains("ratio"));
    EXPECT_EQ(json["results"][1]["weighting"], "bytes");
    EXPECT_FALSE(json["results"][1].contains("size"));
}
