// asterope-bench locality: the cost of copy and move once the data they leave behind is used.
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/command_line.hpp"
#include "base/error.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "bench/apps/locality.hpp"
#include "bench/bench_run.hpp"

namespace asterope {

namespace {

struct LocalityOptions {
    RoutineOptions routine{.rounds = 9};
    std::array<std::string, std::size(kLocalityParameters)> parameters; ///< in that order
    int preset = 0;
    bool uneven = false, packed = false;
    std::string memory; ///< the memory that a system may take; "": as much as is free
};

LocalityRequest read_parameters(const LocalityOptions& options) {
    LocalityRequest request{.uneven = options.uneven, .packed = options.packed};
    for (std::size_t i = 0; i < options.parameters.size(); ++i) {
        const std::string& text = options.parameters[i];
        if (text.empty() || text == ".") continue;
        const LocalityParameter& one = kLocalityParameters[i];
        try {
            request.*one.value = parse_size(text);
        } catch (const BadInput&) {
            throw BadInput(std::string(one.name) + " '" + text.substr(0, 40) +
                           "' is not a number from 1 up: write one, with K, M or G for powers of "
                           "1024, or '.'");
        }
    }
    return request;
}

/// The rows that the memory has room for. Throws BadInput if it has room for no row.
std::vector<Locality> that_fit(std::vector<Locality> rows, std::size_t memory) {
    require_memory(memory_of(rows[0]),
                   "systemSize " + format_size(rows[0].systemSize) + " and what manages it need",
                   memory);
    std::erase_if(rows, [&](const Locality& row) { return memory_of(row) > memory; });
    return rows;
}

/// "(97..105)" for the interval of a ratio, in percent.
std::string percents(const Estimate& ratio) {
    return formatted("(%.0f..%.0f)", ratio.low * 100, ratio.high * 100);
}

/// A row shows the three cells of a system: both steps together, churn, access.
class LocalityTable : public Table {
  public:
    explicit LocalityTable(std::string symbol) : symbol_(std::move(symbol)) {}

    std::string begin() override {
        std::string out =
            formatted("\n%52s | %-17s | %-31s | %-31s |\n", "", "libc's copy, ms",
                      (symbol_ + ", % of libc's copy").c_str(), "move, % of libc's copy");
        out += formatted(
            "%10s %13s %14s %12s | %8s %8s | %5s %6s %5s %-12s | %5s %6s %5s %-12s | %s\n",
            "systemSize", "numSubsystems", "elemsPerSubsys", "repCount", "churn", "access", "churn",
            "access", "total", "(low..high)", "churn", "access", "total", "(low..high)", "floor");
        return out;
    }

    std::string row(const Cell& cell) override {
        cells_.push_back(cell);
        if (cells_.size() < 3) return "";
        const auto [total, churn, access] = std::array{cells_[0], cells_[1], cells_[2]};
        cells_.clear();
        std::string out = total.label;
        out += formatted(" | %8.3f %8.3f", churn.libc().seconds * 1e3, access.libc().seconds * 1e3);
        for (const std::size_t copy : {1, 2}) {
            const auto of_libc = [&](const Cell& step) { return inverse(step.copies[copy].ratio); };
            out += formatted(" | %5.0f %6.0f %5.0f %-12s", 100 * of_libc(churn).median,
                             100 * of_libc(access).median, 100 * of_libc(total).median,
                             percents(of_libc(total)).c_str());
        }
        return out + " | " + percents(inverse(total.floor)) + '\n';
    }

    std::string end() override { return ""; }

  private:
    std::string symbol_;
    std::vector<Cell> cells_; ///< of the row that is not full yet
};

/// Prints the lines above the table: the compared copies, the test, the CPU.
void print_head(const RoutineOptions& routine, const BenchRun& run, int test, int cpu,
                const Locality& row, bool default_reps, std::size_t left_out) {
    std::printf("%s and move against the copy of %s: %s%d paired rounds, CPU %d.\n"
                "elemSize %s%zu%s, churnCount %zu, accessCount %zu. Below 100 %%: faster than "
                "libc's copy; floor: libc's copy against itself.\n",
                routine.symbol().c_str(), run.machine().libc.c_str(),
                test ? ("P2329, test " + std::to_string(test) + ", ").c_str() : "", routine.rounds,
                cpu, row.uneven ? "1 to " : "", row.elemSize, row.packed ? " packed" : "",
                row.churnCount, row.accessCount);
    if (default_reps) {
        std::printf("repCount is that of the paper's tests divided by 64, at least 2; the "
                    "last parameter sets another.\n");
    }
    if (test == 3) {
        std::printf("The paper's systems of 4 to 32 GiB are scaled to what may be taken. The first "
                    "row, as a command:\n  asterope-bench locality %zu . %zu %zu %zu %zu %zu%s%s\n",
                    row.systemSize, row.elemsPerSubsys, row.elemSize, row.churnCount,
                    row.accessCount, row.repCount, row.uneven ? " --uneven" : "",
                    row.packed ? " --packed" : "");
    }
    if (left_out) {
        std::printf("%zu rows are left out: the memory does not suffice for their systems.\n",
                    left_out);
    }
}

/// Prints the number of rows in which move loses to a copy, and the routine to libc's, with the
/// whole interval, and the worst row of each.
void print_losses(const std::string& symbol, const std::vector<Locality>& rows,
                  const std::vector<Cell>& totals) {
    const struct {
        std::string loser, winner;
        std::size_t copy;            ///< the loser
        Estimate CopyResult::*ratio; ///< the winner's time over its own
    } pairs[] = {{"move", "libc's copy", 2, &CopyResult::ratio},
                 {"move", symbol, 2, &CopyResult::versus},
                 {symbol, "libc's copy", 1, &CopyResult::ratio}};
    std::printf("\n");
    for (const auto& [loser, winner, copy, ratio] : pairs) {
        int losses = 0;
        std::size_t worst = 0;
        const auto slowness = [&, copy = copy, ratio = ratio](std::size_t row) {
            return inverse(totals[row].copies[copy].*ratio);
        };
        for (std::size_t i = 0; i < totals.size(); ++i) {
            losses += slowness(i).low > 1;
            if (slowness(i).median > slowness(worst).median) worst = i;
        }
        std::printf("%s loses to %s in %d of %zu rows", loser.c_str(), winner.c_str(), losses,
                    rows.size());
        if (losses) {
            std::printf("; worst: %.0f %% in %s of %zu x %zu elements",
                        slowness(worst).median * 100, format_size(rows[worst].systemSize).c_str(),
                        rows[worst].numSubsystems, rows[worst].elemsPerSubsys);
        }
        std::printf("\n");
    }
}

int run_locality(const LocalityOptions& options) {
    const LocalityRequest request = read_parameters(options);
    const std::size_t given = options.memory.empty() ? 0 : parse_size(options.memory);
    if (!options.preset) solve(request); // refuses it before the routine is loaded
    BenchRun run(options.routine);
    const std::size_t memory = given ? given : usable_memory(run.machine());
    const std::vector<Locality> wanted = options.preset ? preset(options.preset, request, memory)
                                                        : std::vector<Locality>{solve(request)};
    const std::vector<Locality> rows = that_fit(wanted, memory);
    const int cpu = run.start(options.routine.cpu);
    print_head(options.routine, run, options.preset, cpu, rows[0],
               !request.repCount && options.preset != 3, wanted.size() - rows.size());
    run.add({"move", "hands on the data", nullptr}); // no copy: see locality_job
    // 4 entrants: libc, the routine, move, libc again
    for (const Locality& row : rows) run.plan(4 * work_of(row));
    run.begin(std::make_unique<LocalityTable>(options.routine.symbol()));
    std::vector<Cell> totals;
    for (const Locality& row : rows) {
        totals.push_back(run.measure(locality_job(row)).front());
    }
    if (rows.size() > 1) print_losses(options.routine.symbol(), rows, totals);
    run.warn();
    return kDone;
}

} // namespace

Subcommand add_locality_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<LocalityOptions>();
    CLI::App& command = add_command(
        app, "locality",
        "the later cost of data that is moved and not copied (the experiment of P2329): "
        "elements are exchanged among subsystems, by copying their bytes with libc's copy or the "
        "routine, or by exchanging pointers; then each subsystem reads its elements. One of the "
        "first four parameters is '.' or left out, and computed from the others");
    for (std::size_t i = 0; i < options->parameters.size(); ++i) {
        add_option(command, kLocalityParameters[i].name, &options->parameters[i],
                   kLocalityParameters[i].help);
    }
    add_option(command, "--preset", &options->preset,
               "the paper's test 1 (elements of 128 bytes) or 2 (of 96), system sizes of 8K "
               "to 32M, or 3 (of 64, its 4 to 32 GiB scaled to the memory); parameters that are "
               "given as well hold in all rows",
               "1|2|3", {.within = {{1, 3}}});
    add_option(command, "--uneven", &options->uneven,
               "elements of 1 to elemSize bytes instead, each in a place of elemSize");
    add_option(command, "--packed", &options->packed,
               "each element in as few cache lines as elemSize allows, instead of side by side");
    add_option(
        command, "--memory", &options->memory,
        "the memory that a system may take (default: all that is free); more than that needs "
        "swap, and a limit such as systemd-run --scope -p MemoryHigh=1G around this command "
        "keeps the machine alive",
        "SIZE");
    add_options(command, options->routine);
    return {command, [options] {
                return in_child_process(options->routine, [&] { return run_locality(*options); });
            }};
}

} // namespace asterope
