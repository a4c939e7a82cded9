// The trial log: every trial, one JSON object a line, written as it happens.
#include "trial_log.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "error.hpp"

namespace asterope {

TrialLog::TrialLog(const std::filesystem::path& path, const nlohmann::json& header)
    : path_(path), file_(std::fopen(path.c_str(), "we")) {
    if (!file_) {
        throw BadInput("cannot write the log " + path.string() + ": " + std::strerror(errno));
    }
    write_line(header);
}

TrialLog::~TrialLog() {
    std::fclose(file_);
}

void TrialLog::write(std::size_t size, Workload workload, const std::string& candidate,
                     std::uint64_t round, std::size_t calls, double seconds) {
    nlohmann::ordered_json line;
    line["size"] = size;
    line["workload"] = name_of(workload);
    line["candidate"] = candidate;
    line["round"] = round;
    line["calls"] = calls;
    line["ns"] = std::round(seconds * 1e12) / 1e3; // picoseconds are beyond any clock here
    write_line(line);
}

void TrialLog::write_line(const nlohmann::json& line) {
    const std::string text = line.dump() + '\n';
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_)) {
        throw Failure("cannot write the log " + path_.string() + ": " + std::strerror(errno));
    }
}

} // namespace asterope
