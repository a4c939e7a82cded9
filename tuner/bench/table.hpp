// The tables that people read: text for each cell, right after it is measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "bench/cell.hpp"
#include "bench/contender.hpp"
#include "timing/workload.hpp"

namespace asterope {

/// One table, asked for its text in this order: begin(), row() for each cell, end(). All text is
/// whole lines, or empty where more must be known first.
class Table {
  public:
    virtual ~Table() = default;
    virtual std::string begin() = 0;
    virtual std::string row(const Cell& cell) = 0;
    virtual std::string end() = 0;
};

/// The unit of times: calls take nanoseconds, the work of applications microseconds.
enum class TimeUnit { nanoseconds, microseconds };

/// libc and the routine: a row a cell, with times, the ratio and its interval, the geometric mean
/// last. `longest_label`: in characters.
std::unique_ptr<Table> plain_table(const std::string& title, std::size_t longest_label = 0,
                                   TimeUnit unit = TimeUnit::nanoseconds);

/// "what: geometric mean 1.21, least 1.12".
std::string mean_text(const std::string& what, const GeometricMean& ratios);

/// Any number of copies: a row a cell, a column a copy with libc's time over its own, libc's time
/// and the floor. The best of each row is marked, unless it is libc; the geometric mean comes last.
/// A dash stands for a copy that did not run. Where that would be wider than 200 characters, the
/// best three others of each row stand there by name instead.
std::unique_ptr<Table> peers_table(const std::string& title, const Contenders& contenders);

/// libc and the routine under several workloads. The cells of one size are a row, those of one
/// workload a column. Each has the ratio and the floor.
std::unique_ptr<Table> workloads_table(const std::vector<Workload>& workloads);

/// Cells of a grid, `columns` to a row, row by row. Each has the routine's ratio to libc. Then come
/// the mean and the least of each column. Labels are "4 KiB +1 +63": source, destination.
std::unique_ptr<Table> grid_table(const std::string& title,
                                  const std::vector<std::size_t>& columns);

} // namespace asterope
