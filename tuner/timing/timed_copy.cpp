// Makes such values of candidates, small copies, references and libc's functions.
#include "timing/timed_copy.hpp"

#include <cstring>
#include <utility>

#include "timing/cache_effect.hpp"

namespace asterope {

TimedCopy small_copy(asterope_small_candidate function, std::size_t distance,
                     asterope_candidate large, std::string name, Operation operation) {
    return {as_copy(function), distance, 0, large, std::move(name), operation};
}

TimedCopy timed_copy(const Candidate& candidate) {
    return {candidate.variant->copy,    candidate.distance(),
            cache_effect_of(candidate), nullptr,
            candidate.name(),           operation_of(*candidate.variant)};
}

TimedCopy reference_copy(const std::string& name, CopyFunction function, std::size_t index,
                         Operation operation) {
    return {function,
            0,
            kNonTemporal + 1 + static_cast<int>(index),
            nullptr,
            std::string(kReferencePrefix) + name,
            operation};
}

TimedCopy libc_at(std::size_t size, const LibcThresholds& thresholds, Operation operation) {
    const int effect = cache_effect_of_libc(size, thresholds, operation);
    return {libc_of(operation), 0, effect, nullptr, "libc", operation};
}

asterope_small_candidate small_function(const TimedCopy& copy) {
    return reinterpret_cast<asterope_small_candidate>(reinterpret_cast<void*>(copy.function));
}

CopyFunction libc_copy() {
    return libc_of(Operation::copy);
}

// volatile: a compiler that knows that this is memmove could expand or drop the calls
CopyFunction libc_move() {
    static void* (*volatile move)(void*, const void*, std::size_t) = std::memmove;
    return as_copy(move);
}

CopyFunction libc_of(Operation operation) {
    return as_copy(facts_of(operation).space->libc);
}

} // namespace asterope
