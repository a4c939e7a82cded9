// The rows of a whole search, on machines whose truth is known: few, and the same again.
#include "run/steps.hpp"
#include "support/made_up_search.hpp"
#include "support/unit_test.hpp"

namespace {

const std::string kSmaller = "XMM T T T0 8 4", kLarger = "XMM T NT NTA 8 4",
                  kLargerCached = "XMM T T NTA 8 4";

/// In [0, 1), another for each name.
double luck(const std::string& name) {
    return std::stod("0x0." + text_hash(name));
}

/// Each size and workload has another best copy, by much: rows are a compromise everywhere.
double unrelated(const std::string& name, std::size_t size, Workload workload) {
    return 0.6 + 0.6 * luck(name + std::to_string(size) + std::string(name_of(workload)));
}

/// One copy up to 16 KiB, another from there on: any price of a row is worth that.
double two_halves(const std::string& name, std::size_t size, Workload) {
    return name == (size <= 16384 ? kSmaller : kLarger) ? 0.6 : 0;
}

/// One copy is good at all sizes. At each some others are better, by what a run-off can just see.
double about_alike(const std::string& name, std::size_t size, Workload) {
    if (name == kSmaller) return 0.7;
    return luck(name + std::to_string(size)) < 0.01 ? 0.695 : 0;
}

/// Bytes from which on the sides of a copy are too large for the made-up caches.
constexpr std::size_t kOutgrown = 64 * kMiB;

bool has_cached_source(Workload workload, bool outgrows = false) {
    const Locality locality = locality_of(workload, outgrows);
    return locality == Locality::cached || locality == Locality::produced;
}

/// One copy is the best for cached sources, another for the rest.
double by_place(const std::string& name, std::size_t, Workload workload) {
    return name == (has_cached_source(workload) ? kSmaller : kLarger) ? 0.5 : 0;
}

/// One copy is the best where all is cached, another for the rest.
double by_both(const std::string& name, std::size_t, Workload workload) {
    return name == (locality_of(workload) == Locality::cached ? kSmaller : kLarger) ? 0.5 : 0;
}

/// What stores past the caches is by far the best, but takes so many times as long where that is.
MadeUpFactor past_caches(bool WorkloadFacts::*where, double factor) {
    return [=](const std::string& name, std::size_t, Workload workload) {
        if (name == kLarger) return facts_of(workload).*where ? factor : 0.1;
        return name == kSmaller ? 0.9 : 0;
    };
}

const MadeUpFactor far_better_uncached = past_caches(&WorkloadFacts::destination_cached, 1.3),
                   better_everywhere = past_caches(&WorkloadFacts::destination_cached, 0.95),
                   loses_in_fresh_pages = past_caches(&WorkloadFacts::fresh, 1.3);

/// One copy is the best up to `limit`, another beyond. The first routine loses at `lost`, whichever
/// of the two it has there: it takes `first` times as long; the next one takes `next` times.
MadeUpFactor loses_at(std::size_t lost, std::size_t limit, double next = 0.6, double first = 1.5) {
    return [=](const std::string& name, std::size_t size, Workload) {
        if (name == "routine 1" && size == lost) return first;
        if (name == "routine 2" && size == lost) return next;
        if (name.starts_with("routine ")) return 0.6;
        return name == (size <= limit ? kSmaller : kLargerCached) ? 0.6 : 0;
    };
}

/// Copies that sense take as long as the pipeline that they go on with, and 2 ns more.
Truth sensing(const Truth& truth) {
    return [truth](const std::string& name, std::size_t size, Workload workload) {
        const auto part = [&](const std::string& begin, const std::string& end) {
            const auto from = name.find(begin) + begin.size();
            return name.substr(from, name.find(end, from) - from);
        };
        if (name.find(" > ") == name.npos) return truth(name, size, workload);
        const bool each = name.find(", fetch ") != name.npos,
                   both = name.find(", produce ") != name.npos;
        const std::string cached = part(", else ", "\n"), fetched = part(", fetch ", ","),
                          uncached = part(": ", ",");
        const bool outgrows = size >= kOutgrown;
        const Locality locality = locality_of(workload, outgrows);
        const std::string taken = both && locality == Locality::produced  ? part(", produce ", ",")
                                  : has_cached_source(workload, outgrows) ? cached
                                  : each && locality == Locality::fetched ? fetched
                                                                          : uncached;
        return 2 + truth(taken, size, workload);
    };
}

/// The pipelines that a choice takes, by name.
std::vector<std::string> pipelines_of(const Choice& choice) {
    if (!choice.sensing) return {name_of(choice.copy)};
    std::vector<std::string> names = {choice.sensing->hot.name(), choice.sensing->cold.name()};
    if (choice.sensing->fetch) names.push_back(choice.sensing->fetch->name());
    if (choice.sensing->produce) names.push_back(choice.sensing->produce->name());
    return names;
}

/// What copies each row: neighbours that are copied alike are one row of the routine.
std::vector<std::string> rows_of(const std::vector<const Choice*>& choices) {
    std::vector<std::string> rows;
    for (const Choice* one : choices) {
        std::string name;
        for (const std::string& each : pipelines_of(*one))
            name += (name.empty() ? "" : " | ") + each;
        if (rows.empty() || rows.back() != name) rows.push_back(name);
    }
    return rows;
}

class RowsOf : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        std::vector<std::size_t>& sizes = request_.options.of(Operation::copy).sizes;
        sizes.clear();
        // from where no two pipelines execute the same instructions, see share_scores
        for (std::size_t size = 512; size <= 131072; size *= 2) sizes.push_back(size);
        sizes.push_back(kHeededBelow); // where the search chooses the stores, and no call site
    }
    Profile run(const MadeUpFactor& factor, std::uint64_t noise = 1, bool examines = false,
                double ns_for_10_bytes = 1) {
        const std::string log = (folder / "log").string();
        std::filesystem::remove(log);
        const Truth truth = [=, of = made_up_truth(factor)](const auto&... asked) {
            return ns_for_10_bytes * of(asked...);
        };
        senses_ = false;
        const Truth noticed = [this, of = sensing(truth)](const std::string& name, auto... asked) {
            senses_ = senses_ || name.find(" > ") != name.npos;
            return of(name, asked...);
        };
        run_made_up_search(log, request_, noticed, noise, examines);
        return profile_of_log(read_sample_log(log), log);
    }

    std::vector<std::string> rows(const MadeUpFactor& factor, std::uint64_t noise = 1) {
        return rows_of(run(factor, noise).of(ChoiceKind::pipelines));
    }

    TuningRequest request_ = made_up_request();
    bool senses_ = false; ///< whether a copy that senses has been timed
};

} // namespace

TEST_F(RowsOf, a_routine_are_few_and_so_are_its_pipelines_whatever_each_size_would_like) {
    for (const std::size_t rows : {2, 8}) {
        request_.options.rows = rows;
        const Profile profile = run(unrelated);
        EXPECT_LE(rows_of(profile.of(ChoiceKind::pipelines)).size(), rows);
        std::set<std::string> pipelines;
        const auto add = [&](const std::vector<const Choice*>& choices) {
            for (const Choice* one : choices) {
                pipelines.insert(name_of(one->copy));
                for (const std::string& name : pipelines_of(*one)) pipelines.insert(name);
            }
            return pipelines.size();
        };
        EXPECT_LE(add(profile.of(ChoiceKind::pipelines)), 6u);
        for (const Workload intent : {Workload::hot, Workload::cold, Workload::consume}) {
            const auto choices = profile.of(ChoiceKind::pipelines, Operation::copy, intent);
            ASSERT_FALSE(choices.empty());
            EXPECT_LE(rows_of(choices).size(), rows) << name_of(intent);
            add(choices);
        }
        EXPECT_LE(pipelines.size(), 9u) << "with three more for the entry points";
    }
}

TEST_F(RowsOf, a_routine_are_as_many_as_bring_something_whatever_the_noise_of_a_run) {
    EXPECT_EQ(rows(two_halves), (std::vector{kSmaller, kLarger}));
    for (const std::uint64_t noise : {1, 2}) {
        EXPECT_EQ(rows(about_alike, noise), std::vector{kSmaller});
    }
    // which sense where cached data wants another copy, but for sizes too small for a probe
    EXPECT_EQ(rows(by_place), (std::vector{kSmaller, kSmaller + " | " + kLarger}));
    EXPECT_TRUE(rows(by_both).back().ends_with(" | " + kLarger)) << "and is produced";
}

TEST_F(RowsOf, a_routine_sense_where_that_is_ahead_within_one_race_however_slow_all_are_in_it) {
    const auto slower_later = [this](const std::string& name, std::size_t, Workload workload) {
        if (!has_cached_source(workload)) {
            return name == kLarger ? 0.8 : name == kSmaller ? 0.9 : 0;
        }
        return name != kSmaller ? 0 : senses_ ? 0.98 : 0.3;
    };
    EXPECT_EQ(rows(slower_later), (std::vector{kSmaller, kSmaller + " | " + kLarger}));
}

TEST_F(RowsOf, a_routine_store_past_the_caches_only_where_cached_data_does_not_pay) {
    const std::string last = rows(loses_in_fresh_pages).back();
    EXPECT_FALSE(last.starts_with(kLarger)) << last << ": where a probe found the source cached";
    request_.options.sensing = false; // then any data may be cached
    EXPECT_EQ(rows(far_better_uncached), std::vector{kSmaller});
    EXPECT_EQ(rows(loses_in_fresh_pages).back(), kSmaller);
    EXPECT_EQ(rows(better_everywhere).back(), kLarger);
    const Profile profile = run(far_better_uncached);
    for (const auto& [intent, copy] :
         {std::pair(Workload::hot, kSmaller), {Workload::cold, kLarger}}) {
        EXPECT_EQ(rows_of(profile.of(ChoiceKind::pipelines, Operation::copy, intent)).back(), copy);
    }
}

TEST_F(RowsOf, a_routine_sense_untouched_pages_where_both_sides_outgrow_the_caches_too) {
    request_.options.of(Operation::copy).sizes.push_back(kOutgrown);
    const Profile profile = run(loses_in_fresh_pages);
    const Choice& last = *profile.of(ChoiceKind::pipelines).back();
    ASSERT_TRUE(last.sensing);
    EXPECT_EQ(last.sensing->cold.name(), kLarger);
    ASSERT_TRUE(last.sensing->fetch);
    EXPECT_EQ(last.sensing->fetch->name(), kSmaller);
}

TEST_F(RowsOf, a_routine_end_elsewhere_where_the_exam_found_a_loss_between_evaluated_sizes) {
    const auto end_of_first = [&](const MadeUpFactor& factor, bool examines = true) {
        const Profile profile = run(factor, 1, examines);
        std::size_t up_to = 0;
        for (const Choice* one : profile.of(ChoiceKind::pipelines)) {
            if (name_of(one->copy) == kSmaller) up_to = one->up_to;
        }
        return up_to;
    };
    EXPECT_EQ(end_of_first(loses_at(23170, 16384)), 23170u);
    EXPECT_EQ(end_of_first(loses_at(23170, 30000)), 16384u);
    EXPECT_LT(end_of_first(loses_at(23170, 16384, 1.8)), 23170u) << "it was no better";
    EXPECT_GT(end_of_first(two_halves, false), 32768 / 1.2)
        << "below, nobody measured whether the other is slow where data is cached";
}

TEST_F(RowsOf, a_routine_sense_from_the_least_size_on_whatever_the_exam_found_just_below_it) {
    const auto sense_from = [&](std::size_t lost, std::size_t least) {
        const auto loses = [=](const std::string& name, std::size_t size, Workload workload) {
            if (name == "routine 1" && size == lost) return 1.5;
            if (name.starts_with("routine ")) return 0.6;
            if (size >= least) return by_place(name, size, workload);
            return name == kSmaller ? 0.5 : 0;
        };
        const Profile profile = run(loses, 1, true); // throws where it is not valid
        for (const Choice* one : profile.of(ChoiceKind::pipelines)) {
            if (one->sensing) return one->above + 1;
        }
        return std::size_t{0};
    };
    EXPECT_EQ(sense_from(11585, 0), kSensingMinimum);
    std::erase(request_.options.of(Operation::copy).sizes, kSensingMinimum);
    EXPECT_EQ(sense_from(kSensingMinimum, 20000), kSensingMinimum)
        << "the exam lost there, half way between 8 and 32 KiB, and so that size senses";
}

TEST_F(RowsOf, a_routine_begin_where_small_copies_lose_at_an_evaluated_size_or_half_way_below) {
    auto& sizes = request_.options.of(Operation::copy).sizes;
    sizes.insert(sizes.begin(), {128, 256});
    const auto bound_where_slow = [&](std::size_t slow) {
        const auto factor = [slow](const std::string& name, std::size_t size, Workload) {
            const bool small = name.starts_with("stepped ") || name.starts_with("clamped ");
            if (!small) return name == kSmaller ? 0.8 : 0.0;
            if (size <= 128) return 0.9;
            return size == slow ? 2.0 : 0.7;
        };
        const Profile profile = run(factor);
        const std::string name = name_of(profile.of(ChoiceKind::small).front()->copy);
        return std::stoul(name.substr(name.rfind(' ')));
    };
    const std::size_t most = bound_where_slow(0);
    EXPECT_GE(most, 256u);
    for (const std::size_t slow : {181, 256}) EXPECT_EQ(bound_where_slow(slow), 128u) << slow;
}

TEST_F(RowsOf, a_routine_stay_where_the_exam_exchanges_a_small_copy_that_loses_at_one_size) {
    auto& sizes = request_.options.of(Operation::copy).sizes;
    sizes.insert(sizes.begin(), 128);
    const auto first = loses_at(128, sizes.back()), both = loses_at(128, sizes.back(), 1.5),
               placed = loses_at(128, sizes.back(), 0.6, 1.15);
    const Profile unexamined = run(first), exchanged = run(first, 1, true),
                  kept = run(both, 1, true), not_lost = run(placed, 1, true, 0.2);
    const auto small_of = [](const Profile& profile) {
        return name_of(profile.of(ChoiceKind::small).front()->copy);
    };
    EXPECT_NE(small_of(exchanged), small_of(unexamined));
    EXPECT_EQ(small_of(kept), small_of(unexamined)) << "the next one was no better";
    EXPECT_EQ(small_of(not_lost), small_of(unexamined)) << "0.4 ns may be placement";
    for (const Profile* one : {&exchanged, &kept, &not_lost}) {
        EXPECT_EQ(rows_of(one->of(ChoiceKind::pipelines)),
                  rows_of(unexamined.of(ChoiceKind::pipelines)));
    }
}

TEST_F(RowsOf, a_routine_stay_where_only_the_small_copy_that_the_exam_exchanges_lost) {
    auto& sizes = request_.options.of(Operation::copy).sizes;
    sizes.insert(sizes.begin(), {128, 256});
    // The best small copy goes on to 256 bytes, where the routine loses. The others end before.
    const auto loses = [](const std::string& name, std::size_t size, Workload) {
        if (name == "routine 1" && size == 256) return 1.5;
        if (name.starts_with("routine ")) return 0.6;
        if (name.starts_with("stepped ") || name.starts_with("clamped ")) {
            if (name == "stepped XMM down 256") return 0.6;
            return name.ends_with(" 128") ? 0.7 : 1.5;
        }
        if (name.starts_with("XMM NT T ") && size == 256) return 0.82;
        return name == kSmaller ? 0.8 : 0;
    };
    const auto small_of = [](const Profile& profile) {
        return name_of(profile.of(ChoiceKind::small).front()->copy);
    };
    const Profile before = run(loses), after = run(loses, 1, true);
    EXPECT_TRUE(small_of(before).ends_with(" 256")) << small_of(before);
    EXPECT_TRUE(small_of(after).ends_with(" 128")) << small_of(after);
    EXPECT_EQ(rows_of(after.of(ChoiceKind::pipelines)), rows_of(before.of(ChoiceKind::pipelines)));
}

TEST_F(RowsOf, a_routine_for_neighbouring_sizes_are_timed_at_none_of_these_twice_in_a_step) {
    request_.options.of(Operation::copy).sizes = {128, 129, 130, 1024};
    run(unrelated);
    std::ifstream log(folder / "log");
    std::set<std::string> calibrated;
    for (std::string line; std::getline(log, line);) {
        if (line.find("\"step\"") != line.npos) calibrated.clear();
        const std::size_t calls = line.find(",\"calls\"");
        if (calls == line.npos) continue;
        EXPECT_TRUE(calibrated.insert(line.substr(0, calls)).second) << line;
    }
}

TEST_F(RowsOf, a_routine_are_not_complete_where_the_budget_ended_in_a_bound_or_in_a_later_exam) {
    auto& sizes = request_.options.of(Operation::copy).sizes;
    sizes.insert(sizes.begin(), {128, 256});
    const auto left_out = [&](const MadeUpFactor& factor) {
        std::filesystem::remove(folder / "log");
        const Truth truth = sensing(made_up_truth(factor));
        return run_made_up_search(folder / "log", request_, truth, 1, true).left_out.steps;
    };
    EXPECT_EQ(left_out([](const std::string& name, std::size_t size, Workload workload) {
                  const bool small = name.starts_with("stepped ") || name.starts_with("clamped ");
                  if (small && size == 181) throw BudgetSpent(); // half way between 128 and 256
                  return two_halves(name, size, workload);
              }),
              std::set{Step::boundaries});
    EXPECT_EQ(left_out([](const std::string& name, std::size_t size, Workload workload) {
                  if (name == "routine 2") throw BudgetSpent();
                  return loses_at(23170, 16384)(name, size, workload);
              }),
              std::set{Step::exam});
}
