// What --strict asks of a run's exams.
#include "run/result.hpp"

#include "support/made_up_search.hpp"
#include "support/unit_test.hpp"

TEST(RequireNoLoss, asks_for_an_exam_of_every_operation_and_for_no_loss_in_any) {
    TuningRequest request = made_up_request();
    request.options.operations = {Operation::copy, Operation::set};
    const Machine machine = made_up_machine();
    const Plan plan(request, machine);
    Searches searches;
    for (const Operation one : plan.options.operations) {
        const Plan own(one, plan);
        const HasFeature features = granted_features(machine.cpu, {});
        searches.push_back({own, Spaces(features, false, false, one, Spaces::Invalids()), {}});
    }
    const auto refusal = [&] {
        return refusal_of<Failure>([&] { require_no_loss(searches, "no cc"); }, "passed");
    };
    EXPECT_TRUE(mentions(refusal(), "memcpy was not examined: no cc")) << refusal();
    searches.front().findings.exam = ExamFacts{30, 1, {}};
    EXPECT_TRUE(mentions(refusal(), "memset was not examined: no cc")) << refusal();
    searches.back().findings.exam = ExamFacts{10, 1, {}};
    EXPECT_EQ(refusal(), "passed");
    searches.back().findings.exam->losses = {{4096, "hot", {0.8, 0.7, 0.9}}};
    EXPECT_TRUE(mentions(refusal(), "slower than libc or a reference in 1 of 40")) << refusal();
}
