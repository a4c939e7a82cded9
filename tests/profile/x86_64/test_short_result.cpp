// The end of a tuning run's output: the gains, few rows, and sentences about the measurements. Also
// the tables that it prints when asked for more.
#include "profile/short_result.hpp"

#include "profile/result_table.hpp"
#include "support/made_up_pipelines.hpp"
#include "support/made_up_variants.hpp"
#include "support/unit_test.hpp"

namespace {

const asterope_variant kVariants[] = {made_up("ZMM", "T", "NT", "T0", 4),
                                      made_up("REP_MOVSB", "T", "T", "none", 0),
                                      made_up("YMM", "T", "T", "T1", 12, {4, 1, 0, "up"}),
                                      made_up("ZMM", "NT", "NT", "none", 0),
                                      made_up("R64", "T", "T", "T0", 2),
                                      made_up("CLZERO", "", "NT", "none", 0)};
const std::vector<Candidate> kSpace = {{&kVariants[0], 8},  {&kVariants[1], 0}, {&kVariants[2], 16},
                                       {&kVariants[0], 24}, {&kVariants[3], 0}, {&kVariants[4], 0},
                                       {&kVariants[5], 0}};

Finalist finalist(Entrant candidate, double hot, double cold) {
    const auto measured = [](double ratio) { return Measured{1, ratio, {ratio, ratio, ratio}}; };
    return {
        candidate, {{Workload::hot, measured(hot)}, {Workload::cold, measured(cold)}}, hot, false};
}

SizeResult result(std::size_t size, Entrant winner, double hot, double cold) {
    return {size, {finalist(winner, hot, cold)}, {{Workload::hot, {1, 0.96, 1.02}}}, 15};
}

/// These results, each size an interval of its own.
PipelineFacts pipelines(const std::vector<SizeResult>& results) {
    PipelineFacts facts;
    facts.objectives = {{"weights", {{Workload::hot, 0.5}, {Workload::cold, 0.5}}}};
    facts.intervals.emplace_back();
    std::size_t above = 0;
    for (const SizeResult& result : results) {
        facts.intervals[0].push_back({above, result.size, facts.found.size()});
        facts.found.push_back({{result}, 0});
        facts.sensing.emplace_back();
        above = result.size;
    }
    return facts;
}

/// A sentence in one line.
std::string unwrapped(std::string text) {
    for (std::size_t at; (at = text.find("\n  ")) != std::string::npos;) text.replace(at, 3, " ");
    return text;
}

const asterope_copy kSmall = made_up_small("masked ZMM up 256", "masked", "ZMM", "up", 256);
const SizeResult kSmallFound = {0, {{0, {}, 1.25, false}}, {}, 15};

/// The text that is told of these facts.
struct Told {
    PipelineFacts facts;
    std::optional<SizeResult> small = {};
    std::map<Workload, SizeResult> small_by_intent = {};
    std::vector<Choice> others = {};
    LeftOut left_out = {};
    std::optional<ExamFacts> exam = {};

    Profile profile() const {
        Findings found{facts, {}, small, small_by_intent, others, exam, left_out};
        Profile profile;
        add_choices(profile, found, MadeUpSpaces(kSpace, {&kSmall}));
        return profile;
    }
    std::string rows() const { return routine_rows(profile(), facts.operation); }
    std::string first() const { return headline(profile(), facts.operation); }
    std::string sentences() const { return result_sentences(profile(), facts.operation); }
};

} // namespace

TEST(RoutineRows, merge_neighbours_of_one_pipeline_and_leave_out_sizes_of_the_small_copies) {
    const PipelineFacts facts = pipelines({result(256, 0, 1, 1), result(4096, 1, 1, 1),
                                           result(8192, 0, 1, 2), result(65536, 0, 4, 2)});
    const std::string rows = Told{facts, kSmallFound}.rows();
    EXPECT_TRUE(rows.starts_with(
        "Up to  x libc  GB/s how\n"
        "256 B    1.25       small copies\n"
        "4 KiB    1.00  4096 rep movsb\n"
        "64 KiB   2.00 65536 64-byte registers, non-temporal stores, prefetches 8 lines ahead\n"
        "x libc:"))
        << rows;
}

TEST(RoutineRows, shows_the_pipelines_of_a_copy_that_senses) {
    const asterope_copy probe = made_up("made up", {});
    for (const bool fetches : {false, true}) {
        PipelineFacts facts = pipelines({result(65536, 1, 1, 1)});
        SensingCopy copy{&probe, kSpace[1], kSpace[0], {187, 90, 390}};
        if (fetches) copy.fetch = kSpace[1];
        facts.sensing[0] = SensingResult{copy, finalist(2, 0.99, 1.6)};
        const std::string text = Told{facts}.rows();
        EXPECT_TRUE(mentions(text, "\n64 KiB cached     0.99 65536 rep movsb\n"
                                   "       uncached        65536 64-byte registers, "));
        EXPECT_EQ(mentions(text, "\n       fetch               - rep movsb\n"), fetches);
        EXPECT_EQ(mentions(text, "fetch: only the destination is."), fetches);
    }
}

/// Sizes whose winners take turns.
PipelineFacts in_turn(std::size_t first, std::size_t count, std::vector<Entrant> winners) {
    std::vector<SizeResult> results;
    for (std::size_t i = 0; i < count; ++i) {
        results.push_back(result(first << i, winners[i % winners.size()], 1, 1));
    }
    return pipelines(results);
}

TEST(RoutineRows, tell_a_copy_in_words_and_less_where_there_would_be_too_many) {
    const auto of_one = [](Entrant entrant) { return pipelines({result(4096, entrant, 1, 1)}); };
    const std::string one = "4 KiB   1.00 4096 ", many = "1 GiB   1.00 1073741824 ";
    const std::pair<PipelineFacts, std::string> cases[] = {
        {of_one(2), one + "32-byte registers, prefetches 16 lines ahead"},
        {of_one(4), one + "64-byte registers, non-temporal both ways"},
        {of_one(5), one + "general registers, prefetches"},
        {of_one(6), one + "clzero, non-temporal stores"},
        {in_turn(128, 24, {0, 3}), many + "64-byte registers, non-temporal stores, prefetches"},
        {in_turn(128, 24, {0, 4}), many + "64-byte registers"}};
    for (const auto& [facts, row] : cases)
        EXPECT_TRUE(mentions(Told{facts}.rows(), '\n' + row + '\n'));
}

TEST(RoutineRows, and_sentences_stay_within_100_columns_and_36_lines) {
    const LeftOut left_out = {{128, 256}, {Step::sensing, Step::boundaries, Step::threads}};
    const Told told{
        .facts = in_turn(4096, 8, {0, 1, 2}), .small = kSmallFound, .left_out = left_out};
    std::istringstream lines(told.first() + told.rows() + told.sentences());
    EXPECT_LE(std::ranges::count(lines.str(), '\n'), 36);
    for (std::string row; std::getline(lines, row);) EXPECT_LE(row.size(), 100u) << row;
}

TEST(Headline, tells_first_the_gain_and_whose_it_is_and_then_the_losses) {
    const std::size_t large = 4 << 20;
    const ExamFacts clean{570, 1, {}};
    const ExamLoss hot{2896, "hot", {0.95, 0.94, 0.96}}, read{512, "hot_read", {0.9, 0.89, 0.91}},
        fixed{0, "fixed", {0.8, 0.79, 0.81}};
    struct Case {
        std::vector<SizeResult> results;
        std::optional<ExamFacts> exam;
        std::string told;
        std::optional<SizeResult> small = {};
        Operation operation = Operation::copy;
    };
    const std::vector<SizeResult> cold_gains = {result(4096, 0, 1, 1), result(large, 0, 1, 1.5)},
                                  nothing = {result(4096, 0, 1.008, 0.995)};
    std::vector<SizeResult> noisy_where_cached = {result(large, 0, 1.2, 1.5),
                                                  result(2 * large, 0, 1.2, 1.5)};
    for (SizeResult& one : noisy_where_cached) {
        one.noise_floor = {{Workload::hot, {1, 0.4, 2}}, {Workload::cold, {1, 0.4, 2}}};
        one.finalists[0].workloads[Workload::hot].ratio = {1.2, 0.7, 1.9};
    }
    const std::string gain = "Uncached copies above 1 MiB 1.50 times as fast as libc, the rest ";
    const std::string cold = gain + "as libc; none of 570 cells slower.";
    const std::vector<Case> cases = {
        {cold_gains, clean, cold},
        {cold_gains, ExamFacts{570, 1, {hot, read}},
         gain + "mostly as libc; 2 of 570 cells slower, the worst 0.90 at 512 B under hot_read."},
        {{result(large, 0, 0.8, 1.5)},
         clean,
         "Uncached copies above 1 MiB 1.50 times as fast as libc, cached copies above 1 MiB 0.80 "
         "times; none of 570 cells slower."},
        {{result(large, 0, 1, 1.5), result(2 * large, 0, 13, 1.5), result(3 * large, 0, 1, 1.5)},
         clean,
         cold},
        {noisy_where_cached, clean, cold},
        {nothing, ExamFacts{570, 2, {hot, fixed}},
         "Small copies 1.25 times as fast as libc, the rest mostly as libc; 2 of 570 cells slower, "
         "the worst 0.80 in small copies under fixed.",
         kSmallFound},
        {nothing, {}, "All copies as fast as libc; not examined."},
        {nothing, clean, "All sets as fast as libc; none of 570 cells slower.", {}, Operation::set},
        {{}, clean, ""}};
    for (const Case& one : cases) {
        PipelineFacts facts = pipelines(one.results);
        facts.operation = one.operation;
        EXPECT_EQ(unwrapped(Told{.facts = facts, .small = one.small, .exam = one.exam}.first()),
                  one.told + (one.told.empty() ? "" : "\n"));
    }
}

TEST(ResultSentences, tell_the_mean_and_the_lowest_by_workload) {
    PipelineFacts facts =
        pipelines({result(256, 1, 9, 9), result(4096, 1, 0.5, 1), result(131072, 0, 2, 1.44)});
    facts.objectives.push_back({"cold", {{Workload::cold, 1}}});
    facts.intervals.push_back(facts.intervals.front());
    for (Found& found : facts.found) {
        found.results.push_back(result(found.results.front().size, 0, 1.5, 1.5));
    }
    const std::string told = Told{facts, kSmallFound}.sentences();
    for (const char* part :
         {"Sizes above 256 B: libc's time over ours, mean and lowest\n"
          "  1.00  0.50 4 KiB     hot: where all is cached\n"
          "  1.20  1.00 4 KiB     cold: where nothing is cached\n",
          "Small copies, of up to 256 B in mixed sizes: 1.25 times as fast",
          "asterope_memcpy_cold 1.50 times.", "Smaller differences than 4 % are noise"}) {
        EXPECT_TRUE(mentions(told, part)) << part;
    }
    EXPECT_FALSE(mentions(told, "Left out"));
}

TEST(ResultSentences, tell_the_gain_of_an_entry_points_own_small_copies) {
    PipelineFacts facts = pipelines({result(4096, 0, 1, 1)});
    facts.objectives.push_back({"hot", {{Workload::hot, 1}}});
    facts.intervals.push_back(facts.intervals.front());
    facts.found.front().results.push_back(result(4096, 0, 1.5, 1.5));
    const SizeResult own = {0, {{0, {}, 2.2, false}}, {}, 15};
    const Told told{
        .facts = facts, .small = kSmallFound, .small_by_intent = {{Workload::hot, own}}};
    EXPECT_TRUE(mentions(unwrapped(told.sentences()),
                         "asterope_memcpy_hot 1.50 times (its own small copies 2.20 times)."));
    EXPECT_TRUE(mentions(choices_tables(told.profile(), Operation::copy),
                         "\nSmall copies, asterope_memcpy_hot\n"));
    EXPECT_FALSE(mentions(Told{facts, kSmallFound}.sentences(), "its own small copies"));
}

TEST(ResultSentences, tell_the_slowest_of_a_hundred_rounds_of_the_exam) {
    // made-up timings: 3 rounds in 300 are slow, and one of libc's own
    std::vector<double> ratios(297, 1.1), own(299, 1.0);
    ratios.insert(ratios.begin(), {0.7, 0.4, 0.9});
    own.push_back(0.2);
    ExamFacts exam{60, 1, {}, exam_rounds(ratios, own)};
    EXPECT_EQ(exam.rounds->count, 300u);
    const PipelineFacts facts = pipelines({result(4096, 0, 1, 1)});
    EXPECT_TRUE(mentions(unwrapped(Told{.facts = facts, .exam = exam}.sentences()),
                         "Libc's time over the routine's in the exam's 300 rounds: 1.10 in the "
                         "middle, and 0.90 or less in 1 of 100 (1.00 for libc beside itself)."));
    exam.rounds.reset();
    EXPECT_FALSE(mentions(Told{.facts = facts, .exam = exam}.sentences(), "1 of 100"));
}

TEST(ResultSentences, tell_from_which_size_on_threads_share_and_the_parts_left_out) {
    const PipelineFacts facts = pipelines({result(4096, 0, 1, 1)});
    const std::vector<Choice> threads = {made_up_sharing(262144, 0.9),
                                         made_up_sharing(1048576, 1.5)};
    const LeftOut left_out = {{128, 256}, {Step::boundaries, Step::threads}};
    const ExamLoss one{512, "hot", {0.9, 0.8, 0.95}}, worse{0, "fixed", {0.8, 0.7, 0.9}};
    const Told told{.facts = facts,
                    .others = threads,
                    .left_out = left_out,
                    .exam = ExamFacts{9, 1, {one, worse}}};
    for (const char* part :
         {"asterope_memcpy_mt shares copies of 1 MiB and more among threads.",
          "Left out, as the time was up: the winners of 2 sizes, boundaries, threads.",
          "noise: 0.80 times as fast in small copies under fixed, 0.90 times as fast at 512 B"}) {
        EXPECT_TRUE(mentions(unwrapped(told.sentences()), part)) << part;
    }
    EXPECT_EQ(Told{pipelines({})}.sentences(), "");
}

TEST(ChoicesTables, have_the_copy_of_each_size_and_how_far_to_trust_it) {
    PipelineFacts facts = pipelines({result(128, 1, 1.02, 0.98), result(8192, 0, 2.5, 1)});
    facts.found[1].results[0].finalists[0].workloads.erase(Workload::cold);
    facts.found[1].results[0].lead = {1.07, 1, 1.1};
    EXPECT_TRUE(mentions(choices_tables(Told{facts}.profile(), Operation::copy),
                         "\nUp to RT LT ST PT PS PD      x libc GB/s  hot cold lead ties floor\n"
                         "128 B REP_MOVSB T T none 0 0   1.02  128 1.02 0.98 1.00    0  1.04\n"
                         "8 KiB ZMM T NT T0 4 8          2.50 8192 2.50    - 1.07    0  1.04\n"));
    EXPECT_EQ(choices_tables(Profile(), Operation::copy), "");
}

TEST(ChoicesTables, have_the_pipelines_of_a_copy_that_senses_and_runners_up_of_other_kinds) {
    PipelineFacts facts = pipelines({result(65536, 1, 1, 1)});
    const asterope_copy probe = made_up("source 4", {{"kind", "source", 0}, {"lines", nullptr, 4}});
    facts.sensing[0] =
        SensingResult{{&probe, kSpace[1], kSpace[0], {187, 90, 390}}, finalist(1, 1.5, 1)};
    const Profile profile =
        Told{.facts = facts, .others = {made_up_sharing(1 << 20, 0.9)}}.profile();
    const std::string text = choices_tables(profile, Operation::copy);
    for (const char* part :
         {"source 4 > 187", "  cached   REP_MOVSB", "  uncached ZMM", "no counter REP_MOVSB",
          "Copies over threads", "  next", "threads 2 chunk 64 KiB"}) {
        EXPECT_TRUE(mentions(text, part)) << part;
    }
}

TEST(ReferencesTable, has_the_judge_of_each_size_under_the_workloads_of_any_size) {
    PipelineFacts facts = pipelines({result(128, 1, 1, 1), result(8192, 0, 2, 3)});
    EXPECT_EQ(references_table(Told{facts}.profile(), Operation::copy), "");
    const auto measured = [&](std::size_t i) -> auto& {
        return facts.found[i].results[0].finalists[0].workloads;
    };
    measured(0).erase(Workload::cold);
    measured(0)[Workload::hot].best_ratio = {0.9, 0.8, 1};
    measured(0)[Workload::hot].best_reference = "new";
    measured(1)[Workload::cold].best_ratio = {3, 3, 3};
    measured(1)[Workload::cold].best_reference = "libc";
    EXPECT_EQ(references_table(Told{facts}.profile(), Operation::copy),
              "\nReferences   hot cold\n"
              "128 B      *0.90    -\n"
              "8 KiB          - 3.00\n"
              "the fastest one's time over the winner's; without a mark: libc's; *: new\n");
}

TEST(TimingsTable, has_seconds_and_share_of_each_phase_and_of_the_rest_and_a_verdict) {
    EXPECT_EQ(timings_table({{Step::verifying, 4.04},
                             {Step::calibration, 8},
                             {Step::screening, 150.06},
                             {Step::run_off, 30}},
                            200),
              "Time spent on          seconds   share\n"
              "verifying                  4.0   2.0 %\n"
              "calibrating                8.0   4.0 %\n"
              "screening                150.1  75.0 %\n"
              "run-off                   30.0  15.0 %\n"
              "the rest                   7.9   4.0 %\n"
              "all                      200.0 100.0 %\n"
              "verifying and calibrating take 6.0 % of the run: under 10 %\n");
    EXPECT_TRUE(mentions(timings_table({{Step::verifying, 6}, {Step::calibration, 4}}, 100),
                         "verifying and calibrating take 10.0 % of the run: not under 10 %"));
    for (const auto& none : {timings_table({}, 0), timings_table({{Step::screening, 10.04}}, 10)}) {
        EXPECT_TRUE(mentions(none, "the rest                   0.0   0.0 %"));
    }
}
