// The plan of a run: the meaning of requests, and those that are refused before anything is timed.
#include "run/plan.hpp"

#include <bit>

#include "machine/affinity.hpp"
#include "run/sample_log.hpp"
#include "search/size_order.hpp"
#include "search/small_search.hpp"
#include "support/made_up_files.hpp"
#include "support/unit_test.hpp"

namespace {

class PlanOf : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        request.output = (folder / "profile.json").string();
        machine.caches = {{1, "data", 48 << 10, 64, 12, 1}, {2, "unified", 2 << 20, 64, 16, 1}};
    }

    Plan plan() const { return Plan(request, machine); }

    /// Why the request is refused; "accepted" if it is not.
    std::string refusal() const {
        return refusal_of([&] { plan(); }, "accepted");
    }

    /// The header of the log of a run with this plan.
    static LogHeader header_of(const Plan& plan) {
        LogHeader header;
        header.options = plan.options;
        return header;
    }

    TuningRequest request;
    Machine machine;
};

} // namespace

TEST_F(PlanOf, a_plain_request_is_balanced_extended_and_senses) {
    const Plan made = plan();
    EXPECT_EQ(made.objective.name, "balanced");
    EXPECT_TRUE(made.extended && made.options.sensing);
    EXPECT_EQ(made.rigor.name, "standard");
    EXPECT_EQ(made.sizes, default_sizes(machine.caches, kModerateCopy, 64 * kMiB));
    EXPECT_FALSE(made.source_map);
    EXPECT_EQ(made.small_weights, small_weights());
}

TEST_F(PlanOf, larger_copies_than_the_usual_ones_are_evaluated_where_the_memory_has_room) {
    const auto largest = [&](const std::string& rigor, std::size_t usable) {
        request.options.rigor = rigor;
        machine.usable_bytes = usable;
        return plan().sizes.back();
    };
    EXPECT_EQ(largest("quick", 16 * kGiB), 32 * kMiB);
    EXPECT_EQ(largest("standard", 16 * kGiB), 64 * kMiB);
    EXPECT_EQ(largest("exhaustive", 16 * kGiB), 256 * kMiB);
    EXPECT_EQ(largest("exhaustive", kGiB), 64 * kMiB);
    EXPECT_EQ(largest("exhaustive", kGiB / 2), 32 * kMiB);
}

TEST_F(PlanOf, a_replay_weighs_small_copies_as_its_log_does) {
    LogHeader header = header_of(plan());
    const auto weights = [&] { return Plan(replayed_request(header), machine).small_weights; };
    EXPECT_EQ(weights(), plan().small_weights);
    header.options.small_weights = {{Workload::fixed, 0}, {Workload::mix_l2, 0.25}};
    EXPECT_EQ(weights(), header.options.small_weights);
    for (const Weights& none : {Weights{{Workload::mix_l1, -1}}, {{Workload::mix_l1, 0}}, {}}) {
        header.options.small_weights = none;
        EXPECT_THROW(weights(), BadInput);
    }
}

TEST_F(PlanOf, has_no_more_than_the_request_and_its_sizes_ascending) {
    request.options.space = "paper";
    request.options.sensing = false;
    request.options.rigor = "quick";
    request.sizes = "32M,128,8K,128";
    const Plan made = plan();
    EXPECT_FALSE(made.extended || made.options.sensing);
    EXPECT_EQ(made.rigor.name, "quick");
    EXPECT_EQ(made.sizes, (std::vector<std::size_t>{128, 8192, std::size_t{32} << 20}));
    EXPECT_EQ(files(), 0u) << "it writes nothing";
}

TEST_F(PlanOf, shares_copies_among_as_many_threads_as_there_are_cpus_or_as_are_asked_for) {
    const auto cpus = static_cast<unsigned>(allowed_cpus().size());
    EXPECT_EQ(plan().threads, std::min(cpus, 64u));
    request.options.threads = 1;
    EXPECT_EQ(plan().threads, 1u);
    request.options.threads = cpus + 1;
    EXPECT_TRUE(mentions(refusal(), "this process may use " + std::to_string(cpus)));
    request.options.threads = 1;
    LogHeader header = header_of(plan());
    header.options.threads = cpus + 1; // timings of another machine need no CPU here
    EXPECT_EQ(Plan(replayed_request(header), machine).threads, cpus + 1);
}

TEST_F(PlanOf, measures_nothing_that_writes_to_a_mapped_source_nor_tunes_for_it) {
    put("source", std::string(1 << 20, 's'));
    request.options.source_map = (folder / "source").string();
    request.sizes = "128,4K";
    const Plan made = plan();
    EXPECT_TRUE(made.source_map);
    EXPECT_EQ(made.measured().size(), kMeasured.size() - 2); // produce and produce_read
    for (const Objective& objective : made.objectives()) {
        for (const auto& [workload, weight] : objective.weights) {
            EXPECT_FALSE(facts_of(workload).writes_source)
                << objective.name << ' ' << name_of(workload);
        }
    }
    request.options.workload = "hot=1,produce=1";
    EXPECT_TRUE(mentions(refusal(), "produce"));
    request.options.workload = "balanced";
    put("source", std::string(4096, 's')); // shorter than the largest size
    EXPECT_NE(refusal(), "accepted");
}

TEST_F(PlanOf, refuses_an_output_that_is_the_mapped_source_or_a_reference) {
    put("source", std::string(1 << 20, 's'));
    request.output = (folder / "source").string();
    request.sizes = "128,4K";
    request.references = {"new=" + request.output + ":copy"};
    EXPECT_TRUE(mentions(refusal(), "is the reference new, and would be lost"));
    request.references.clear();
    request.options.source_map = request.output + ":4096";
    EXPECT_TRUE(mentions(refusal(), "is the mapped source, and would be lost"));
    EXPECT_EQ(files(), 1u);
}

TEST_F(PlanOf, a_recording_decides_the_sizes_that_are_drawn_and_nothing_else) {
    put("r.json", made_up_recording().dump());
    const Plan without = plan();
    request.recording = (folder / "r.json").string();
    const Plan made = plan();
    EXPECT_EQ(made.sizes, without.sizes);
    EXPECT_EQ(made.small_weights, without.small_weights);
    // Its file is not needed for a replay.
    std::filesystem::remove(folder / "r.json");
    EXPECT_EQ(Plan(replayed_request(header_of(made)), machine).statistics.name, "fetcher");
    EXPECT_TRUE(mentions(refusal(), "r.json"));
}

TEST_F(PlanOf, operations_are_memcpy_and_whatever_else_is_named) {
    request.operations = "memcpy";
    EXPECT_EQ(plan().options.operations, std::vector{Operation::copy});
    for (const char* text : {"memset", "memcpy,", "memcpy,,memset"}) {
        request.operations = text;
        EXPECT_TRUE(mentions(refusal(), "choose memcpy, or memcpy,memset")) << text;
    }
}

TEST_F(PlanOf, sets_have_sizes_situations_and_statistics_of_their_own) {
    request.operations = "memcpy,memset";
    const Plan sets(Operation::set, plan());
    EXPECT_EQ(sets.operation, Operation::set);
    EXPECT_EQ(sets.small_weights, small_weights(Operation::set));
    EXPECT_NE(sets.small_weights, plan().small_weights);
    EXPECT_EQ(sets.sizes.front(), 128u);
    EXPECT_EQ(sets.sizes.back(), 64 * kMiB);
    for (const std::size_t size : sets.sizes) EXPECT_TRUE(std::has_single_bit(size)) << size;
    EXPECT_EQ(sets.objective.weights.size(), kSets.size());
    EXPECT_EQ(sets.objectives().size(), 1u);
    EXPECT_NE(sets.statistics.sizes.pairs(), plan().statistics.sizes.pairs());
    EXPECT_FALSE(sets.extended || sets.source_map);
    EXPECT_TRUE(sets.options.sensing);
    EXPECT_EQ(sets.threads, 1u);
    EXPECT_LE(sets.most_rows, 4u);
}

TEST_F(PlanOf, operations_and_the_sizes_given_for_all_come_back_from_a_log) {
    request.operations = "memcpy,memset";
    request.sizes = "1000,3K";
    LogHeader header = header_of(plan());
    const Plan replayed(replayed_request(header), machine);
    EXPECT_EQ(replayed.options.operations, (std::vector{Operation::copy, Operation::set}));
    EXPECT_EQ(Plan(Operation::set, replayed).sizes, (std::vector<std::size_t>{1000, 3072}));
    header.options.of(Operation::set).sizes.clear();
    EXPECT_THROW(Plan(replayed_request(header), machine), BadInput);
}
