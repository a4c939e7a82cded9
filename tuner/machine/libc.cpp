// Libc tells its version itself; its loader, run as a program, tells the thresholds.
#include "machine/libc.hpp"

#include <csignal>
#include <cstdio>
#include <link.h>
#include <system_error>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "machine/system_text.hpp"

namespace asterope {

namespace {

/// The text that a program writes to its standard output and error. Where it cannot be run, or
/// takes longer than two seconds: empty, and `why`. No shell runs it, as its words must not be
/// interpreted. It needs no /dev/null, which some systems lack.
std::string output_of(const std::string& program, const std::string& argument, std::string& why) {
    try {
        Pipe pipe;
        const pid_t child = start_program({program, argument}, pipe.writing.get());
        pipe.writing = Descriptor();
        const std::optional<std::string> output = read_until_end(pipe.reading.get(), 2);
        kill(child, SIGKILL); // for one that hangs; one that is done does not feel it
        wait_for_end(child);
        if (!output) why = "takes longer than two seconds";
        return output.value_or("");
    } catch (const std::system_error& error) {
        why = error.code().message();
    } catch (const Failure& error) {
        why = error.what();
    }
    return "";
}

/// Whether this libc's loader knows --list-tunables.
bool lists_tunables() {
#ifdef __GLIBC__
    int major = 0, minor = 0;
    return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(2, 33);
#else
    return false; // musl's loader would take the option for a program to run
#endif
}

/// The text behind `key` in a line.
std::string_view behind(std::string_view line, std::string_view key) {
    const std::size_t place = line.find(key);
    return place == std::string_view::npos ? "" : line.substr(place + key.size());
}

} // namespace

std::string program_interpreter() {
    std::string interpreter;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* found) {
            for (int i = 0; i < object->dlpi_phnum; ++i) {
                const auto& header = object->dlpi_phdr[i];
                if (header.p_type == PT_INTERP)
                    *static_cast<std::string*>(found) =
                        reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
            }
            return 1; // the program itself comes first; the libraries do not matter
        },
        &interpreter);
    return interpreter;
}

std::string read_libc(const std::string& interpreter) {
#ifdef __GLIBC__
    (void)interpreter;
    return std::string("glibc ") + gnu_get_libc_version();
#else
    // musl has no macro to be known by, on purpose; its loader has a name.
    return interpreter.find("ld-musl") != std::string::npos ? "musl" : "unknown";
#endif
}

std::map<std::string, Tunable> parse_tunables(const std::string& listing) {
    std::map<std::string, Tunable> tunables;
    for (const std::string& line : lines_of(listing)) {
        if (!line.starts_with(kTunableGroup)) continue;
        const std::string name =
            line.substr(kTunableGroup.size(), line.find(':') - kTunableGroup.size());
        const auto value = hex_number(behind(line, ": "));
        const auto least = hex_number(behind(line, "(min: "));
        const auto most = hex_number(behind(line, ", max: "));
        if (value && least && most) tunables[name] = {*value, *least, *most};
    }
    return tunables;
}

std::map<std::string, Tunable> read_tunables(const std::string& interpreter, std::string& why) {
    if (interpreter.empty() || !lists_tunables()) return {};
    const std::string listing = output_of(interpreter, "--list-tunables", why);
    if (why.empty() && listing.find("glibc.") == std::string::npos) why = "lists none";
    if (!why.empty()) why = interpreter + " --list-tunables: " + why;
    return parse_tunables(listing);
}

LibcThresholds read_libc_thresholds(const std::string& interpreter, std::string& why) {
    const std::vector<std::string> names = libc_threshold_names();
    if (names.empty()) return {};
    const std::map<std::string, Tunable> tunables = read_tunables(interpreter, why);
    LibcThresholds thresholds;
    for (const std::string& name : names) {
        const auto found = tunables.find(name);
        if (found != tunables.end()) thresholds[name] = found->second.value;
    }
    return thresholds;
}

std::size_t parse_rep_movsb_stop(const std::string& diagnostics) {
    for (const std::string& line : lines_of(diagnostics)) {
        constexpr std::string_view kKey = "x86.cpu_features.rep_movsb_stop_threshold=";
        if (line.starts_with(kKey)) return hex_number(behind(line, "=")).value_or(0);
    }
    return 0;
}

std::size_t read_rep_movsb_stop(const std::string& interpreter) {
    if (interpreter.empty() || !lists_tunables() || libc_threshold_names().empty()) return 0;
    std::string why; // it does not matter: then it is not known
    return parse_rep_movsb_stop(output_of(interpreter, "--list-diagnostics", why));
}

} // namespace asterope
