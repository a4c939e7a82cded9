// The trial log: every trial, one JSON object a line, written as it happens.
#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "workload.hpp"

namespace asterope {

/// A file that grows by one line a trial. The first line is the header, an object with "format":
/// "asterope-trials"; each other line has "size" (bytes), "workload", "candidate" (its name, or
/// "libc"), "round", "calls" (copies in this trial) and "ns" (a call).
class TrialLog {
  public:
    /// Replaces `path`. Throws BadInput where it cannot be written.
    TrialLog(const std::filesystem::path& path, const nlohmann::json& header);
    ~TrialLog();
    TrialLog(const TrialLog&) = delete;
    TrialLog& operator=(const TrialLog&) = delete;

    /// Throws Failure where the line cannot be written; those before it stay.
    void write(std::size_t size, Workload workload, const std::string& candidate,
               std::uint64_t round, std::size_t calls, double seconds);

  private:
    void write_line(const nlohmann::json& line);
    std::filesystem::path path_;
    std::FILE* file_;
};

} // namespace asterope
