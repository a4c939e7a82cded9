// A table is a list of columns; each column has its title, its width and a function of the cell.
#include "bench/table.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace asterope {

namespace {

std::string number(double value, int decimals) {
    return formatted("%.*f", decimals, value);
}

std::string factor(double value) {
    return number(value, 2);
}

/// A column of a table with a row for each cell.
struct Column {
    std::vector<std::string> words; ///< of its header, downwards
    /// The text is right-aligned in this width, the blanks before it included. 0: left-aligned.
    std::size_t width;
    std::function<std::string(const Cell&)> text;
    /// The ratio whose geometric mean the last line has; null if the cell lacks it.
    std::function<const Estimate*(const Cell&)> ratio = nullptr;
    GeometricMean all = {};
    std::function<std::string()> last =
        nullptr; ///< its text of the last line, where it has no ratio
};

class RowsTable : public Table {
  public:
    RowsTable(const std::string& title, std::size_t label, std::vector<Column> columns)
        : title_(title), label_(label), columns_(std::move(columns)) {}

    std::string begin() override {
        std::size_t lines = 0;
        for (const Column& column : columns_) lines = std::max(lines, column.words.size());
        std::string out = "\n";
        for (std::size_t line = 0; line < lines; ++line) {
            out += line_of(line + 1 == lines ? title_ : "", [&](const Column& column) {
                // titles of fewer lines stand on the lowest lines
                const std::size_t above = lines - column.words.size();
                return line < above ? "" : column.words[line - above];
            });
        }
        return out;
    }

    std::string row(const Cell& cell) override {
        ++rows_;
        for (Column& column : columns_) {
            const Estimate* ratio = column.ratio ? column.ratio(cell) : nullptr;
            if (ratio) column.all.add(ratio->median);
        }
        return line_of(cell.label, [&](const Column& column) { return column.text(cell); });
    }

    std::string end() override {
        if (rows_ < 2) return "";
        bool said = false;
        return line_of("all", [&](const Column& column) -> std::string {
            if (column.last) return column.last();
            if (column.width == 0) return std::exchange(said, true) ? "" : "geometric mean";
            if (!column.ratio) return "";
            // a mean of some rows only would not be comparable
            return column.all.count() == rows_ ? factor(column.all.mean()) : "-";
        });
    }

  private:
    template <class Text> std::string line_of(std::string line, const Text& text_of) const {
        std::size_t end = label_; // of the column before
        for (const Column& column : columns_) {
            const std::string text = text_of(column);
            // a mark hangs over, so that figures stand in line
            const bool marked = text.ends_with('*');
            end += column.width ? column.width + marked : 2 + text.size();
            line.resize(std::max(line.size(), end - std::min(end, text.size())), ' ');
            line += text;
            end -= marked;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        return line + '\n';
    }
    std::string title_;
    std::size_t label_; ///< width of the first column
    std::vector<Column> columns_;
    int rows_ = 0;
};

Column times(const std::string& title, std::size_t width, std::size_t which, double a_second) {
    return {{title}, width, [=](const Cell& cell) {
                return number(cell.copies.at(which).seconds * a_second, 1);
            }};
}

Column floors() {
    return {{"floor"}, 0, [](const Cell& cell) { return range_text(cell.floor); }};
}

/// The fastest of the other copies, by name, as there are too many for a column each.
class FastestOthers {
  public:
    std::string row(const Cell& cell) {
        ++rows_;
        Figures figures;
        for (const CopyResult& copy : cell.copies) {
            if (&copy == &cell.libc() || &copy == &cell.routine()) continue;
            figures.emplace_back(copy.ratio.median, copy.copy);
            means_[copy.copy].add(copy.ratio.median);
        }
        return text(std::move(figures));
    }
    std::string means() const {
        Figures figures;
        for (const auto& [name, mean] : means_) {
            if (mean.count() == rows_) figures.emplace_back(mean.mean(), name);
        }
        return "geometric mean: " + text(std::move(figures));
    }

  private:
    using Figures = std::vector<std::pair<double, std::string>>;
    static std::string text(Figures figures) {
        std::ranges::stable_sort(figures, std::greater(), &Figures::value_type::first);
        figures.resize(std::min<std::size_t>(figures.size(), 3));
        return joined(figures,
                      [](const auto& one) { return one.second + ' ' + factor(one.first); });
    }
    std::map<std::string, GeometricMean> means_;
    int rows_ = 0;
};

/// The widest table that can be read: a column for each copy where they fit in.
constexpr std::size_t kWidest = 200;

/// "avx_streaming_prefetch" in lines: "avx", "streaming", "prefetch".
std::vector<std::string> words_of(const std::string& name) {
    const std::vector<std::string_view> words = split(name, '_');
    return {words.begin(), words.end()};
}

/// A row for as many cells as there are columns: the ratio of the routine, and the floor where the
/// columns are `wide`.
class WideTable : public Table {
  public:
    WideTable(std::string head, std::string corner, std::vector<std::string> names,
              std::vector<Workload> workloads = {})
        : head_(std::move(head)), corner_(std::move(corner)), names_(std::move(names)),
          workloads_(std::move(workloads)), wide_(!workloads_.empty()), columns_(names_.size()) {}

    std::string begin() override { return '\n' + head_ + line_of(corner_, names_); }

    std::string row(const Cell& cell) override {
        skip_what_is_not_timed_at(cell.size);
        const Estimate& ratio = cell.routine().ratio;
        columns_[cells_.size()].add(ratio.median);
        cells_.push_back(factor(ratio.median) + (wide_ ? " " + range_text(cell.floor) : ""));
        skip_what_is_not_timed_at(cell.size);
        if (cells_.size() < columns_.size()) return "";
        // "4 KiB +1 +63" -> "+1"
        const std::size_t column = cell.label.rfind(" +"), row = cell.label.find('+');
        const bool grid = column != std::string::npos && row < column;
        return line_of(grid ? cell.label.substr(row, column - row) : cell.label,
                       std::exchange(cells_, {}));
    }

    std::string end() override {
        std::vector<std::string> means, least;
        for (const GeometricMean& column : columns_) {
            means.push_back(column.count() ? factor(column.mean()) : "-");
            least.push_back(column.count() ? factor(column.least()) : "-");
            if (wide_ && column.count()) means.back() += ", least " + least.back();
        }
        return line_of("all", means) + (wide_ ? "" : line_of("least", least));
    }

  private:
    void skip_what_is_not_timed_at(std::size_t size) {
        while (cells_.size() < workloads_.size() && !is_timed_at(size, workloads_[cells_.size()])) {
            cells_.push_back("-");
        }
    }
    std::string line_of(const std::string& label, const std::vector<std::string>& cells) const {
        std::string out = formatted("%-9s", label.c_str());
        for (const std::string& cell : cells)
            out += formatted("  %*s", wide_ ? 18 : 5, cell.c_str());
        return out + '\n';
    }
    std::string head_, corner_;
    std::vector<std::string> names_;
    std::vector<Workload> workloads_; ///< of the columns, if each is one
    bool wide_;
    std::vector<GeometricMean> columns_;
    std::vector<std::string> cells_; ///< of the row that is not full yet
};

} // namespace

std::string mean_text(const std::string& what, const GeometricMean& ratios) {
    return what + ": geometric mean " + factor(ratios.mean()) + ", least " + factor(ratios.least());
}

std::unique_ptr<Table> plain_table(const std::string& title, std::size_t longest_label,
                                   TimeUnit unit) {
    const auto routine = [](const Cell& cell) { return &cell.routine().ratio; };
    const auto throughput = [](const Cell& cell) {
        const auto bytes = static_cast<double>(cell.size);
        return cell.size ? number(bytes / cell.routine().seconds / 1e9, 2) : "";
    };
    const bool calls = unit == TimeUnit::nanoseconds;
    std::vector<Column> columns = {
        calls ? times("libc ns/call", 13, 0, 1e9) : times("libc us", 10, 0, 1e6),
        calls ? times("ours ns/call", 14, 1, 1e9) : times("ours us", 10, 1, 1e6),
        {{"ours GB/s"}, 11, throughput},
        {{"x libc"}, 8, [=](const Cell& cell) { return factor(routine(cell)->median); }, routine},
        {{"(low..high)"}, 0, [=](const Cell& cell) { return range_text(*routine(cell)); }},
        floors()};
    columns.back().words = {" floor"};
    const std::size_t label = std::max({title.size(), longest_label, std::size_t{12}});
    return std::make_unique<RowsTable>(title, label, std::move(columns));
}

std::unique_ptr<Table> peers_table(const std::string& title, const Contenders& contenders) {
    const std::string& libc = contenders.front().name;
    std::vector<Column> columns = {times("ns", std::max<std::size_t>(11, libc.size() + 1), 0, 1e9)};
    columns.front().words = {libc, "ns"};
    for (std::size_t i = 1; i < contenders.size(); ++i) {
        const std::string& name = contenders[i].name;
        const auto ratio = [name](const Cell& cell) {
            const CopyResult* copy = cell.find(name);
            return copy ? &copy->ratio : nullptr;
        };
        Column column{words_of(name), 6, [ratio](const Cell& cell) -> std::string {
                          const Estimate* own = ratio(cell);
                          if (!own) return "-";
                          double best = 1;
                          for (const CopyResult& copy : cell.copies) {
                              best = std::max(best, copy.ratio.median);
                          }
                          return factor(own->median) + (own->median == best ? "*" : "");
                      }};
        column.ratio = ratio;
        for (const std::string& word : column.words) {
            column.width = std::max(column.width, word.size() + 1);
        }
        columns.push_back(std::move(column));
    }
    columns.push_back(floors());
    const std::size_t label = std::max<std::size_t>(title.size(), 15);
    std::size_t width = label + 14; // with the floor
    for (const Column& column : columns) width += column.width;
    if (width > kWidest) {
        columns.resize(2); // libc and the routine
        columns.push_back({{"floor"}, 15, floors().text});
        const auto others = std::make_shared<FastestOthers>();
        columns.push_back({{"the best others"},
                           0,
                           [others](const Cell& cell) { return others->row(cell); },
                           nullptr,
                           {},
                           [others] { return others->means(); }});
    }
    return std::make_unique<RowsTable>(title, label, std::move(columns));
}

std::unique_ptr<Table> workloads_table(const std::vector<Workload>& workloads) {
    // the workloads in two lines: those that find the data cached, and the others
    std::string cached, uncached;
    std::vector<std::string> names;
    for (const Workload workload : workloads) {
        std::string& line = is_uncached(workload) ? uncached : cached;
        if (!line.empty()) line += "; ";
        line += name_of(workload) + ": " + std::string(facts_of(workload).text);
        names.emplace_back(name_of(workload));
    }
    return std::make_unique<WideTable>(cached + ";\n" + uncached + ".\n", "x libc", names,
                                       workloads);
}

std::unique_ptr<Table> grid_table(const std::string& title,
                                  const std::vector<std::size_t>& columns) {
    std::vector<std::string> names;
    for (const std::size_t past : columns) names.push_back('+' + std::to_string(past));
    return std::make_unique<WideTable>(
        title + ", x libc (source downwards, destination across: bytes past a line)\n", "", names);
}

} // namespace asterope
