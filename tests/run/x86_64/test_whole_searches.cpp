// Replays of whole searches on made-up figures end in the same choices as before.
#include "run/steps.hpp"
#include "search/fresh_search.hpp"
#include "support/made_up_search.hpp"
#include "support/unit_test.hpp"

namespace {

/// One search, and the hash of all its choices. A change of the hash says that searches choose
/// otherwise. Where that is the purpose, take the hash that the test prints.
struct WholeSearch {
    const char* name;
    std::string expected;
    std::function<void(TuningRequest&)> ask = [](TuningRequest&) {};
};

/// Each copy is best somewhere, by its name's luck at a size and under a workload.
double best_somewhere(const std::string& name, std::size_t size, Workload workload) {
    const std::string cell = name + std::to_string(size) + std::string(name_of(workload));
    return 0.6 + 0.6 * std::stod("0x0." + text_hash(cell));
}

/// All choices, one a line.
std::string choices_of(const Profile& profile) {
    std::string text;
    for (const Choice& one : profile.choices) {
        text += std::string(name_of(one.operation)) + ' ' + facts_of(one.kind).name + ' ' +
                (one.intent ? std::string(name_of(*one.intent)) : "all") + " up to " +
                std::to_string(one.up_to) + ": " + name_of(one.copy);
        if (one.sensing) text += " > " + one.sensing->name();
        for (const RunnerUp& other : one.runners_up) text += ", then " + name_of(other.copy);
        text += '\n';
    }
    return text;
}

const WholeSearch kSearches[] = {
    {"quick", "9c0cfb5a1bf18d23"},
    {"standard, extended, of few sizes", "063d0c8ab614da34",
     [](TuningRequest& request) {
         request.options.rigor = "standard";
         request.options.space = "extended";
         request.options.of(Operation::copy).sizes = {256, 65536, 1 << 20};
     }},
    {"exhaustive, of two sizes", "55282436f9152310",
     [](TuningRequest& request) {
         request.options.rigor = "exhaustive";
         request.options.of(Operation::copy).sizes = {128, 8192};
     }},
    {"memset too", "18b5803473262d87",
     [](TuningRequest& request) {
         request.options.operations = {Operation::copy, Operation::set};
     }},
    {"without sensing and threads", "d4e34264d1c482b1",
     [](TuningRequest& request) {
         request.options.sensing = false;
         request.options.threads = 1;
     }},
    {"for hot copies", "5ba93dca017b4df1",
     [](TuningRequest& request) { request.options.workload = "hot"; }},
    {"beside a reference", "0609674f353c309c",
     [](TuningRequest& request) {
         request.options.of(Operation::copy).references = {{"other", "0"}};
     }},
    {"of two rows", "a54fee2d443f26bb", [](TuningRequest& request) { request.options.rows = 2; }},
};

using WholeSearches = TemporaryFolder;

} // namespace

TEST_F(WholeSearches, choose_as_before_when_replayed) {
    for (const WholeSearch& search : kSearches) {
        SCOPED_TRACE(search.name);
        TuningRequest request = made_up_request();
        search.ask(request);
        const std::string path = (folder / "log").string();
        std::filesystem::remove(path);
        run_made_up_search(path, request, made_up_truth(best_somewhere));
        const std::string choices = choices_of(profile_of_log(read_sample_log(path), path));
        EXPECT_EQ(text_hash(choices), search.expected) << choices;
    }
}

TEST_F(WholeSearches, name_the_distribution_of_their_small_copies_where_there_are_sets_too) {
    TuningRequest request = made_up_request();
    request.options.operations = {Operation::copy, Operation::set};
    request.options.distribution = "mine";
    const std::string path = (folder / "log").string();
    run_made_up_search(path, request, made_up_truth(best_somewhere));
    EXPECT_EQ(profile_of_log(read_sample_log(path), path).search.distribution, "mine");
}

TEST_F(WholeSearches, end_with_the_budget_where_no_size_is_done) {
    const Truth spent = [](const std::string&, std::size_t, Workload) -> double {
        throw BudgetSpent();
    };
    EXPECT_THROW(run_made_up_search(folder / "log", made_up_request(), spent), BudgetSpent);
}

// In as many rounds as a run-off of pipelines.
TEST_F(WholeSearches, try_page_stages_only_where_fresh_memory_counts) {
    const Rigor standard = parse_rigor("standard");
    const std::vector<std::size_t> sizes = {kModerateCopy / 2, kModerateCopy};
    const std::string stage = name_of(all_page_stages()[1]);
    for (const std::string workload : {"hot", "balanced"}) {
        TuningRequest request = made_up_request();
        request.options.rigor = standard.name;
        request.options.operations = {Operation::copy, Operation::set};
        for (const Operation one : request.options.operations)
            request.options.of(one).sizes = sizes;
        request.options.workload = workload;
        const std::string path = (folder / workload).string();
        run_made_up_search(path, request, made_up_truth(best_somewhere));
        SampleLogContents log = read_sample_log(path);
        for (const Operation operation : request.options.operations) {
            for (const std::size_t size : sizes) {
                const auto& records = log.steps[{Step::fresh, size, "", operation}];
                const auto count = std::ranges::count_if(records, [&](const Record& record) {
                    const auto* timed = std::get_if<std::pair<SampleKey, Sample>>(&record);
                    return timed && timed->first.workload == Workload::fresh &&
                           timed->first.candidate == stage;
                });
                EXPECT_EQ(count, workload == "hot" ? 0 : rigor_at(standard, size).rounds);
            }
        }
    }
}
