// The tables that people read: text for each cell as soon as it is measured.
#include "bench/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace asterope {

namespace {

/// Ratios gathered for their geometric mean and their least.
class Gathered {
  public:
    void add(double ratio) {
        logs_ += std::log(ratio);
        least_ = std::min(least_, ratio);
        ++count_;
    }
    int count() const { return count_; }
    double mean() const { return std::exp(logs_ / count_); }
    double least() const { return least_; }

  private:
    double logs_ = 0, least_ = std::numeric_limits<double>::infinity();
    int count_ = 0;
};

std::string factor(double value) {
    std::string text;
    append(text, "%.2f", value);
    return text;
}

std::string floor_text(const Cell& cell) {
    return '(' + factor(cell.floor.low) + ".." + factor(cell.floor.high) + ")";
}

class PlainTable : public Table {
  public:
    PlainTable(const std::string& title, std::size_t longest_label)
        : title_(title),
          label_(static_cast<int>(std::max({title.size(), longest_label, std::size_t{12}}))) {}
    std::string begin() override {
        std::string out;
        append(out, "\n%-*s libc ns/call  ours ns/call  ours GB/s  x libc  (low..high)   floor\n",
               label_, title_.c_str());
        return out;
    }
    std::string row(const Cell& cell) override {
        const CopyResult& ours = cell.routine();
        std::string out;
        append(out, "%-*s %12.1f %13.1f ", label_, cell.label.c_str(), cell.libc().seconds * 1e9,
               ours.seconds * 1e9);
        if (cell.size) {
            append(out, "%10.2f", static_cast<double>(cell.size) / ours.seconds / 1e9);
        } else {
            append(out, "%10s", "");
        }
        append(out, " %7.2f  (%.2f..%.2f)  %s\n", ours.ratio.median, ours.ratio.low,
               ours.ratio.high, floor_text(cell).c_str());
        all_.add(ours.ratio.median);
        return out;
    }
    std::string end() override {
        std::string out;
        if (all_.count() > 1) {
            append(out, "%-*s %45.2f  geometric mean\n", label_, "all", all_.mean());
        }
        return out;
    }

  private:
    std::string title_;
    int label_; ///< width of the first column
    Gathered all_;
};

/// "avx_streaming_prefetch" in lines: "avx", "streaming", "prefetch".
std::vector<std::string> words_of(const std::string& name) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('_', begin), name.size());
        words.push_back(name.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

class PeersTable : public Table {
  public:
    PeersTable(const std::string& title, const Contenders& contenders)
        : title_(title), label_(static_cast<int>(std::max<std::size_t>(title.size(), 15))) {
        columns_.push_back({contenders.front().name, {contenders.front().name, "ns"}});
        for (std::size_t i = 1; i < contenders.size(); ++i) {
            columns_.push_back({contenders[i].name, words_of(contenders[i].name)});
        }
        for (Column& column : columns_) {
            for (const std::string& word : column.words) {
                column.width = std::max(column.width, word.size() + 1);
            }
        }
        columns_.front().width = std::max<std::size_t>(columns_.front().width, 11);
    }

    std::string begin() override {
        std::size_t lines = 0;
        for (const Column& column : columns_) lines = std::max(lines, column.words.size());
        std::string out = "\n";
        for (std::size_t line = 0; line < lines; ++line) {
            const bool last = line + 1 == lines;
            append(out, "%-*s", label_, last ? title_.c_str() : "");
            for (const Column& column : columns_) {
                // names stand on the ground, whatever their height
                const std::size_t above = lines - column.words.size();
                append(out, "%*s", static_cast<int>(column.width),
                       line < above ? "" : column.words[line - above].c_str());
            }
            out.erase(out.find_last_not_of(' ') + 1);
            out += last ? "  floor\n" : "\n";
        }
        return out;
    }

    std::string row(const Cell& cell) override {
        std::string out;
        append(out, "%-*s", label_, cell.label.c_str());
        double best = 1;
        for (const CopyResult& copy : cell.copies) best = std::max(best, copy.ratio.median);
        append(out, "%*.1f", static_cast<int>(columns_.front().width), cell.libc().seconds * 1e9);
        for (std::size_t i = 1; i < columns_.size(); ++i) {
            Column& column = columns_[i];
            const CopyResult* copy = cell.find(column.name);
            std::string text = "-";
            if (copy) {
                text = factor(copy->ratio.median);
                if (copy->ratio.median == best) text += '*';
                column.all.add(copy->ratio.median);
            }
            // the mark hangs over, so that figures stand in line
            const bool marked = text.back() == '*';
            append(out, "%*s", static_cast<int>(column.width) + (marked ? 1 : 0) - carried_,
                   text.c_str());
            carried_ = marked ? 1 : 0;
        }
        append(out, "%*s\n", 2 - carried_ + static_cast<int>(floor_text(cell).size()),
               floor_text(cell).c_str());
        carried_ = 0;
        ++rows_;
        return out;
    }

    std::string end() override {
        std::string out;
        if (rows_ < 2) return out;
        append(out, "%-*s%*s", label_, "all", static_cast<int>(columns_.front().width), "");
        for (std::size_t i = 1; i < columns_.size(); ++i) {
            const Column& column = columns_[i];
            append(out, "%*s", static_cast<int>(column.width),
                   // of some rows only, it would not be comparable
                   column.all.count() == rows_ ? factor(column.all.mean()).c_str() : "-");
        }
        return out + "  geometric mean\n";
    }

  private:
    struct Column {
        std::string name;
        std::vector<std::string> words;
        std::size_t width = 6;
        Gathered all = {};
    };
    std::string title_;
    int label_; ///< width of the first column
    std::vector<Column> columns_;
    int rows_ = 0, carried_ = 0;
};

class WorkloadsTable : public Table {
  public:
    explicit WorkloadsTable(const std::vector<Workload>& workloads)
        : workloads_(workloads), columns_(workloads.size()) {}

    std::string begin() override {
        // what each is, in two lines: those that find the data cached, and those that do not
        std::string cached, uncached;
        std::vector<std::string> names;
        for (const Workload workload : workloads_) {
            const bool hot = workload == Workload::hot || workload == Workload::hot_read;
            std::string& line = hot ? cached : uncached;
            if (!line.empty()) line += "; ";
            line += std::string(name_of(workload)) + ": " + std::string(facts_of(workload).text);
            names.emplace_back(name_of(workload));
        }
        return '\n' + cached + ";\n" + uncached + ".\n" + line_of("x libc", names);
    }

    std::string row(const Cell& cell) override {
        skip_what_is_not_timed_at(cell.size);
        columns_[cells_.size()].add(cell.routine().ratio.median);
        cells_.push_back(factor(cell.routine().ratio.median) + " " + floor_text(cell));
        skip_what_is_not_timed_at(cell.size);
        if (cells_.size() < columns_.size()) return "";
        const std::string line = line_of(cell.label, cells_);
        cells_.clear();
        return line;
    }

    std::string end() override {
        std::vector<std::string> cells;
        for (const Gathered& column : columns_) {
            cells.push_back(column.count() == 0
                                ? "-"
                                : factor(column.mean()) + ", least " + factor(column.least()));
        }
        return line_of("all", cells);
    }

  private:
    void skip_what_is_not_timed_at(std::size_t size) {
        while (cells_.size() < workloads_.size() && !is_timed_at(size, workloads_[cells_.size()])) {
            cells_.push_back("-");
        }
    }
    static std::string line_of(const std::string& label, const std::vector<std::string>& cells) {
        std::string out;
        append(out, "%-9s", label.c_str());
        for (const std::string& cell : cells) append(out, "  %18s", cell.c_str());
        return out + '\n';
    }
    std::vector<Workload> workloads_;
    std::vector<Gathered> columns_;
    std::vector<std::string> cells_; ///< of the row that is not full yet
};

class GridTable : public Table {
  public:
    GridTable(const std::string& title, const std::vector<std::size_t>& columns,
              const Contenders& contenders)
        : title_(title), columns_(columns) {
        for (std::size_t i = 1; i < contenders.size(); ++i) {
            copies_.emplace_back(contenders[i].name, Gathered{});
        }
    }

    std::string begin() override {
        std::string out = "\n" + title_ + ", x libc of " + copies_.front().first +
                          " (source downwards, destination across: bytes past a line)\n";
        append(out, "%-8s", "");
        for (const std::size_t past : columns_) {
            append(out, "%7s", ('+' + std::to_string(past)).c_str());
        }
        return out + '\n';
    }

    std::string row(const Cell& cell) override {
        for (auto& [name, gathered] : copies_) {
            if (const CopyResult* copy = cell.find(name)) gathered.add(copy->ratio.median);
        }
        floor_.add(cell.floor.median);
        // "4 KiB +1 +63" -> "+1"
        const std::size_t destination = cell.label.rfind(' ');
        const std::size_t source = cell.label.rfind(' ', destination - 1) + 1;
        if (line_.empty()) {
            append(line_, "%-8s", cell.label.substr(source, destination - source).c_str());
        }
        append(line_, "%7.2f", cell.routine().ratio.median);
        if (++in_line_ < columns_.size()) return "";
        in_line_ = 0;
        return std::exchange(line_, "") + '\n';
    }

    std::string end() override {
        std::string out;
        if (floor_.count() == 0) return out;
        for (const auto& [name, gathered] : copies_) {
            if (gathered.count() == 0) continue;
            append(out, "%s: geometric mean %.2f, least %.2f\n", name.c_str(), gathered.mean(),
                   gathered.least());
        }
        append(out, "libc against itself: geometric mean %.2f, least %.2f\n", floor_.mean(),
               floor_.least());
        return out;
    }

  private:
    std::string title_;
    std::vector<std::size_t> columns_;
    std::vector<std::pair<std::string, Gathered>> copies_; ///< the routine first
    std::string line_;
    std::size_t in_line_ = 0;
    Gathered floor_;
};

} // namespace

std::unique_ptr<Table> plain_table(const std::string& title, std::size_t longest_label) {
    return std::make_unique<PlainTable>(title, longest_label);
}

std::unique_ptr<Table> peers_table(const std::string& title, const Contenders& contenders) {
    return std::make_unique<PeersTable>(title, contenders);
}

std::unique_ptr<Table> workloads_table(const std::vector<Workload>& workloads) {
    return std::make_unique<WorkloadsTable>(workloads);
}

std::unique_ptr<Table> grid_table(const std::string& title, const std::vector<std::size_t>& columns,
                                  const Contenders& contenders) {
    return std::make_unique<GridTable>(title, columns, contenders);
}

} // namespace asterope
