// The copies that are timed side by side: those asked for, if they are there and copy right.
#pragma once

#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "bench/peers/peers.hpp"
#include "bench/routine.hpp"

namespace CLI {
class App;
}

namespace asterope {

struct PeerOptions {
    std::vector<std::string> peers, references; ///< each --peer, each --reference
};

/// --peer and --reference.
void add_options(CLI::App& app, PeerOptions& options);

/// A line for each built-in copy: its name, and its description or the reason why it is left out.
std::string list_peers();

/// The copies that are timed, and the left-out ones with their reasons.
struct Selection {
    Contenders contenders;
    std::vector<NotTimed> left_out;
};

/// libc's function of the operation. `libc`: as in choose().
Contender libc_contender(const std::string& libc, Operation operation);

/// The routine, with the memmove of the same library, if it has one. Throws what routine_library()
/// throws, BadInput where it cannot be loaded or lacks the function, Failure where it copies wrong.
Contender routine_contender(const RoutineOptions& routine);

/// Loads and checks all, as functions of the routine's operation. `libc`: its name and version,
/// "glibc 2.36". Throws BadInput for options that cannot be read, and for built-in copies where
/// sets are timed. It does so for two copies of one name, and for a reference that cannot be used.
/// Throws Failure where the routine itself copies wrong. A peer is left out where it is missing,
/// lacks the symbol, copies wrong, crashes or hangs.
///
/// Threaded copies have started their threads after this. So call it before pin_to_cpu(): threads
/// inherit the CPUs of the thread that starts them.
Selection choose(const PeerOptions& peers, const RoutineOptions& routine, const std::string& libc);

/// Throws Failure, with the name of the first contender that copies wrongly after its timed calls.
void require_still_right(const Contenders& contenders, Operation operation);

} // namespace asterope
