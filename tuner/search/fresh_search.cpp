// Stages are tried with pieces of a few fixed sizes, from 256 KiB to 4 MiB.
#include "search/fresh_search.hpp"

#include "base/size_text.hpp"
#include "space/limits.hpp"

namespace asterope {

namespace {

constexpr std::size_t kPieces[] = {std::size_t{256} << 10, std::size_t{1} << 20,
                                   std::size_t{4} << 20};
constexpr std::size_t kHugePage = std::size_t{2} << 20;

} // namespace

std::string name_of(const PageStage& stage) {
    if (stage.piece == 0) return "no page stage";
    return stage.stage + ' ' + format_size(stage.piece);
}

bool is_page_stage(std::string_view name) {
    return name.starts_with("populate ") || name.starts_with("huge ") ||
           name.starts_with("advise ");
}

int asks_for_huge_pages(const PageStage& stage) {
    return stage.stage == "huge" ? 1 : stage.stage == "advise" ? 2 : 0;
}

bool is_possible(const PageStage& stage) {
    if (stage.stage == "none") return stage.piece == 0;
    return (stage.stage == "populate" || asks_for_huge_pages(stage) > 0) &&
           stage.piece >= kLeastPiece && stage.piece <= kMostPiece &&
           stage.piece % kLeastPiece == 0;
}

std::vector<PageStage> all_page_stages() {
    std::vector<PageStage> stages = {{}};
    for (const std::size_t piece : kPieces) stages.push_back({"populate", piece});
    // A piece below a huge page would ask for the same page again.
    for (const std::size_t piece : {kHugePage, 2 * kHugePage}) stages.push_back({"huge", piece});
    for (const std::size_t piece : {kHugePage, 2 * kHugePage}) stages.push_back({"advise", piece});
    return stages;
}

bool is_tried(const PageStage& stage, std::size_t size) {
    if (stage.piece == 0 || size < kFreshMinimum) return false;
    // A mapping may begin anywhere. In one of twice that size, one huge page lies whole.
    if (asks_for_huge_pages(stage) > 0 && size < 2 * kHugePage) return false;
    return stage.piece == kPieces[0] || stage.piece <= size;
}

} // namespace asterope
