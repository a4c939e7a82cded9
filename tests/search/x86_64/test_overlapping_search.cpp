// The copy for overlapping buffers is the simplest of the best; old logs and profiles have none.
#include "search/overlapping_search.hpp"

#include <gtest/gtest.h>
#include <sstream>

#include "base/error.hpp"
#include "merge/common_best.hpp"
#include "merge/merge_source.hpp"
#include "run/tuning.hpp"
#include "support/known_machine.hpp"
#include "support/made_up_search.hpp"
#include "support/temporary_folder.hpp"

namespace asterope {
namespace {

using nlohmann::json;

/// libc takes 4, the copies what they are given.
class KnownCopies : public TimingsInSeconds {
  public:
    explicit KnownCopies(std::vector<double> copies) : copies_(std::move(copies)) {}
    double seconds(std::size_t size, Workload workload, Entrant entrant, std::uint64_t) override {
        EXPECT_EQ(size, 0u);
        EXPECT_EQ(workload, Workload::overlapping);
        return entrant < 0 ? 4 : copies_.at(static_cast<std::size_t>(entrant));
    }

  private:
    std::vector<double> copies_;
};

SizeResult search(const std::vector<double>& seconds) {
    KnownCopies timings(seconds);
    std::mt19937_64 random(1);
    return search_overlapping(seconds.size(), parse_rigor("quick"), random, timings);
}

int winner(const std::vector<double>& seconds) {
    return search(seconds).finalists.front().candidate;
}

TEST(SearchOverlapping, takes_the_fastest_whatever_libc_does) {
    EXPECT_EQ(winner({8, 7, 6}), 2);
    EXPECT_EQ(winner({3, 2, 3}), 1);
    EXPECT_NEAR(search({8, 7, 5}).finalists.front().ratio, 0.8, 1e-9);
}

TEST(SearchOverlapping, takes_the_simplest_of_those_that_are_as_good) {
    EXPECT_EQ(winner({3, 2, 1.99}), 1);
    EXPECT_EQ(winner({2, 2, 2}), 0);
}

TEST(SearchOverlapping, keeps_all_it_timed) {
    EXPECT_EQ(search({3, 2, 1}).finalists.size(), 3u);
    EXPECT_THROW(search({}), Failure);
}

class OverlappingProfile : public TemporaryFolder {
  protected:
    /// The log of a search; `old`: from before there was such a step.
    std::string log(const std::string& name, bool old, std::uint64_t noise = 1) {
        const std::filesystem::path path = folder / name;
        const Truth truth =
            made_up_truth([](const std::string&, std::size_t, Workload) { return 0.0; });
        made_up_search(path, made_up_request(), "overlapping", truth, noise);
        if (!old) return path.string();
        std::istringstream lines(content(path));
        std::string kept;
        bool leave_out = false;
        for (std::string line; std::getline(lines, line);) {
            if (line.rfind("{\"step\"", 0) == 0) {
                leave_out = line.find(title_of(Step::overlapping)) != line.npos;
            }
            if (!leave_out) kept += line + '\n';
        }
        EXPECT_LT(kept.size(), content(path).size());
        put(name, kept);
        return path.string();
    }
};

TEST_F(OverlappingProfile, comes_from_the_log_of_the_search) {
    const json profile = profile_of_log(log("new", false));
    EXPECT_EQ(profile.at("overlapping").at("winner").at("tuple"),
              (json{{"rt", "XMM"}, {"block", 128}}));
    EXPECT_TRUE(profile.at("overlapping").at("noise_floor").contains("overlapping"));
    EXPECT_EQ(profile.at("complete"), true);
}

TEST_F(OverlappingProfile, of_a_log_that_knows_no_such_step_has_none_and_is_complete) {
    const json profile = profile_of_log(log("old", true));
    EXPECT_FALSE(profile.contains("overlapping"));
    EXPECT_EQ(profile.at("complete"), true);
}

TEST_F(OverlappingProfile, merged_with_one_that_has_none_has_none_and_says_so) {
    std::vector<MergeSource> sources;
    for (const std::string& path : {log("old", true), log("new", false, 2)}) {
        sources.push_back(read_merge_source(path));
    }
    const json merged = to_json(common_best(std::move(sources)).profile);
    EXPECT_FALSE(merged.contains("overlapping"));
    EXPECT_EQ(merged.at("left_out").at("steps"), json::array({title_of(Step::overlapping)}));
}

} // namespace
} // namespace asterope
