// Steps of a search have one name each in the log; other words name no step.
#include "timing/step.hpp"

#include "support/unit_test.hpp"

TEST(Steps, are_read_as_they_are_written) {
    const std::pair<LoggedStep, const char*> steps[] = {
        {{Step::calibration}, "calibration"},
        {{Step::pipelines, 4096}, "pipelines 4096"},
        {{Step::small}, "small copies"},
        {{Step::small, 0, "bound"}, "small copies bound"},
        {{Step::small, 256, "bound"}, "small copies bound 256"},
        {{Step::overlapping}, "overlapping buffers"},
        {{Step::sensing, 65536}, "sensing 65536"},
        {{Step::boundaries, 6144, "hot"}, "boundary hot 6144"},
        {{Step::aliased, 512}, "aliased 512"},
        {{Step::threads, 1 << 20}, "threads 1048576"},
        {{Step::pipelines, 4096, "", Operation::set}, "memset pipelines 4096"},
        {{Step::exam, 512, "1", Operation::set}, "memset exam 1 512"},
        {{Step::exam, 0, "2"}, "exam 2"},
    };
    for (const auto& [step, name] : steps) {
        EXPECT_EQ(step.name(), name);
        EXPECT_EQ(parse_step(name), step);
    }
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
        EXPECT_EQ(kSteps[i].step, static_cast<Step>(i));
        EXPECT_EQ(find_step(kSteps[i].title), kSteps[i].step);
    }
    EXPECT_EQ(kSteps.back().step, Step::run_off);
}

TEST(Steps, are_none_where_the_name_is_another) {
    for (const char* name :
         {"", "pipeline 4096", "pipelines 4K", "pipelines 0", "pipelines ", "pipelines  4096",
          "threads of gold", "aliased -1", "small copies ", "memcpy pipelines 4096",
          "memset memset pipelines 4096", "memset nothing"}) {
        EXPECT_FALSE(parse_step(name)) << name;
        EXPECT_FALSE(find_step(std::string(name) + '?')) << name;
    }
}
