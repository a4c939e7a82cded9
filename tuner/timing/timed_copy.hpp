// A copy or a set as a value: the function, its last argument, and its effect on the caches. Also
// libc's functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "machine/libc.hpp"
#include "space/candidates.h"
#include "space/space.hpp"

namespace asterope {

/// Any copy function; libc's ignores the last argument, which is passed in a spare register. A set
/// gets the byte to set as its second argument instead of an address, in the same register.
using CopyFunction = void* (*)(void* destination, const void* source, std::size_t bytes,
                               std::size_t distance);

/// Casts by way of void*, as the functions differ in arguments that one of them never looks at.
template <class Function> CopyFunction as_copy(Function* function) {
    return reinterpret_cast<CopyFunction>(reinterpret_cast<void*>(function));
}

/// A copy to be timed.
struct TimedCopy {
    CopyFunction function = nullptr;
    /// Its last one: prefetch distances (asterope_candidate), or argument_of() what it knows else.
    std::size_t argument = 0;
    int cache_effect = 0; ///< Copies of one number leave the caches alike. See Stopwatch::time.
    /// A small copy calls this beyond its bound. It serves the workloads of small copies, where
    /// `function` is called as an asterope_small_candidate. Others ignore it.
    asterope_candidate large = nullptr;
    std::string name = {}; ///< as logs have it; libc's is "libc"; see reference_copy
    Operation operation = Operation::copy;
    /// Whether it may choose by the state of the caches, as a copy that senses or a whole routine
    /// does, or is compared with such a copy. Its hot samples begin from each state in turn, and
    /// others with untimed calls. See Stopwatch::time.
    bool chooses = false;
    /// Fresh destinations of copies of one number get pages of the same sizes. See Stopwatch::time.
    int pages = 0;

    /// Copies of one number leave the caches alike, and the pages that their program gives back.
    int leaves() const { return 1024 * cache_effect + pages; }

    void operator()(void* destination, const void* source, std::size_t bytes) const {
        function(destination, source, bytes, argument);
    }
};

/// The second argument of a call. A copy gets the source. A set gets zero, the byte that most
/// programs set and the only one that CLZERO can.
class SecondArgument {
  public:
    explicit SecondArgument(const TimedCopy& copy) : sets_(!facts_of(copy.operation).reads) {}
    const char* operator()(const char* source) const { return sets_ ? nullptr : source; }

  private:
    bool sets_;
};

/// The last argument of a copy that knows more than distances, such as an asterope_sensing: the
/// address of that, which must outlive the copy.
template <class Known> std::size_t argument_of(const Known& known) {
    static_assert(sizeof(std::size_t) == sizeof(&known));
    return reinterpret_cast<std::size_t>(&known);
}

/// The copy of a tuple.
TimedCopy timed_copy(const Candidate& candidate);

/// libc's function on `size` bytes, with its effect on the caches; 0: small sizes.
TimedCopy libc_at(std::size_t size, const LibcThresholds& thresholds,
                  Operation operation = Operation::copy);

/// A reference. Logs give it the user's name behind kReferencePrefix, which tells it from
/// candidates. Its cache effect is not known, so it shares its number with no other copy. `index`:
/// its place among the references.
TimedCopy reference_copy(const std::string& name, CopyFunction function, std::size_t index,
                         Operation operation = Operation::copy);
inline constexpr std::string_view kReferencePrefix = "reference ";

/// A small copy that goes on with `large`, which gets `distance`.
TimedCopy small_copy(asterope_small_candidate function, std::size_t distance = 0,
                     asterope_candidate large = nullptr, std::string name = {},
                     Operation operation = Operation::copy);

/// The function of a small copy, or of another copy under the workloads of small copies.
asterope_small_candidate small_function(const TimedCopy& copy);

/// libc's memcpy, as the dynamic linker chose it for this CPU and applications reach it. Compilers
/// cannot inline it.
CopyFunction libc_copy();

/// The same of memmove.
CopyFunction libc_move();

/// The same of the operation's function.
CopyFunction libc_of(Operation operation);

} // namespace asterope
