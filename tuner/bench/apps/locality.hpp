// The experiment of P2329, "Move, Copy, and Locality at Scale". Elements change places between the
// subsystems of a system, by copy or by move. They are then accessed at their new places.
//
// After Pablo Halpern's paper (WG21 P2329R0, 2021), its benchmark and its script of tests
// (github.com/phalpern/WG21-halpern, P2329-move_at_scale). Where ours differs, a comment says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "bench/suite.hpp"
#include "timing/timed_copy.hpp"

namespace asterope {

/// The paper's seven parameters, under its names.
struct Locality {
    std::size_t systemSize;     ///< bytes of all elements; the rest of the division is unused
    std::size_t numSubsystems;  ///< subsystems in the system
    std::size_t elemsPerSubsys; ///< elements in each
    std::size_t elemSize;       ///< bytes of each element

    std::size_t churnCount;  ///< times that all elements change places, in one cycle
    std::size_t accessCount; ///< times that each subsystem goes over its elements, in one cycle
    std::size_t repCount;    ///< cycles

    bool uneven = false; ///< elements of 1 to elemSize bytes, in places of elemSize
    bool packed = false; ///< each place in as few cache lines as elemSize allows
};

/// The parameters that were given; the others are computed or have defaults.
struct LocalityRequest {
    std::optional<std::size_t> systemSize{}, numSubsystems{}, elemsPerSubsys{}, elemSize{};
    std::optional<std::size_t> churnCount{}, accessCount{}, repCount{};
    bool uneven = false, packed = false;
};

/// A parameter: its name, its place in a request, and its description.
struct LocalityParameter {
    const char* name;
    std::optional<std::size_t> LocalityRequest::*value;
    const char* help;
};
inline constexpr LocalityParameter kLocalityParameters[] = {
    {"systemSize", &LocalityRequest::systemSize, "bytes of all elements"},
    {"numSubsystems", &LocalityRequest::numSubsystems, "subsystems in the system"},
    {"elemsPerSubsys", &LocalityRequest::elemsPerSubsys, "elements in a subsystem"},
    {"elemSize", &LocalityRequest::elemSize, "bytes of an element"},
    {"churnCount", &LocalityRequest::churnCount,
     "times that all change places in a cycle (default 1)"},
    {"accessCount", &LocalityRequest::accessCount,
     "times that all are accessed in a cycle (default 4; of --preset 3: 8)"},
    {"repCount", &LocalityRequest::repCount,
     "cycles (default: as many as go over 32 MiB, at least 2; of --preset 3: 5)"}};

/// Computes the one of the first four that is missing, from the other three; the counts are 1, 4
/// and default_reps() where they are missing. Throws BadInput unless exactly one of the four is
/// missing and the others are above 0. It does so, too, if the system has no room for one element
/// in each subsystem.
Locality solve(const LocalityRequest& request);

/// So many cycles that their systems add up to 32 MiB, at least 2. The paper's systems add up to 2
/// GiB, in at least 32 cycles. A 64th of that would be one cycle or less from 32 MiB up.
std::size_t default_reps(std::size_t system_size);

/// Bytes that the experiment takes: the elements and the data that manages them. The largest
/// std::size_t if the sum does not fit in one.
std::size_t memory_of(const Locality& parameters);

/// How much is churned and accessed in one run, in bytes.
double work_of(const Locality& parameters);

/// The rows of the paper's test 1 (elements of 128 bytes, two cache lines) or 2 (of 96, one and a
/// half). Systems have 8 KiB to 32 MiB. Each is cut into subsystems of 4, 8, 16 ... elements as
/// long as it has two of them. All elements are churned once and accessed four times.
///
/// Test 3 is of more data than the paper's machine had memory. It has elements of 64 bytes,
/// accessed eight times, in 5 cycles. That is by the paper's text: its published results are of 32
/// accesses and 8 cycles. The paper has systems of 4, 8, 16 and 32 GiB. Ours are the four powers of
/// two that end with the last one to fit in `memory`, with the data that manages it. They are cut
/// into subsystems of 4, 256, 16 Ki ... elements.
///
/// The parameters that `fixed` names hold in all rows, and only rows that agree with them are
/// left. Throws BadInput for another test, for a fixed numSubsystems (the tests compute it) and if
/// no row is left.
std::vector<Locality> preset(int test, const LocalityRequest& fixed, std::size_t memory = 0);

/// Seconds of the two steps, summed over all cycles.
struct LocalityTimes {
    double churn, access;
    double total() const { return churn + access; }
};

/// The system in memory.
///
/// Each subsystem first has its elements' handles and then their data, one after the other, as in
/// the paper. Handles take 32 bytes each, as the paper's vectors do. All of it is in ordinary
/// memory, with the pages that a program's own allocator would get. Scattered data costs address
/// translation too, and huge pages would hide that.
class LocalitySystem {
  public:
    /// Throws Failure where the memory is not to be had.
    explicit LocalitySystem(const Locality& parameters);

    /// Puts new elements in their first places, so that each run starts from the same state.
    void lay_out();

    /// Runs all cycles: churn by `copy`, or by move if that is null, then access. Equal seeds make
    /// equal systems, by copies and by move.
    LocalityTimes run(CopyFunction copy, std::uint64_t seed);

    /// The sum of all elements as their subsystems see them, at any place.
    std::uint64_t checksum() const;

    /// The number of neighbours in a subsystem that are apart in memory.
    std::size_t gaps() const;

  private:
    /// A subsystem's handle of an element. In the paper it is a vector<char> with a polymorphic
    /// allocator, which takes 32 bytes as well.
    struct alignas(32) Element {
        char* data;
        std::size_t size;
    };
    Element* subsystem(std::size_t index) const;
    std::size_t place(std::size_t element) const;
    void draw_orders(std::mt19937_64& random);
    void churn_by_copy(CopyFunction copy);
    void churn_by_move();
    void access();

    Locality parameters_;
    std::size_t stride_; ///< from one subsystem to the next, in bytes
    struct Free {
        void operator()(char* memory) const;
    };
    std::unique_ptr<char, Free> memory_;
    std::vector<char> hole_; ///< the data of the element that waits while others rotate
    /// A rank is an element's index in its subsystem. For each rank: the subsystems, in the order
    /// of rotation.
    std::vector<std::uint32_t> orders_;
};

/// Runs the system with each contender, from the same beginning in the same memory. One without a
/// copy moves: it hands on the elements' data. Times both steps together, churn, and access. Throws
/// Failure where the elements differ at the end of a round, or the memory is not to be had.
Job locality_job(const Locality& parameters);

} // namespace asterope
