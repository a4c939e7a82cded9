// The report of a comparison: what a cell says of the copies that beat the routine.
#include "bench/files.hpp"

#include "support/unit_test.hpp"

namespace {

Cell cell(double other) {
    Cell cell{"sizes", "hot", "4 KiB", 4096, 1, "", {1, 0.98, 1.02}, {}};
    for (const auto& [name, ratio] :
         {std::pair("glibc", 1.0), std::pair("asterope", 1.0), std::pair("other", other)}) {
        const Estimate exact{ratio, ratio, ratio};
        cell.copies.push_back({name, 1e-6 / ratio, exact, exact});
    }
    return cell;
}

} // namespace

TEST(ResultsJson, names_the_copy_that_is_clearly_better_where_there_is_one) {
    const Contenders contenders = {
        {"glibc", "", nullptr}, {"asterope", "", nullptr}, {"other", "", nullptr}};
    const Machine machine;
    const std::vector<LeftOutCopy> none;
    const RunFacts facts{machine, 3, Operation::copy, "fleet", contenders, none, {}};
    const auto json = results_json(facts, {cell(1.5), cell(1.01)}, true);
    const auto& results = json.at("results");
    EXPECT_EQ(results.at(0).at("clearly_better"), "other");
    EXPECT_DOUBLE_EQ(results.at(0).at("copies").at("other").at("versus").at("median"), 1.5);
    EXPECT_FALSE(results.at(1).contains("clearly_better"));
}
