// The report of a comparison: what a cell says of the copies that beat the routine.
#include "bench/files.hpp"

#include "support/made_up_cells.hpp"
#include "support/unit_test.hpp"

namespace {

Cell cell(double other) {
    return made_up_cell("4 KiB", {{"glibc", 1}, {"asterope", 1}, {"other", other}});
}

} // namespace

TEST(ResultsJson, names_the_copy_that_is_clearly_better_where_there_is_one) {
    const Contenders contenders = {
        {"glibc", "", nullptr}, {"asterope", "", nullptr}, {"other", "", nullptr}};
    const Machine machine;
    const CallStatistics fleet = fleet_statistics();
    const std::vector<Workload> workloads;
    const Setting setting{machine, contenders, fleet, workloads};
    const std::vector<NotTimed> none;
    const auto json = results_json({setting, 3, none, {}}, {cell(1.5), cell(1.01)}, true);
    const auto& results = json.at("results");
    EXPECT_EQ(results.at(0).at("clearly_better"), "other");
    EXPECT_DOUBLE_EQ(results.at(0).at("copies").at("other").at("versus").at("median"), 1.5);
    EXPECT_FALSE(results.at(1).contains("clearly_better"));
}
