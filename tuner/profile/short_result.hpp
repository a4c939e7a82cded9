// The end of a tuning run's output: the gains, the routine in a few rows, its worth in a few
// sentences.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace asterope {

/// A sentence that comes first. It says which copies are mostly faster or slower than libc by more
/// than their own noise. It gives the median ratio of those whose data is as cached and that are as
/// large. It also says in how many cells of its exam, a size in a situation each, the compiled
/// routine is slower.
std::string headline(const Profile& profile, Operation operation);

/// One row a pipeline: up to which size it is used, and libc's time over its own, as the head
/// comment of the routine has it. Then the most GB/s that it reached, and its description in words.
/// The meaning of the columns follows. Neighbours that read the same share a row. Where that leaves
/// more than kMostRows lines, the words tell less. A copy that senses has a row for each of its
/// pipelines.
std::string routine_rows(const Profile& profile, Operation operation);

/// Sentences: how fast the routine is beside libc on average, at best and at worst; its small
/// copies, its entry points for callers who know more, its copies over threads. Then the size of
/// the noise, the losses in the exam of the compiled routine, and the searches that the run left
/// out.
std::string result_sentences(const Profile& profile, Operation operation);

} // namespace asterope
