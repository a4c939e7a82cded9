// Recordings: what they take from a log, what they leave out, what they refuse.
#include "run/recording.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/gzip_lines.hpp"
#include "base/statistics.hpp"
#include "support/made_up_log.hpp"
#include "support/random_figures.hpp"
#include "support/temporary_folder.hpp"

using namespace asterope;

namespace {

const std::vector<Workload> kHotAndCold = {Workload::hot, Workload::cold};

/// A log of one size: libc takes 100 ns, A 80, B 125; hot alone.
MadeUpLog small_log() {
    MadeUpLog log = made_up_log({Workload::hot});
    log.step("pipelines 4096");
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (const auto& [name, ns] : {std::pair{"libc", 100.0}, {"B", 125.0}, {"A", 80.0}}) {
            log.trial(4096, Workload::hot, name, round, ns);
        }
    }
    log.step("small copies");
    return log;
}

class Recordings : public TemporaryFolder {
  protected:
    Recording load(const std::string& text) {
        put("log", text);
        return Recording(folder / "log");
    }
    Recording load(const MadeUpLog& log) { return load(log.text()); }
    RecordedField field(const MadeUpLog& log) { return load(log).sizes.at(4096).at(Workload::hot); }

    std::string fault(const std::string& text) {
        try {
            load(text);
            return "";
        } catch (const BadInput& error) {
            const std::string what = error.what(), begin = "log " + (folder / "log").string();
            EXPECT_EQ(what.rfind(begin, 0), 0u) << what;
            return what.substr(begin.size());
        }
    }
    std::string fault(const MadeUpLog& log) { return fault(log.text()); }

    /// Of a log whose third trial has another value there.
    std::string fault_of_trial(const char* field, const nlohmann::json& value) {
        MadeUpLog log = small_log();
        log.lines[3][field] = value;
        return fault(log);
    }
};

void expect_near(const RecordedField::Samples& samples, double value, std::size_t count) {
    EXPECT_EQ(samples.size(), count);
    for (const float sample : samples) EXPECT_NEAR(sample, value, 1e-5);
}

} // namespace

// --- What is taken -------------------------------------------------------------------------------

TEST_F(Recordings, have_libcs_time_over_each_candidates_as_logarithms) {
    const Recording recording = load(small_log());
    EXPECT_EQ(recording.names, (std::vector<std::string>{"A", "B"}));
    EXPECT_TRUE(recording.warnings.empty());
    const RecordedField& field = recording.sizes.at(4096).at(Workload::hot);
    EXPECT_EQ(field.calls, 10u);
    EXPECT_NEAR(field.libc_ns, 100, 1e-9);
    EXPECT_NEAR(field.fixed_us, 5, 1e-9);
    EXPECT_NEAR(field.per_timed, 1, 1e-9);
    ASSERT_EQ(field.candidates.size(), 2u);
    expect_near(field.candidates[0], std::log(100.0 / 80), 3);
    expect_near(field.candidates[1], std::log(100.0 / 125), 3);
    expect_near(field.libc, 0, 3);
    expect_near(field.rounds, 0, 3);
}

TEST_F(Recordings, are_free_of_slow_phases) {
    MadeUpLog log = small_log();
    for (nlohmann::json& line : log.lines) {
        if (line.contains("ns") && line["round"] == 1) line["ns"] = line["ns"].get<double>() * 1.7;
    }
    const RecordedField slow = field(log);
    expect_near(slow.candidates[0], std::log(100.0 / 80), 3);
    EXPECT_NEAR(slow.libc_ns, 100, 1e-9);
}

TEST_F(Recordings, compare_with_the_median_of_a_rounds_libc) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.step("pipelines 4096");
    for (const double ns : {100.0, 300.0, 90.0}) log.trial(4096, Workload::hot, "libc", 1, ns);
    log.trial(4096, Workload::hot, "A", 1, 50);
    log.step("aliased 512");
    const RecordedField one = field(log);
    expect_near(one.candidates[0], std::log(2), 1);
    ASSERT_EQ(one.libc.size(), 3u);
    EXPECT_NEAR(one.libc[1], -std::log(3), 1e-5);
}

TEST_F(Recordings, have_each_size_and_workload_apart) {
    MadeUpLog log = made_up_log(kHotAndCold);
    const std::vector<Candidate> two(plain_space().begin(), plain_space().begin() + 2);
    for (const std::size_t size : {8192, 128, 1024}) {
        add_pipelines(log, size, kHotAndCold, two, 2, [&](Entrant entrant, Workload workload) {
            return static_cast<double>(size) * (workload == Workload::hot ? 1 : 3) *
                   (entrant == 1 ? 2 : 1);
        });
        log.step("sensing " + std::to_string(size));
        log.trial(size, Workload::hot, two[0].name(), 0, 1e9);
    }
    const Recording recording = load(log);
    ASSERT_EQ(recording.sizes.size(), 3u);
    for (const auto& [size, fields] : recording.sizes) {
        ASSERT_EQ(fields.size(), 2u);
        EXPECT_NEAR(fields.at(Workload::cold).libc_ns, 3 * static_cast<double>(size), 1e-9);
        const bool in_order = recording.names[0] == two[0].name();
        expect_near(fields.at(Workload::hot).candidates[in_order ? 1 : 0], -std::log(2), 2);
        expect_near(fields.at(Workload::cold).candidates[in_order ? 0 : 1], 0, 2);
    }
}

// Here each trial begins with untimed calls, half as many as are timed, and 7 us besides.
TEST_F(Recordings, tell_what_a_trial_takes_of_fast_and_slow_candidates) {
    MadeUpLog log = small_log();
    for (nlohmann::json& line : log.lines) {
        if (line.contains("ns")) line["us"] = 7 + 1.5 * 10 * line["ns"].get<double>() / 1000;
    }
    const RecordedField one = field(log);
    EXPECT_NEAR(one.fixed_us, 7, 1e-6);
    EXPECT_NEAR(one.per_timed, 1.5, 1e-6);
}

TEST_F(Recordings, tell_what_a_trial_takes_where_all_take_the_same) {
    MadeUpLog log = small_log();
    for (nlohmann::json& line : log.lines) {
        if (!line.contains("ns")) continue;
        line["ns"] = 100;
        line["us"] = 6;
    }
    const RecordedField one = field(log);
    EXPECT_NEAR(one.fixed_us, 5, 1e-9);
    EXPECT_NEAR(one.per_timed, 1, 1e-9);
}

// Rounded, or a clock of another kind: never less than what is timed.
TEST_F(Recordings, tell_no_trial_to_take_less_than_what_is_timed) {
    MadeUpLog log = small_log();
    for (nlohmann::json& line : log.lines) {
        if (line.contains("ns")) line["us"] = line["ns"].get<double>() < 90 ? 0.9 : 0.8;
    }
    const RecordedField one = field(log);
    EXPECT_GE(one.fixed_us, 0);
    EXPECT_GE(one.per_timed, 1);
    EXPECT_LT(one.fixed_us + one.per_timed * 1, 1.3);
}

TEST_F(Recordings, take_the_last_try_of_a_round_that_was_disturbed) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.step("pipelines 4096");
    const auto round = [&](std::uint64_t number, double ns) {
        log.trial(4096, Workload::hot, "libc", number, 100);
        log.trial(4096, Workload::hot, "A", number, ns);
    };
    const nlohmann::json hit = {{"hit", {"steal"}}};
    round(1, 900);
    log.lines.push_back(hit);
    round(1, 700);
    log.lines.push_back(hit);
    round(1, 80); // good at last
    round(2, 50);
    log.lines.push_back(hit); // not repeated: it counts
    round(3, 80);
    log.step("small copies");
    const RecordedField one = field(log);
    ASSERT_EQ(one.candidates[0].size(), 3u);
    EXPECT_NEAR(one.candidates[0][0], std::log(100.0 / 80), 1e-5);
    EXPECT_NEAR(one.candidates[0][1], std::log(2), 1e-5);
    EXPECT_EQ(one.libc.size(), 3u);
}

TEST_F(Recordings, may_be_gzipped) {
    write_gzipped(folder / "packed", small_log().text());
    const Recording recording(folder / "packed");
    EXPECT_EQ(recording.names.size(), 2u);
    EXPECT_TRUE(recording.warnings.empty());
}

// --- References ----------------------------------------------------------------------------------

namespace {

/// 40 candidates of known ratios in 12 rounds, each of which has something in common.
std::vector<RecordedRound> rounds_of(const std::vector<double>& common, double jitter,
                                     int each = 40) {
    noise::Random random(1);
    std::vector<RecordedRound> rounds;
    for (const double shift : common) {
        rounds.emplace_back();
        for (int i = 0; i < each; ++i) {
            const double sample = 0.01 * i + shift + jitter * noise::normal(random);
            rounds.back().emplace_back(i, static_cast<float>(sample));
        }
    }
    return rounds;
}

const std::vector<double> kCommon = {0, 0.9, 0, 0, -0.3, 0, 0.9, 0, 0.05, 0, 0, 0};

} // namespace

TEST(References, are_what_the_candidates_of_a_round_have_in_common) {
    const std::vector<double> references = find_references(rounds_of(kCommon, 0.01));
    ASSERT_EQ(references.size(), kCommon.size());
    for (std::size_t i = 0; i < kCommon.size(); ++i) {
        EXPECT_NEAR(references[i], -kCommon[i], 0.01) << i;
    }
}

// As most candidates of an exhaustive search: two samples each, in rounds with others each time.
TEST(References, are_found_from_candidates_of_two_samples) {
    noise::Random random(1);
    std::vector<RecordedRound> rounds(40);
    std::vector<double> common(40, 0);
    for (std::size_t i = 0; i < 40; i += 7) common[i] = 0.8;
    for (int candidate = 0; candidate < 480; ++candidate) {
        for (const std::size_t half : {0, 20}) {
            const std::size_t round = half + random() % 20;
            const double sample = common[round] + 0.001 * candidate + 0.01 * noise::normal(random);
            rounds[round].emplace_back(candidate, static_cast<float>(sample));
        }
    }
    const std::vector<double> references = find_references(rounds);
    for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(references[i], -common[i], 0.02) << i;
}

TEST(References, leave_candidates_of_a_round_apart) {
    for (const double reference : find_references(rounds_of(std::vector<double>(12, 0), 0.01))) {
        EXPECT_NEAR(reference, 0, 0.01);
    }
}

// A median of few would take their own noise from them.
TEST(References, are_libcs_where_a_round_has_few_candidates) {
    for (const double reference : find_references(rounds_of(kCommon, 0.01, 7))) {
        EXPECT_EQ(reference, 0);
    }
}

TEST_F(Recordings, tell_libc_what_the_candidates_of_a_round_have_in_common) {
    MadeUpLog log = made_up_log({Workload::hot});
    log.step("pipelines 4096");
    for (std::uint64_t round = 0; round < 9; ++round) {
        log.trial(4096, Workload::hot, "libc", round, round == 4 ? 200 : 100); // for its own reason
        for (int i = 0; i < 10; ++i) {
            log.trial(4096, Workload::hot, 'A' + std::to_string(i), round, 80 + i);
        }
    }
    log.step("small copies");
    const RecordedField one = field(log);
    for (int i = 0; i < 10; ++i) {
        expect_near(one.candidates[static_cast<std::size_t>(i)], std::log(100.0 / (80 + i)), 9);
    }
    EXPECT_NEAR(one.rounds[4], -std::log(2), 1e-5);
    EXPECT_NEAR(one.rounds[3], 0, 1e-5);
    expect_near(one.libc, 0, 9);
}

// --- Thinned -------------------------------------------------------------------------------------

TEST(ThinSamples, keep_median_and_spread) {
    noise::Random random(1);
    for (const std::size_t count : {9u, 29u, 100u}) {
        RecordedField::Samples samples;
        for (std::size_t i = 0; i < count; ++i) {
            samples.push_back(static_cast<float>(noise::normal(random)));
        }
        const RecordedField::Samples thinned = thin_samples(samples, 8);
        ASSERT_EQ(thinned.size(), 8u);
        const auto middle = [](const RecordedField::Samples& all) {
            return median({all.begin(), all.end()});
        };
        EXPECT_NEAR(middle(thinned), middle(samples), 0.3);
        EXPECT_TRUE(std::is_sorted(thinned.begin(), thinned.end()));
        EXPECT_LT(thinned.front(), -0.5);
        EXPECT_GT(thinned.back(), 0.5);
    }
}

TEST(ThinSamples, are_evenly_spaced_among_all) {
    EXPECT_EQ(thin_samples({5, 3, 1, 2, 4}, 1), (RecordedField::Samples{3}));
    EXPECT_EQ(thin_samples({5, 3, 1, 2, 4, 6}, 3), (RecordedField::Samples{2, 4, 6}));
    EXPECT_EQ(thin_samples({3, 1, 2}, 3), (RecordedField::Samples{1, 2, 3}));
    EXPECT_EQ(thin_samples({3, 1}, 8), (RecordedField::Samples{1, 3}));
    EXPECT_TRUE(thin_samples({}, 8).empty());
}

TEST_F(Recordings, are_the_same_thinned_but_for_how_many_samples_they_have) {
    noise::Random random(1);
    MadeUpLog log = made_up_log(kHotAndCold);
    const std::vector<Candidate> some(plain_space().begin(), plain_space().begin() + 30);
    for (const std::size_t size : {128, 65536}) {
        add_pipelines(log, size, kHotAndCold, some, 20, [&](Entrant entrant, Workload) {
            return (100 + entrant) * std::exp(0.02 * noise::normal(random));
        });
    }
    log.step("small copies");
    const Recording whole = load(log);
    whole.write_thinned(folder / "thinned", 5);
    const Recording thinned(folder / "thinned");
    EXPECT_TRUE(thinned.warnings.empty());
    EXPECT_EQ(thinned.names, whole.names);
    nlohmann::json header = whole.header;
    header["thinned"] = {{"samples", 5}};
    EXPECT_EQ(thinned.header, header);
    ASSERT_EQ(thinned.sizes.size(), 2u);
    for (const auto& [size, fields] : whole.sizes) {
        for (const auto& [workload, one] : fields) {
            const RecordedField& other = thinned.sizes.at(size).at(workload);
            EXPECT_EQ(other.calls, one.calls);
            EXPECT_DOUBLE_EQ(other.libc_ns, one.libc_ns);
            EXPECT_NEAR(other.fixed_us, one.fixed_us, 0.001);
            EXPECT_NEAR(other.per_timed, one.per_timed, 1e-6);
            EXPECT_EQ(other.libc.size(), 64u);
            EXPECT_EQ(other.rounds.size(), 40u); // as many as there were
            for (std::size_t i = 0; i < one.candidates.size(); ++i) {
                const RecordedField::Samples kept = thin_samples(one.candidates[i], 5);
                ASSERT_EQ(other.candidates[i].size(), 5u);
                for (std::size_t j = 0; j < 5; ++j) {
                    EXPECT_NEAR(other.candidates[i][j], kept[j], 0.51e-4);
                }
            }
        }
    }
    const std::string bytes = content(folder / "thinned");
    whole.write_thinned(folder / "thinned", 5);
    EXPECT_EQ(content(folder / "thinned"), bytes);
    EXPECT_LT(bytes.size(), log.text().size() / 10);
}

TEST_F(Recordings, lose_the_last_size_where_a_thinned_one_is_cut_short) {
    MadeUpLog log = made_up_log(kHotAndCold);
    const std::vector<Candidate> some(plain_space().begin(), plain_space().begin() + 30);
    for (const std::size_t size : {128, 256, 512}) {
        add_pipelines(log, size, kHotAndCold, some, 2, [](Entrant, Workload) { return 100; });
    }
    log.step("small copies");
    load(log).write_thinned(folder / "thinned", 8);
    std::string text;
    {
        LineReader lines(folder / "thinned", "thinned");
        for (std::string line; lines.next(line);) text += line + '\n';
    }
    put("cut", text.substr(0, text.size() - 20));
    const Recording cut(folder / "cut");
    EXPECT_EQ(cut.sizes.size(), 2u);
    ASSERT_EQ(cut.warnings.size(), 1u);
    EXPECT_NE(cut.warnings[0].find("torn"), std::string::npos);
}

// --- What is left out ----------------------------------------------------------------------------

TEST_F(Recordings, leave_out_a_torn_last_line_and_say_so) {
    const Recording recording = load(small_log().text() + "{\"size\":40");
    EXPECT_EQ(recording.sizes.size(), 1u);
    ASSERT_EQ(recording.warnings.size(), 1u);
    EXPECT_NE(recording.warnings[0].find("torn last line"), std::string::npos);
}

TEST_F(Recordings, leave_out_the_size_that_a_killed_run_was_at_and_say_so) {
    MadeUpLog log = small_log();
    log.step("pipelines 8192");
    log.trial(8192, Workload::hot, "libc", 0, 100);
    log.trial(8192, Workload::hot, "A", 0, 100);
    const Recording recording = load(log);
    EXPECT_EQ(recording.sizes.size(), 1u);
    ASSERT_EQ(recording.warnings.size(), 1u);
    EXPECT_NE(recording.warnings[0].find("8 KiB"), std::string::npos);
}

// --- What is refused -----------------------------------------------------------------------------

TEST_F(Recordings, are_refused_of_a_search_that_was_not_exhaustive) {
    MadeUpLog log = small_log();
    log.header["options"]["rigor"] = "standard";
    EXPECT_EQ(fault(log), ": is of a search of rigor standard; only an exhaustive one has timed "
                          "every candidate");
}

// What is refused of any log: see test_trial_log.cpp.
TEST_F(Recordings, are_refused_with_trials_that_make_no_sense) {
    EXPECT_EQ(fault("{}\n"), ": is no trial log: its first line is not the header of one");
    EXPECT_EQ(fault_of_trial("ns", 0), ": line 7: ns 0 is no time above 0");
    EXPECT_EQ(fault_of_trial("workload", "mix_l1_read"),
              ": line 7: no recording has the workload 'mix_l1_read'");
    EXPECT_EQ(fault_of_trial("size", 8192), ": line 7: is of another size than its step");
    EXPECT_EQ(fault_of_trial("workload", "cold"),
              ": line 7: is of a size and workload without calibration");
    MadeUpLog log = small_log();
    log.lines[0]["step"] = "pipelines 4096x";
    EXPECT_EQ(fault(log), ": line 4: a step of no size: 'pipelines 4096x'");
}

TEST_F(Recordings, are_refused_without_a_size_that_was_finished) {
    EXPECT_EQ(fault(made_up_log({Workload::hot})), ": has no size that was finished");
    MadeUpLog log = small_log();
    log.lines.pop_back();
    EXPECT_EQ(fault(log), ": has no size that was finished");
}

TEST_F(Recordings, are_refused_thinned_where_they_are_damaged) {
    load(small_log()).write_thinned(folder / "thinned", 8);
    std::vector<nlohmann::json> lines;
    LineReader reader(folder / "thinned", "thinned");
    for (std::string line; reader.next(line);) lines.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(lines.size(), 3u);
    const auto fault_with = [&](const char* field, const nlohmann::json& value) {
        std::vector<nlohmann::json> damaged = lines;
        damaged[field == std::string("names") ? 1 : 2][field] = value;
        std::string text;
        for (const nlohmann::json& line : damaged) text += line.dump() + '\n';
        return fault(text);
    };
    const auto list = [](std::initializer_list<nlohmann::json> values) {
        return nlohmann::json::array_t(values);
    };
    EXPECT_EQ(fault_with("names", {1, 2}), ": line 2: has a name that is no text");
    EXPECT_EQ(fault_with("names", "A"), ": line 2: names is no list");
    EXPECT_EQ(fault_with("size", 0), ": line 3: has the size 0");
    EXPECT_EQ(fault_with("libc_ns", -1), ": line 3: libc_ns -1 is no time above 0");
    EXPECT_EQ(fault_with("fixed_us", -1), ": line 3: fixed_us -1 is no time from 0 up");
    EXPECT_EQ(fault_with("per_timed", 0), ": line 3: per_timed 0 is no time above 0");
    EXPECT_EQ(fault_with("libc", nlohmann::json::array()), ": line 3: has no samples of libc");
    EXPECT_EQ(fault_with("libc", list({0.5})), ": line 3: has a sample that is none");
    EXPECT_EQ(fault_with("libc", list({1000000000})), ": line 3: has a sample that is none");
    EXPECT_EQ(fault_with("candidates", list({list({1}), 7})),
              ": line 3: has samples that are no list");
    EXPECT_EQ(fault_with("candidates", list({list({1})})),
              ": line 3: has samples of 1 candidates, but there are 2");
}
