// asterope-bench locality: what copy and move cost once the data they leave behind is used.
#include "bench/app_commands.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "base/size_text.hpp"
#include "bench/apps/locality.hpp"
#include "bench/apps/steps.hpp"
#include "bench/routine.hpp"
#include "machine/affinity.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

constexpr std::array<const char*, 7> kNames = {"systemSize", "numSubsystems", "elemsPerSubsys",
                                               "elemSize",   "churnCount",    "accessCount",
                                               "repCount"};

struct Options {
    RoutineOptions routine{.rounds = 9};
    std::array<std::string, 7> parameters; ///< in the order of kNames
    int preset = 0;
    std::string csv;
};

LocalityRequest read_parameters(const std::array<std::string, 7>& texts) {
    LocalityRequest request;
    std::optional<std::size_t>* const values[] = {
        &request.systemSize, &request.numSubsystems, &request.elemsPerSubsys, &request.elemSize,
        &request.churnCount, &request.accessCount,   &request.repCount};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty() || texts[i] == ".") continue;
        try {
            *values[i] = parse_size(texts[i]);
        } catch (const BadInput&) {
            throw BadInput(std::string(kNames[i]) + " '" + texts[i].substr(0, 40) +
                           "' is no number from 1 up: write one, with K, M or G for powers of "
                           "1024, or '.'");
        }
    }
    return request;
}

/// The rows that the memory has room for. Throws BadInput where that is none.
std::vector<Locality> that_fit(std::vector<Locality> rows, const Machine& machine) {
    const std::size_t first = rows[0].systemSize, usable = usable_bytes(machine);
    std::erase_if(rows, [&](const Locality& row) { return memory_of(row) > usable; });
    if (!rows.empty()) return rows;
    throw too_large("systemSize " + format_size(first) + " and what manages it need", machine);
}

std::string csv_header() {
    std::string line;
    for (const char* name : kNames) line += std::string(name) + ',';
    for (const std::string step : {"churn", "access", "total"}) {
        for (const char* column : {"_libc_ms", "_routine_ms", "_move_ms", "_routine_percent",
                                   "_routine_low", "_routine_high", "_move_percent", "_move_low",
                                   "_move_high", "_floor_low", "_floor_high"}) {
            line += step + column + ',';
        }
    }
    line.back() = '\n';
    return line;
}

std::string csv_line(const Locality& row, const LocalityResult& result) {
    std::string line;
    for (const std::size_t value : {row.systemSize, row.numSubsystems, row.elemsPerSubsys,
                                    row.elemSize, row.churnCount, row.accessCount, row.repCount}) {
        line += std::to_string(value) + ',';
    }
    for (const LocalityStep* step : {&result.churn, &result.access, &result.total}) {
        char text[32];
        for (const double milliseconds : {step->libc * 1e3, step->ours * 1e3, step->move * 1e3}) {
            std::snprintf(text, sizeof text, "%.6g,", milliseconds);
            line += text;
        }
        for (const double ratio :
             {step->ours_by_libc.median, step->ours_by_libc.low, step->ours_by_libc.high,
              step->move_by_libc.median, step->move_by_libc.low, step->move_by_libc.high,
              step->floor.low, step->floor.high}) {
            std::snprintf(text, sizeof text, "%.2f,", ratio * 100);
            line += text;
        }
    }
    line.back() = '\n';
    return line;
}

/// "97..105" for a ratio's interval.
std::string percents(const Estimate& ratio) {
    char text[64];
    std::snprintf(text, sizeof text, "(%.0f..%.0f)", ratio.low * 100, ratio.high * 100);
    return text;
}

/// What is compared, and the table's head.
void print_head(const RoutineOptions& routine, const Machine& machine, int test, int cpu,
                const Locality& row, bool default_reps, std::size_t left_out) {
    const std::string& symbol = routine.symbol;
    std::printf("%s and move against the copy of %s: %s%d paired rounds, CPU %d.\n"
                "elemSize %zu, churnCount %zu, accessCount %zu. Below 100 %%: faster than "
                "libc's copy; floor: libc's copy against itself.\n",
                symbol.c_str(), machine.libc.c_str(),
                test ? ("P2329, test " + std::to_string(test) + ", ").c_str() : "", routine.rounds,
                cpu, row.elemSize, row.churnCount, row.accessCount);
    if (default_reps) {
        std::printf("repCount is that of the paper's tests divided by 64, at least 2; "
                    "--repCount sets another.\n");
    }
    if (left_out) {
        std::printf("%zu rows are left out: there is no memory for their systems.\n", left_out);
    }
    std::printf("\n%52s | %-17s | %-31s | %-31s |\n", "", "libc's copy, ms",
                (symbol + ", % of libc's copy").c_str(), "move, % of libc's copy");
    std::printf("%10s %13s %14s %12s | %8s %8s | %5s %6s %5s %-12s | %5s %6s %5s %-12s | %s\n",
                "systemSize", "numSubsystems", "elemsPerSubsys", "repCount", "churn", "access",
                "churn", "access", "total", "(low..high)", "churn", "access", "total",
                "(low..high)", "floor");
}

void print_row(const Locality& row, const LocalityResult& result) {
    const auto percent = [](const Estimate& ratio) { return ratio.median * 100; };
    std::printf("%10s %13zu %14zu %12zu | %8.3f %8.3f | %5.0f %6.0f %5.0f %-12s "
                "| %5.0f %6.0f %5.0f %-12s | %s\n",
                format_size(row.systemSize).c_str(), row.numSubsystems, row.elemsPerSubsys,
                row.repCount, result.churn.libc * 1e3, result.access.libc * 1e3,
                percent(result.churn.ours_by_libc), percent(result.access.ours_by_libc),
                percent(result.total.ours_by_libc), percents(result.total.ours_by_libc).c_str(),
                percent(result.churn.move_by_libc), percent(result.access.move_by_libc),
                percent(result.total.move_by_libc), percents(result.total.move_by_libc).c_str(),
                percents(result.total.floor).c_str());
    std::fflush(stdout);
}

/// In how many rows one of the three loses to another with its whole interval, and where by most.
void print_losses(const std::string& symbol, const std::vector<Locality>& rows,
                  const std::vector<LocalityResult>& results) {
    const struct {
        std::string loser, winner;
        Estimate LocalityStep::*ratio;
    } pairs[] = {{"move", "libc's copy", &LocalityStep::move_by_libc},
                 {"move", symbol, &LocalityStep::move_by_ours},
                 {symbol, "libc's copy", &LocalityStep::ours_by_libc}};
    std::printf("\n");
    for (const auto& [loser, winner, ratio] : pairs) {
        int losses = 0;
        std::size_t worst = 0;
        for (std::size_t i = 0; i < results.size(); ++i) {
            losses += (results[i].total.*ratio).low > 1;
            if ((results[i].total.*ratio).median > (results[worst].total.*ratio).median) worst = i;
        }
        std::printf("%s loses to %s in %d of %zu rows", loser.c_str(), winner.c_str(), losses,
                    rows.size());
        if (losses) {
            std::printf("; worst: %.0f %% in %s of %zu x %zu elements",
                        (results[worst].total.*ratio).median * 100,
                        format_size(rows[worst].systemSize).c_str(), rows[worst].numSubsystems,
                        rows[worst].elemsPerSubsys);
        }
        std::printf("\n");
    }
}

void run(const Options& options) {
    const LocalityRequest request = read_parameters(options.parameters);
    const std::vector<Locality> wanted =
        options.preset ? preset(options.preset, request) : std::vector<Locality>{solve(request)};
    const bool csv_only = options.csv == "-";
    if (!options.csv.empty() && !csv_only) require_writable(options.csv);
    const CopyFunction routine = load_routine(options.routine);
    const Machine machine = read_machine("/", options.routine.cpu);
    const std::vector<Locality> rows = that_fit(wanted, machine);
    const int cpu = pin_to_cpu(options.routine.cpu);
    start_clock(machine.cpu.invariant_tsc);
    catch_interrupts();

    if (csv_only) {
        std::fputs(csv_header().c_str(), stdout);
    } else {
        print_head(options.routine, machine, options.preset, cpu, rows[0], !request.repCount,
                   wanted.size() - rows.size());
    }

    const auto work = [](const Locality& row) {
        return static_cast<double>(row.systemSize) * static_cast<double>(row.repCount) *
               static_cast<double>(row.churnCount + row.accessCount);
    };
    double total_work = 0;
    for (const Locality& row : rows) total_work += work(row) * options.routine.rounds * 4;
    std::string csv = csv_header();
    std::vector<LocalityResult> results;
    MonitoredRounds watched(cpu);
    {
        Progress progress(total_work, false);
        for (const Locality& row : rows) {
            progress.label(format_size(row.systemSize) + " in " +
                           std::to_string(row.numSubsystems));
            results.push_back(compare_locality(
                row, routine, options.routine.rounds, [&] { progress.advance(work(row)); },
                &watched));
            const std::string line = csv_line(row, results.back());
            csv += line;
            progress.clear();
            if (csv_only) {
                std::fputs(line.c_str(), stdout);
            } else {
                print_row(row, results.back());
            }
        }
    }
    std::fflush(stdout);
    watched.warn("these figures are");
    if (csv_only) return;
    if (rows.size() > 1) print_losses(options.routine.symbol, rows, results);
    if (!options.csv.empty()) write_atomically(options.csv, csv);
}

} // namespace

AppCommand add_locality_command(CLI::App& app) {
    // the options must outlive this function, as the parser writes into them
    const auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "locality",
        "what it costs later to move data instead of copying it (the experiment of P2329): "
        "elements "
        "are exchanged among subsystems, by copying their bytes with libc's copy or the routine, "
        "or "
        "by exchanging pointers; then each subsystem reads its elements. One of the first four "
        "parameters is '.' or left out, and computed from the others");
    const std::array<const char*, 7> help = {"bytes of all elements",
                                             "subsystems in the system",
                                             "elements in a subsystem",
                                             "bytes of an element",
                                             "times that all change places in a cycle (default 1)",
                                             "times that all are accessed in a cycle (default 4)",
                                             "cycles (default: as many as go over 32 MiB)"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        const std::string name = kNames[i];
        command->add_option("--" + name + ',' + name, options->parameters[i], help[i])
            ->type_name("N");
    }
    command
        ->add_option("--preset", options->preset,
                     "the paper's test 1 (elements of 128 bytes) or 2 (of 96), system sizes of 8K "
                     "to 32M; parameters that are named as well hold in all rows")
        ->type_name("1|2")
        ->check(CLI::Range(1, 2));
    command->add_option("--csv", options->csv, "write the results there too; '-': to stdout, alone")
        ->type_name("FILE");
    add_options(*command, options->routine);
    return {command, [options] { run(*options); }};
}

} // namespace asterope
