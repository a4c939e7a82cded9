// The sample log: written lines are read again; other files are refused with the reason.
#include "run/sample_log.hpp"

#include "base/contains.hpp"
#include "run/resume.hpp"
#include "support/made_up_files.hpp"
#include "support/unit_test.hpp"

namespace {

const json kFirstLine = made_up_header();

const SampleKey kKey{8192, Workload::cold, "ZMM T NT T0 4 8", 17};
const ProbeKey kSource{8192, Workload::hot, "source 4", "XMM T T none 0 0"},
    kEach{8192, Workload::fetch, "each 4", "XMM T T none 0 0"};

class SampleLogFile : public TemporaryFolder {
  protected:
    std::filesystem::path path() const { return folder / "trials.jsonl"; }

    SampleLogContents read(const std::string& text) {
        put("trials.jsonl", text);
        return read_sample_log(path());
    }

    std::string refusal(const std::string& text) {
        return ::refusal_of([&] { read(text); }, "taken");
    }

    /// The refusal of a line that follows a header and a step.
    std::string refusal_of(const std::string& line) {
        return refusal(kFirstLine.dump() + "\n{\"step\":\"small copies\"}\n" + line + "\n");
    }
};

} // namespace

TEST_F(SampleLogFile, gives_back_the_lines_that_were_written) {
    {
        SampleLogWriter log(path(), kFirstLine);
        log.step(LoggedStep{Step::calibration});
        log.write(Calibrated{{8192, Workload::cold}, {24, 1.2345678901234567e-6}});
        log.step(LoggedStep{Step::pipelines, 8192});
        log.write(std::pair(kKey, Sample{1234.568, 41.2}));
        log.write(std::vector{Disturbance::steal, Disturbance::preempted});
        log.step(LoggedStep{Step::sensing, 8192});
        log.write(std::pair(kSource, ProbeTicks{{26, 130}}));
        log.write(std::pair(kEach, ProbeTicks{{390, 416}, {26, 52}}));
        log.resumed("2026-11-21T10:00:00Z");
        log.step(LoggedStep{Step::pipelines, 8192});
        log.write(std::pair(SampleKey{0, Workload::mix_l1_read, "libc", 18}, Sample{0.001, 7.5}));
        log.finish({"2026-11-21T11:00:00Z", 60, {{Step::screening, 50}}, 1, 90});
    }
    const SampleLogContents contents = read_sample_log(path());
    EXPECT_EQ(json(to_json(contents.header)), kFirstLine);
    EXPECT_EQ(contents.resumed, 1);
    EXPECT_FALSE(contents.torn);
    const auto& [finished, seconds, phases, resumed, budget] = contents.end.value();
    EXPECT_EQ(std::tie(finished, seconds, resumed, budget),
              std::tuple("2026-11-21T11:00:00Z", 60, 1, 90));
    EXPECT_EQ(phases, (TimeAccount{{Step::screening, 50}}));
    EXPECT_EQ(contents.bytes, std::filesystem::file_size(path()));
    for (const char* line :
         {R"({"step":"pipelines 8192"})", R"({"hit":["steal","preempted"]})",
          R"({"size":8192,"workload":"cold","candidate":"ZMM T NT T0 4 8","round":17,"ns":)"}) {
        EXPECT_TRUE(mentions(content(path()), line)) << line;
    }
    ASSERT_EQ(contents.steps.size(), 3u);

    const auto& [timed, of_calls] =
        std::get<Calibrated>(contents.steps.at(LoggedStep{Step::calibration}).at(0));
    EXPECT_EQ(timed, std::pair(std::size_t{8192}, Workload::cold));
    EXPECT_EQ(of_calls.calls, 24u);
    EXPECT_EQ(of_calls.seconds, 1.2345678901234567e-6);

    // The step goes on where the run was taken up again.
    const std::vector<Record>& step = contents.steps.at(LoggedStep{Step::pipelines, 8192});
    ASSERT_EQ(step.size(), 3u);
    const auto& [key, sample] = std::get<std::pair<SampleKey, Sample>>(step[0]);
    EXPECT_EQ(key, kKey);
    EXPECT_EQ(std::tie(sample.ns, sample.us, sample.recorded), std::tuple(1234.568, 41.2, true));
    EXPECT_EQ(std::get<std::vector<Disturbance>>(step[1]),
              (std::vector{Disturbance::steal, Disturbance::preempted}));
    EXPECT_EQ((std::get<std::pair<SampleKey, Sample>>(step[2]).first.workload),
              Workload::mix_l1_read);

    using Probed = std::pair<ProbeKey, ProbeTicks>;
    const std::vector<Record>& probes = contents.steps.at(LoggedStep{Step::sensing, 8192});
    EXPECT_EQ(std::get<Probed>(probes.at(0)), Probed(kSource, {{26, 130}}));
    EXPECT_EQ(std::get<Probed>(probes.at(1)), Probed(kEach, {{390, 416}, {26, 52}}));
}

TEST_F(SampleLogFile, that_was_gone_on_with_behind_its_end_has_none) {
    const std::string ended = kFirstLine.dump() +
                              "\n{\"step\":\"small copies\"}\n"
                              R"({"finished":"now","seconds":1,"phases":{},"resumed":0})"
                              "\n";
    EXPECT_TRUE(read(ended).end);
    EXPECT_FALSE(read(ended + "{\"resumed\":\"now\"}\n").end);
}

TEST_F(SampleLogFile, goes_on_behind_the_whole_lines) {
    const std::string whole = kFirstLine.dump() + "\n{\"step\":\"small copies\"}\n";
    // the last figure of a line that looks whole may have lost digits
    for (const char* torn :
         {"{\"size\":0,\"workl",
          R"({"size":1,"workload":"hot","candidate":"libc","round":0,"ns":12,"us":1})"}) {
        const SampleLogContents contents = read(whole + torn);
        EXPECT_TRUE(contents.torn);
        EXPECT_TRUE(contents.steps.at(LoggedStep{Step::small}).empty());
        EXPECT_EQ(contents.bytes, whole.size());
        SampleLogWriter log(path(), lock_sample_log(path()), contents.bytes);
        EXPECT_EQ(content(path()), whole);
        log.resumed("now");
        EXPECT_EQ(content(path()), whole + "{\"resumed\":\"now\"}\n");
    }
}

TEST_F(SampleLogFile, refuses_a_place_where_it_cannot_be_and_keeps_the_file_there) {
    EXPECT_THROW(SampleLogWriter(folder, kFirstLine), BadInput);
    EXPECT_THROW(SampleLogWriter("", kFirstLine), BadInput);
    put("trials.jsonl", "hours of work\n");
    EXPECT_THROW(SampleLogWriter(path(), kFirstLine), BadInput);
    EXPECT_EQ(content(path()), "hours of work\n");
    EXPECT_TRUE(mentions(::refusal_of([&] { require_no_sample_log(path()); }, "removed"),
                         "not a log that this program can go on with: name another"));
    put("trials.jsonl", ""); // as mktemp makes it
    require_no_sample_log(path());
    EXPECT_FALSE(std::filesystem::exists(path()));
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    EXPECT_THROW(SampleLogWriter("/dev/full", kFirstLine), Failure);
}

TEST_F(SampleLogFile, is_not_begun_with_a_header_that_no_reader_takes) {
    const std::pair<void (*)(LogHeader&), const char*> unreadable[] = {
        {[](LogHeader& one) { one.options.source_map = "\u00fc"; }, "options.source_map"},
        {[](LogHeader& one) { one.options.source_map = "\xff"; }, "options.source_map"},
        {[](LogHeader& one) { one.options.weights_given.assign(201, '1'); }, "weights_given"}};
    for (const auto& [change, why] : unreadable) {
        LogHeader header = log_header_of(kFirstLine);
        change(header);
        EXPECT_TRUE(
            mentions(::refusal_of([&] { open_run_log(path(), header, false); }, "begun"), why));
        EXPECT_FALSE(std::filesystem::exists(path()));
    }
}

TEST_F(SampleLogFile, is_not_gone_on_with_on_another_cpu_or_by_a_search_of_other_sets) {
    put("trials.jsonl", kFirstLine.dump() + '\n');
    const auto refusal_with = [&](const auto& change) {
        LogHeader header = log_header_of(kFirstLine);
        change(header);
        return ::refusal_of([&] { open_run_log(path(), header, true); }, "gone on with");
    };
    EXPECT_EQ(refusal_with([](LogHeader&) {}), "gone on with");
    EXPECT_TRUE(mentions(refusal_with([](LogHeader& one) { one.cpu = 0; }),
                         "it was timed on another CPU (1 there, 0)"));
    EXPECT_TRUE(mentions(refusal_with([](LogHeader& one) { one.space_hashes[1] = "7"; }),
                         "it is of another space of candidates"));
}

TEST_F(SampleLogFile, refuses_a_file_that_is_not_a_log) {
    EXPECT_THROW(read_sample_log(folder / "missing"), BadInput);
    EXPECT_THROW(read_sample_log(folder), BadInput);
    const std::pair<std::string, const char*> rows[] = {
        {"", "trials.jsonl"},
        {{'\x7f', 'E', 'L', 'F', '\0', '\1', '\2', '\n'}, "trials.jsonl"},
        {"{}\n", "is not a sample log"},
        {"{\"format\":\"asterope-profile\"}\n", "is not a sample log"},
        {"{\"format\":\"asterope-trials\",\"version\":1}\n", "version 1"},
        {"{\"format\":\"asterope-trials\",\"version\":\"x\"}\n", "version"},
        {kFirstLine.dump(), "no whole header"}, // torn
        {kFirstLine.dump() + "\n{\"hit\":[]}\n", "comes before the first step"},
    };
    for (const auto& [text, why] : rows) EXPECT_TRUE(mentions(refusal(text), why));
}

TEST_F(SampleLogFile, refuses_a_header_that_is_not_as_it_must_be_and_names_the_place) {
    const std::string start = "log " + path().string() + ": line 1: ";
    const auto expect_refused = [&](const json& header, const std::string& fault) {
        EXPECT_EQ(refusal(header.dump() + '\n').find(start + fault), 0u) << fault;
    };
    for (const auto& [pointer, value, fault] :
         {std::tuple("/machine", json(7), "machine: 7 where an object is expected"),
          {"/machine/libc", json("\n"), "machine.libc: has characters that do not"},
          {"/machine/cpu", json::object(), "machine.cpu.brand: missing"},
          {"/machine/cpu/features", json(7), "machine.cpu.features: 7 where an array is expected"},
          {"/machine/caches", json{{{"bytes", "1"}}},
           "machine.caches[0].bytes: \"1\" where an integer is expected"},
          {"/options/sizes", json("128"), "options.sizes: \"128\" where an array is expected"},
          {"/options/weights/warm", json(1), "options.weights.warm: is not known to this version"},
          {"/options/operations/0", json("memcmp"),
           "options.operations[0]: is not known to this version"},
          {"/invalid", json{{{"candidate", 1}}}, "invalid[0].candidate: 1 where a string"}}) {
        json header = kFirstLine;
        header[json::json_pointer(pointer)] = value;
        expect_refused(header, fault);
    }
    for (const auto& [field, value] : kFirstLine.items()) {
        if (contains(std::array{"format", "version", "architecture"}, field)) continue;
        json header = kFirstLine;
        header.erase(field);
        expect_refused(header, field + ": missing");
    }
}

TEST_F(SampleLogFile, refuses_lines_that_are_no_figures_and_ends_that_no_profile_may_have) {
    const std::string sample = R"({"size":1,"workload":"hot","candidate":"libc","round":0,)",
                      end = R"({"finished":"now","seconds":60,)";
    const std::pair<std::string, const char*> rows[] = {
        {sample + R"("ns":0,"us":1})", "line 3: ns: not above 0"},
        {sample + R"("ns":1e999,"us":1})", "line 3 column"},
        {sample + R"("ns":null,"us":1})", "line 3: ns"},
        {sample + R"("ns":3})", "us: missing"},
        {R"({"size":1,"workload":"warm","candidate":"libc"})", "workload: is not known"},
        {R"({"size":-1,"workload":"hot","candidate":"libc"})", "size"},
        {R"({"size":1,"workload":"hot","calls":0,"seconds":1})", "line 3: calls: not above 0"},
        {end + R"("phases":{"screening":50},"resumed":-1})", "line 3: resumed"},
        {end + R"("phases":{"screening":"b"},"resumed":0})", "line 3: phases"},
        {end + R"("phases":{"rest":1},"resumed":0})", "line 3: phases"},
        {R"({"finished":7,"seconds":60,"phases":{},"resumed":0})", "line 3: finished"},
        {R"({"hit":["flood"]})", "hit[0]: is not known"},
        {R"({"size":1,"workload":"hot","probe":"a","copy":"b","ticks":[-1]})", "ticks"},
        {"nonsense", "line 3 column"},
    };
    for (const auto& [line, why] : rows) EXPECT_TRUE(mentions(refusal_of(line), why)) << line;
}
