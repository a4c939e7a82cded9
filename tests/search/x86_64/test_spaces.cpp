// The spaces of one run: all that copies right, and an extension that leads nowhere else.
#include "search/spaces.hpp"

#include "machine/cpu.hpp"
#include "support/kinds.hpp"
#include "support/unit_test.hpp"

namespace {

/// The features of a made-up CPU; this one may lack them.
HasFeature only(std::vector<std::string> features) {
    Cpu cpu;
    cpu.features = std::move(features);
    return granted_features(cpu);
}

const Spaces& plain() {
    static const Spaces spaces(only({}), true, true);
    return spaces;
}

std::vector<std::string> names(const Spaces& spaces, const std::vector<Entrant>& entrants) {
    std::vector<std::string> names;
    for (const Entrant entrant : entrants) {
        names.push_back(spaces.space.at(entrant.index()).name());
    }
    return names;
}

std::vector<std::string> names(const std::vector<Candidate>& space) {
    std::vector<std::string> names;
    for (const Candidate& candidate : space) names.push_back(candidate.name());
    return names;
}

Entrant named(const Spaces& spaces, const std::string& name) {
    const auto found = std::ranges::find(spaces.space, name, &Candidate::name);
    EXPECT_NE(found, spaces.space.end()) << name;
    return Entrant(found - spaces.space.begin());
}

} // namespace

TEST(Spaces, have_the_papers_first_as_the_only_entrants_and_no_others_unless_asked_for) {
    const std::vector<Candidate> paper = paper_space(only({})), more = extension_space(only({}));
    ASSERT_EQ(plain().space.size(), paper.size() + more.size());
    EXPECT_EQ(names(plain(), plain().entrants), names(paper));
    EXPECT_EQ(plain().space.back().name(), more.back().name());
    EXPECT_TRUE(plain().invalid.empty());
    EXPECT_FALSE(plain().members("small").empty());
    EXPECT_FALSE(plain().members("aliased").empty());
    EXPECT_EQ(plain().members("overlapping").size(), 1u); // of 16-byte registers
    const Spaces alone(only({}), false, false);
    EXPECT_EQ(names(alone.space), names(paper));
    EXPECT_FALSE(alone.extension.neighbours || alone.extension.distance_grid);
    EXPECT_TRUE(alone.members("probes").empty());
}

TEST(Spaces, lead_from_each_entrant_to_what_lies_around_it_and_to_its_grid_of_distances) {
    const std::vector<Candidate>& space = plain().space;
    for (const char* name : {"XMM T NT T0 4 8", "XMM T T none 0 0", "XMM T T NTA 14 30",
                             "R64 T NT T0 4 8", "XMM T NT T0 8 8 TB8", "XMM T T T0 4 8 PI2"}) {
        const Entrant one = named(plain(), name);
        const Candidate& candidate = space[one.index()];
        const auto grid = plain().extension.distance_grid(candidate);
        EXPECT_EQ(std::count(grid.begin(), grid.end(), one), 1);
        EXPECT_EQ(names(plain(), grid), names(distance_grid(candidate, only({}))));
        if (one >= std::ssize(plain().entrants)) continue;
        const auto around = plain().extension.neighbours(candidate);
        EXPECT_EQ(around.empty(), name[0] == 'R') << name;
        EXPECT_EQ(names(plain(), around), names(neighbours(candidate, only({}))));
        for (const Entrant entrant : around) EXPECT_GE(entrant, std::ssize(plain().entrants));
    }
}

TEST(Spaces, of_sets_have_all_that_this_cpu_runs_and_nothing_of_copies) {
    const Spaces sets(only({}), false, false, Operation::set);
    EXPECT_EQ(names(sets.space), names(paper_space(only({}), asterope_sets)));
    EXPECT_EQ(sets.entrants.size(), sets.space.size());
    EXPECT_EQ(sets.members("small"), copies_of(kSmallSets, only({})));
    EXPECT_TRUE(sets.members("aliased").empty() && sets.members("overlapping").empty());
    EXPECT_TRUE(sets.members("probes").empty());
}

// Facts that are taken from an earlier run are not checked: this CPU may lack what those candidates
// need.
TEST(Spaces, of_an_earlier_run_leave_out_what_copied_wrongly_there) {
    const std::string wrong = "XMM T NT T0 4 8";
    const Spaces spaces(only({"avx512f", "movdir64b"}), true, true, Operation::copy,
                        Spaces::Invalids{{wrong, "wrong byte 3"}});
    EXPECT_EQ(spaces.invalid.size(), 1u);
    EXPECT_EQ(spaces.entrants.size(), paper_space(only({"avx512f", "movdir64b"})).size() - 1);
    const auto found = names(spaces, spaces.entrants);
    EXPECT_EQ(std::count(found.begin(), found.end(), wrong), 0);
    const Entrant one = named(spaces, "XMM T NT T0 4 10");
    const Spaces copy = spaces;
    const auto distance_grid =
        names(spaces, copy.extension.distance_grid(copy.space.at(one.index())));
    EXPECT_EQ(distance_grid.size(), 7u * 16 - 1);
    EXPECT_EQ(std::count(distance_grid.begin(), distance_grid.end(), wrong), 0);
    EXPECT_EQ(spaces.members("probes"), plain().members("probes"));
}
