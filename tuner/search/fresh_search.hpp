// The page stages by which copies into fresh memory may prepare their destination.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// The page stage before a copy; see scripts/asterope/spaces/fresh.py.
struct PageStage {
    std::string stage = "none"; ///< "none", "populate", "huge" or "advise"
    std::size_t piece = 0;      ///< Bytes that are prepared, then copied, at a time. "none" has 0.
    bool operator==(const PageStage&) const = default;
};

/// "populate 1 MiB"; "no page stage".
std::string name_of(const PageStage& stage);
/// Whether it is the name of a stage other than "none".
bool is_page_stage(std::string_view name);

/// How a stage asks for huge pages, as struct asterope_page_stage takes it; 0: it does not ask.
int asks_for_huge_pages(const PageStage& stage);

/// Whether a routine can have it.
bool is_possible(const PageStage& stage);

/// All that are tried, simplest first. A smaller piece is copied out of a nearer cache, a larger
/// one costs fewer system calls.
std::vector<PageStage> all_page_stages();

/// Whether the stage is worth a try at that size. From kFreshMinimum on, a piece is tried if it is
/// at most the size; so is the smallest one in any case. A huge page must fit whole.
bool is_tried(const PageStage& stage, std::size_t size);

} // namespace asterope
