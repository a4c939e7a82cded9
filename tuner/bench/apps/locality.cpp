// The experiment of P2329, "Move, Copy, and Locality at Scale": see locality.hpp.
#include "bench/apps/locality.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <span>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/size_text.hpp"
#include "base/text.hpp"
#include "machine/cpu.hpp"
#include "timing/clock.hpp"

namespace asterope {

namespace {

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kHandle = 32;
constexpr std::size_t kLine = 64;

/// The product, or the largest number where that is too large.
std::size_t times(std::size_t a, std::size_t b) {
    std::size_t product;
    return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

std::size_t plus(std::size_t a, std::size_t b) {
    std::size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

/// One more word of a checksum in which the order counts.
std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
    return plus(bytes, to - 1) / to * to;
}

/// Places of elements that lie side by side. `bytes`: from their beginning to the next ones'.
struct Group {
    std::size_t places, bytes;
};

/// A packed group begins at a line. It ends before a place that would touch one line more than its
/// size needs. The paper's outlook has a memory resource that "allocates items in the smallest
/// possible number of cache lines".
Group group_of(const Locality& parameters) {
    const std::size_t size = parameters.elemSize, odd = size % kLine;
    if (!parameters.packed || odd == 0) return {1, size};
    std::size_t places = 1;
    while (places < kLine && places * odd % kLine + odd <= kLine) ++places;
    return {places, rounded_up(times(places, size), kLine)};
}

/// Bytes from a subsystem's handles to its data, and to the next one's handles.
std::size_t handles_of(const Locality& parameters) {
    return rounded_up(times(parameters.elemsPerSubsys, kHandle),
                      parameters.packed ? kLine : kHandle);
}
std::size_t stride_of(const Locality& parameters) {
    const Group group = group_of(parameters);
    const std::size_t groups = plus(parameters.elemsPerSubsys, group.places - 1) / group.places;
    return rounded_up(plus(handles_of(parameters), times(groups, group.bytes)),
                      parameters.packed ? kLine : kHandle);
}

} // namespace

Locality solve(const LocalityRequest& request) {
    for (const LocalityParameter& one : kLocalityParameters) {
        if (request.*one.value != 0) continue;
        throw BadInput(std::string(one.name) + " is 0: it must be at least 1");
    }
    const std::span bound = std::span(kLocalityParameters).first(4);
    const auto missing =
        std::ranges::count_if(bound, [&](const auto& one) { return !(request.*one.value); });
    if (missing != 1) {
        throw BadInput(std::string(missing == 0   ? "all"
                                   : missing == 4 ? "none"
                                                  : "too few") +
                       " of systemSize, numSubsystems, elemsPerSubsys and elemSize are given: give "
                       "three of them, the fourth ('.' or left out) is computed");
    }
    Locality solved{};
    solved.uneven = request.uneven;
    solved.packed = request.packed;
    solved.churnCount = request.churnCount.value_or(1);
    solved.accessCount = request.accessCount.value_or(4);
    std::size_t product = 1; // the product of the given ones, without the size of the whole
    for (const LocalityParameter& one : bound.subspan(1)) {
        product = times(product, (request.*one.value).value_or(1));
    }
    if (product == kMost) throw BadInput("the system is too large to be counted in 64 bits");
    solved.systemSize = request.systemSize.value_or(product);
    const std::size_t quotient = solved.systemSize / product;
    if (quotient == 0) {
        throw BadInput("systemSize " + format_size(solved.systemSize) + " is less than the " +
                       format_size(product) + " that the other parameters need");
    }
    solved.numSubsystems = request.numSubsystems.value_or(quotient);
    solved.elemsPerSubsys = request.elemsPerSubsys.value_or(quotient);
    solved.elemSize = request.elemSize.value_or(quotient);
    solved.repCount = request.repCount.value_or(default_reps(solved.systemSize));
    return solved;
}

std::size_t default_reps(std::size_t system_size) {
    return std::max<std::size_t>(2, (std::size_t{32} << 20) / system_size);
}

std::size_t memory_of(const Locality& parameters) {
    const std::size_t elements = times(parameters.numSubsystems, parameters.elemsPerSubsys);
    const std::size_t system = times(parameters.numSubsystems, stride_of(parameters));
    return plus(plus(system, times(elements, sizeof(std::uint32_t))), parameters.elemSize);
}

double work_of(const Locality& parameters) {
    return static_cast<double>(parameters.systemSize) * static_cast<double>(parameters.repCount) *
           static_cast<double>(parameters.churnCount + parameters.accessCount);
}

std::vector<Locality> preset(int test, const LocalityRequest& fixed, std::size_t memory) {
    if (test < 1 || test > 3) throw BadInput("preset " + std::to_string(test) + ": 1, 2 or 3");
    if (fixed.numSubsystems) {
        throw BadInput("a preset computes numSubsystems: leave it out, or leave out the preset");
    }
    LocalityRequest request = fixed;
    if (!fixed.elemSize) request.elemSize = test == 1 ? 128 : test == 2 ? 96 : 64;
    int first = 13, last = 25;
    if (test == 3) {
        request.accessCount = fixed.accessCount.value_or(8);
        request.repCount = fixed.repCount.value_or(5);
        const std::size_t size = std::max<std::size_t>(*request.elemSize, 1);
        const std::size_t most = memory / (size + kHandle + sizeof(std::uint32_t)) * size;
        last = std::bit_width(most) - 1;
        first = std::max(13, last - 3);
    }
    std::vector<Locality> rows;
    for (int power = first; power <= last; ++power) {
        const std::size_t system_size = std::size_t{1} << power;
        if (fixed.systemSize.value_or(system_size) != system_size) continue;
        request.systemSize = system_size;
        const std::size_t most = system_size / std::max<std::size_t>(*request.elemSize, 1) / 2;
        for (std::size_t elements = 4; elements <= most; elements *= test == 3 ? 64 : 2) {
            if (fixed.elemsPerSubsys.value_or(elements) != elements) continue;
            request.elemsPerSubsys = elements;
            rows.push_back(solve(request));
        }
    }
    if (rows.empty()) {
        throw BadInput("preset " + std::to_string(test) +
                       " has no such row: systemSize is a power of two from " +
                       format_size(std::size_t{1} << first) + " to " +
                       format_size(std::size_t{1} << std::max(first, last)) +
                       ", elemsPerSubsys one from 4 to half of all elements");
    }
    return rows;
}

LocalitySystem::LocalitySystem(const Locality& parameters)
    : parameters_(parameters), stride_(stride_of(parameters)) {
    static_assert(sizeof(Element) == kHandle);
    if (parameters.numSubsystems > std::numeric_limits<std::uint32_t>::max()) {
        throw Failure("a system of more than 2^32 - 1 subsystems is too large");
    }
    try {
        memory_.reset(static_cast<char*>(
            ::operator new (times(parameters.numSubsystems, stride_), std::align_val_t{kLine})));
        hole_.resize(parameters.elemSize);
        orders_.resize(parameters.numSubsystems * parameters.elemsPerSubsys);
    } catch (const std::exception&) { // bad_alloc, or length_error where no vector is so long
        throw Failure("no memory for a system of " + format_size(parameters.systemSize));
    }
    lay_out();
}

void LocalitySystem::Free::operator()(char* memory) const {
    ::operator delete (memory, std::align_val_t{kLine});
}

LocalitySystem::Element* LocalitySystem::subsystem(std::size_t index) const {
    return reinterpret_cast<Element*>(memory_.get() + index * stride_);
}

/// From a subsystem's handles to the place where that element lies at first.
std::size_t LocalitySystem::place(std::size_t element) const {
    const Group group = group_of(parameters_);
    return handles_of(parameters_) + element / group.places * group.bytes +
           element % group.places * parameters_.elemSize;
}

void LocalitySystem::lay_out() {
    // All places differ, so that the checksum finds bytes that were copied short, askew or not at
    // all. The paper does not look, and fills each element with one letter.
    std::uint64_t word = 0;
    for (std::size_t s = 0; s < parameters_.numSubsystems; ++s) {
        Element* elements = subsystem(s);
        char* begin = reinterpret_cast<char*>(elements);
        for (std::size_t e = 0; e < parameters_.elemsPerSubsys; ++e) {
            // its size is a multiplicative hash of its number, the same in each run
            const std::size_t number = s * parameters_.elemsPerSubsys + e;
            const std::size_t any = 1 + (number * 0x9e3779b97f4a7c15u >> 32) % parameters_.elemSize;
            elements[e] = {begin + place(e), parameters_.uneven ? any : parameters_.elemSize};
        }
        // whole words: the last may reach beyond the data, but not beyond the stride
        const char* end = elements[parameters_.elemsPerSubsys - 1].data + parameters_.elemSize;
        for (char* at = elements[0].data; at < end; at += sizeof word) {
            word += 0x9e3779b97f4a7c15u; // 2^64 over the golden ratio: all bytes change
            std::memcpy(at, &word, sizeof word);
        }
    }
}

/// The paper draws the orders inside the timing. That costs as much as copying a small element. It
/// is the same for copy and move, and only pulls all percentages towards 100, so it stays outside.
void LocalitySystem::draw_orders(std::mt19937_64& random) {
    const auto subsystems = static_cast<std::uint32_t>(parameters_.numSubsystems);
    for (std::size_t e = 0; e < parameters_.elemsPerSubsys; ++e) {
        std::uint32_t* order = orders_.data() + e * subsystems;
        // "inside-out" Fisher-Yates; a 32-bit draw is scaled, as a division would take longer
        for (std::uint32_t i = 0; i < subsystems; ++i) {
            const auto other = static_cast<std::uint32_t>((random() >> 32) * (i + 1) >> 32);
            order[i] = order[other];
            order[other] = i;
        }
    }
}

/// Among the elements of one rank, each takes the place of the one before it.
void LocalitySystem::churn_by_copy(CopyFunction copy) {
    const std::uint32_t* order = orders_.data();
    for (std::size_t e = 0; e < parameters_.elemsPerSubsys; ++e) {
        Element waiting{hole_.data(), 0};
        Element* hole = &waiting;
        for (std::size_t i = 0; i < parameters_.numSubsystems; ++i) {
            Element& from = subsystem(*order++)[e];
            copy(hole->data, from.data, from.size, 0);
            hole->size = from.size;
            hole = &from;
        }
        copy(hole->data, waiting.data, waiting.size, 0);
        hole->size = waiting.size;
    }
}

/// The same by handing on the data, as a vector's move assignment does.
void LocalitySystem::churn_by_move() {
    const std::uint32_t* order = orders_.data();
    for (std::size_t e = 0; e < parameters_.elemsPerSubsys; ++e) {
        Element waiting{};
        Element* hole = &waiting;
        for (std::size_t i = 0; i < parameters_.numSubsystems; ++i) {
            Element& from = subsystem(*order++)[e];
            *hole = from;
            from = {}; // it is empty afterwards
            hole = &from;
        }
        *hole = waiting;
    }
}

/// XORs all bytes of each element, and the first byte with the lowest three bits of that, as in the
/// paper.
void LocalitySystem::access() {
    for (std::size_t s = 0; s < parameters_.numSubsystems; ++s) {
        Element* elements = subsystem(s);
        for (std::size_t count = 0; count < parameters_.accessCount; ++count) {
            for (std::size_t e = 0; e < parameters_.elemsPerSubsys; ++e) {
                const Element& element = elements[e];
                char all = 0;
                for (std::size_t i = 0; i < element.size; ++i) all ^= element.data[i];
                element.data[0] ^= all & 7;
            }
        }
    }
}

LocalityTimes LocalitySystem::run(CopyFunction copy, std::uint64_t seed) {
    LocalityTimes times{};
    std::mt19937_64 random(seed);
    clean_vector_state();
    for (std::size_t rep = 0; rep < parameters_.repCount; ++rep) {
        throw_if_interrupted();
        for (std::size_t churn = 0; churn < parameters_.churnCount; ++churn) {
            draw_orders(random);
            const std::uint64_t begin = ticks();
            if (copy) {
                churn_by_copy(copy);
            } else {
                churn_by_move();
            }
            times.churn += seconds_between(begin, ticks());
        }
        const std::uint64_t begin = ticks();
        access();
        times.access += seconds_between(begin, ticks());
    }
    return times;
}

std::uint64_t LocalitySystem::checksum() const {
    std::uint64_t sum = 0;
    for (std::size_t s = 0; s < parameters_.numSubsystems; ++s) {
        for (std::size_t e = 0; e < parameters_.elemsPerSubsys; ++e) {
            const Element& element = subsystem(s)[e];
            std::size_t i = 0;
            for (; i + sizeof sum <= element.size; i += sizeof sum) {
                std::uint64_t word;
                std::memcpy(&word, element.data + i, sizeof word);
                sum = mix(sum, word);
            }
            std::uint64_t rest = 0;
            std::memcpy(&rest, element.data + i, element.size - i);
            sum = mix(sum, rest);
        }
    }
    return sum;
}

std::size_t LocalitySystem::gaps() const {
    std::size_t gaps = 0;
    for (std::size_t s = 0; s < parameters_.numSubsystems; ++s) {
        for (std::size_t e = 1; e < parameters_.elemsPerSubsys; ++e) {
            gaps += subsystem(s)[e].data != subsystem(s)[e - 1].data + (place(e) - place(e - 1));
        }
    }
    return gaps;
}

Job locality_job(const Locality& parameters) {
    const std::string row =
        formatted("%10s %13zu %14zu %12zu", format_size(parameters.systemSize).c_str(),
                  parameters.numSubsystems, parameters.elemsPerSubsys, parameters.repCount);
    Job job{"locality", "locality", {row, "churn", "access"}};
    job.sample_cost = work_of(parameters);
    const auto system = std::make_shared<LocalitySystem>(parameters);
    const auto checksums = std::make_shared<std::map<std::uint64_t, std::uint64_t>>(); // by round
    job.time = [=](const Contender& contender, std::uint64_t round, int) -> PartSeconds {
        system->lay_out();
        const LocalityTimes times = system->run(contender.copy, round);
        const std::uint64_t checksum = system->checksum();
        if (checksums->emplace(round, checksum).first->second != checksum) {
            throw Failure(
                "the checksums disagree: the routine's copies differ from those of libc's "
                "memcpy and move; do not use this routine");
        }
        return {times.total(), times.churn, times.access};
    };
    return job;
}

} // namespace asterope
