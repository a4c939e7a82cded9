// Which routine asterope-bench times, and on which CPU: options that all its comparisons share.
#include "bench/routine.hpp"

#include <CLI/CLI.hpp>

#include <dlfcn.h>

#include "error.hpp"

namespace asterope {

void add_options(CLI::App& app, RoutineOptions& options) {
    app.add_option("--routine", options.routine, "shared library with the routine")
        ->type_name("FILE")
        ->capture_default_str();
    app.add_option("--symbol", options.symbol, "its copy function")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--rounds", options.rounds, "rounds a row")
        ->type_name("N")
        ->check(CLI::Range(3, 100000))
        ->capture_default_str();
    app.add_option("--cpu", options.cpu, "run on this CPU instead of the last one allowed")
        ->type_name("N")
        ->check(CLI::Range(0, 99999));
}

CopyFunction load_routine(const RoutineOptions& options) {
    // a name without a slash would be looked for in the system's library folders
    const std::string path =
        options.routine.find('/') == std::string::npos ? "./" + options.routine : options.routine;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw BadInput(std::string("cannot load the routine: ") + dlerror());
    void* symbol = dlsym(library, options.symbol.c_str());
    if (!symbol) {
        throw BadInput(options.routine + " has no function " + options.symbol + ": 'nm -D " +
                       options.routine + "' lists what it has");
    }
    return reinterpret_cast<CopyFunction>(symbol);
}

} // namespace asterope
