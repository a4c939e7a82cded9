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
    EXPECT_EQ(json["noise"].dump(), R"({"rounds":900,"disturbed":{"steal":90},"repeated":40,)"
                                    R"("kept":60,"provisional":true})");
    EXPECT_EQ(json["format"], "asterope-bench");
    EXPECT_EQ(json["version"], 2);
    EXPECT_EQ(json["rounds"], 51);
    EXPECT_EQ(json["operation"], "memcpy");
    EXPECT_EQ(json["distribution"], "fleet");
    EXPECT_EQ(json["complete"], true);
    EXPECT_TRUE(json["machine"].is_object());
    EXPECT_EQ(json["copies"][1].dump(), R"({"name":"asterope","description":"ours"})");
    EXPECT_EQ(json["left_out"].dump(), R"([{"name":"musl","reason":"not installed"}])");
    const auto& first = json["results"][0];
    EXPECT_EQ(first["suite"], "sizes");
    EXPECT_EQ(first["workload"], "cold");
    EXPECT_EQ(first["label"], "64 KiB");
    EXPECT_EQ(first["size"], 65536);
    EXPECT_EQ(first["threads"], 2);
    EXPECT_FALSE(first.contains("weighting"));
    EXPECT_EQ(first["noise_floor"].dump(), R"({"median":1.0,"low":0.98,"high":1.02})");
    EXPECT_DOUBLE_EQ(first["copies"]["glibc"]["ns"], 812.1);
    EXPECT_FALSE(first["copies"]["glibc"].contains("ratio"));
    EXPECT_EQ(first["copies"]["asterope"]["ratio"].dump(),
              R"({"median":1.62,"low":1.6,"high":1.64})");
    EXPECT_EQ(json["results"][1]["weighting"], "bytes");
    EXPECT_FALSE(json["results"][1].contains("size"));
}
