// The choices as tables: one printer for all kinds of copies of all operations.
#pragma once

#include <string>

#include "profile/profile.hpp"

namespace asterope {

/// The choices of an operation, a table for each kind and intent. A row has the copy that sizes up
/// to so many bytes take. Libc's time over its own follows, all workloads together and by workload.
/// Then comes the most GB/s that it reached under any of them. The last columns tell how far to
/// trust it: the runner-up's time over the winner's, how many others tie with it, and the noise
/// floor. That is libc's time over libc's, or its inverse: the end of an interval that is farthest
/// from 1.
///
/// A copy that senses has a row more for each of its pipelines. Other kinds than pipelines have a
/// row for each runner-up.
std::string choices_tables(const Profile& profile, Operation operation);

/// One row a size: under each workload the time of the fastest of libc and the references over the
/// winner's, and which one that is. Empty without references.
std::string references_table(const Profile& profile, Operation operation);

/// The time that a run of `seconds` spent on each of its phases and on the rest, in seconds and as
/// shares. Then it says whether verification and calibration keep to a tenth of it.
std::string timings_table(const TimeAccount& phases, double seconds);

} // namespace asterope
