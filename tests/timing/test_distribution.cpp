// Call statistics: drawn as the fleet's files say, read from a program's recording, or refused.
#include "timing/distribution.hpp"

#include "support/made_up_files.hpp"
#include "support/unit_test.hpp"

namespace {

/// The share of sizes up to `size`; with `by_bytes` of the bytes that they are.
double share(const Distribution& distribution, std::size_t size, bool by_bytes = false) {
    double up_to = 0, all = 0;
    for (const auto& [value, probability] : distribution.pairs()) {
        const double weight = by_bytes ? probability * static_cast<double>(value) : probability;
        all += weight;
        if (value <= size) up_to += weight;
    }
    return up_to / all;
}

// As its own page says of it, and Google of its calls of memset.
TEST(Fleet, calls_are_small_and_bytes_in_the_others) {
    const CallStatistics copies = fleet_statistics(), sets = fleet_statistics(Operation::set);
    EXPECT_EQ(copies.name + sets.name, "fleetfleet");
    const std::pair<std::size_t, double> shares[] = {
        {16, 0.635}, {64, 0.886}, {128, 0.936}, {1024, 0.988}};
    for (const auto& [size, part] : shares) EXPECT_NEAR(share(copies.sizes, size), part, 0.0005);
    EXPECT_NEAR(share(copies.sizes, 512, true), 0.2, 0.05);
    EXPECT_NEAR(share(sets.sizes, 128), 0.84, 0.005);
    EXPECT_NEAR(share(sets.sizes, 1024, true), 0.225, 0.001);
    double mean = 0;
    for (const auto& [size, part] : sets.sizes.pairs()) mean += part * static_cast<double>(size);
    EXPECT_NEAR(mean, 324, 1);
}

// Files are rounded: the last value must not get what is missing, nor lose what is too much.
TEST(Distribution, is_cut_however_seldom_what_is_left_is) {
    const Distribution cut =
        Distribution({{8, 1}, {16, 1}, {24, 0}, {4096, 1e12}}).up_to(64).value();
    EXPECT_EQ(cut.pairs(), (Distribution::Pairs{{8, 1}, {16, 1}}));
    EXPECT_NEAR(share(cut, 8), 0.5, 0.05);
    EXPECT_FALSE(Distribution({{0, 0}, {4096, 1}}).up_to(64));
}

TEST(Distribution, draws_each_value_by_its_share_of_the_sum_and_none_of_probability_0) {
    const Distribution distribution(
        {{1, 0}, {3, 0.49}, {5, 0}, {100, 0.1225}, {7, 0.3675}, {9, 0}});
    std::mt19937_64 random(1);
    std::map<std::size_t, double> shares;
    for (int i = 0; i < 100'000; ++i) shares[distribution.draw(random)] += 1e-5;
    ASSERT_EQ(shares.size(), 3u);
    EXPECT_NEAR(shares.at(3), 0.5, 0.01);
    EXPECT_NEAR(shares.at(100), 0.125, 0.01);
    EXPECT_NEAR(shares.at(7), 0.375, 0.01);
}

TEST(ParseStatistics, reads_sizes_and_alignments_and_takes_every_address_where_none_are_given) {
    const CallStatistics calls =
        parse_statistics("0:0.25,8:0.5,100:.25\n0:1,1:0\n1:0.5,64:5e-1\n", "calls");
    using Pairs = Distribution::Pairs;
    EXPECT_EQ(calls.name, "calls");
    EXPECT_EQ(calls.sizes.pairs(), (Pairs{{0, 0.25}, {8, 0.5}, {100, 0.25}}));
    EXPECT_EQ(calls.alignments.pairs(), (Pairs{{1, 0.5}, {64, 0.5}}));
    EXPECT_EQ(parse_statistics("8:1", "calls").alignments.pairs(), (Pairs{{1, 1}}));
}

using RecordingFile = TemporaryFolder;

TEST_F(RecordingFile, has_sizes_and_a_name_and_the_fleets_alignments) {
    put("r.json", made_up_recording().dump());
    const CallStatistics read_back = recorded_statistics(folder / "r.json");
    EXPECT_EQ(read_back.name, "fetcher");
    EXPECT_EQ(read_back.sizes.pairs(),
              (Distribution::Pairs{{0, 10}, {32, 900}, {33, 300.5}, {3000, 70}}));
    EXPECT_EQ(read_back.alignments.pairs(), fleet_statistics().alignments.pairs());
}

TEST_F(RecordingFile, is_refused_in_one_line_where_it_is_none) {
    const auto changed = [](const char* place, const json& value) {
        json one = made_up_recording();
        one[json::json_pointer(place)] = value;
        return one.dump();
    };
    const std::pair<std::string, const char*> cases[] = {
        {"", "it is empty"},
        {R"({"format": "asterope-rec)", "not JSON"},
        {changed("/format", "asterope-profile"), "is not a recording"},
        {changed("/version", 1), "is of another version: record anew"},
        {changed("/program", 7), "program: has no name: record anew"},
        {changed("/sizes/0", {16}), "sizes[0]: [16] is not a size with its calls"},
        {changed("/sizes/0", {16, 1e300}), "sizes[0]: [16,1e+300] is not a size with its calls"},
        {changed("/sizes/0/0", -3), "sizes[0]: [-3,10] is not a size"},
        {changed("/sizes/0/1", 0), "sizes[0]: [0,0] is not a size"},
        {changed("/sizes", 7), "sizes: missing, or not a list: record anew"},
        {changed("/sizes", json::array()), "too few small copies"},
        {changed("/sizes/1/1", 9), "too few small copies"},
    };
    const std::filesystem::path path = folder / "r.json";
    for (const auto& [text, says] : cases) {
        put("r.json", text);
        const std::string message = refusal_of([&] { recorded_statistics(path); }, "accepted");
        EXPECT_EQ(message.rfind("recording " + path.string() + ':', 0), 0u) << message;
        EXPECT_TRUE(mentions(message, says));
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

} // namespace
