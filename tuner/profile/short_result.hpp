// What a tuning run ends with: the routine in a few rows, and what it is worth in a few sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/make_profile.hpp"

namespace asterope {

/// One row a pipeline: up to which size it is used, its tuple, and under each workload that counts
/// libc's time over its own, the geometric mean over the sizes that the row covers; then what the
/// columns mean. Neighbouring sizes with one pipeline share a row; where that leaves more than a
/// dozen rows, those with one RT LT ST PT do, and so on. A copy that senses has a row for cached
/// data and one for uncached data.
std::string routine_rows(const std::vector<Candidate>& space, const PipelineFacts& pipelines,
                         const std::optional<SmallFacts>& small);

/// Sentences: how fast the routine is beside libc on average, at best and at worst; its small
/// copies, its entry points for callers who know more, its copies over threads; how large the noise
/// was; what the exam of the compiled routine found; and what the run left out.
std::string result_sentences(const PipelineFacts& pipelines, const std::optional<SmallFacts>& small,
                             const std::optional<ThreadsFacts>& threads, const LeftOut& left_out,
                             const std::optional<ExamFacts>& exam = std::nullopt);

} // namespace asterope
