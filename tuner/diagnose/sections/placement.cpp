// What it matters whether buffers are on the heap, static, on the stack or in shared memory.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/size_text.hpp"
#include "diagnose/comparison.hpp"
#include "diagnose/mapping.hpp"
#include "diagnose/sections.hpp"

namespace asterope::diagnosis {

namespace {

constexpr std::size_t kPage = 4096;

std::size_t page_offset(const char* at) {
    return reinterpret_cast<std::uintptr_t>(at) % kPage;
}

/// Room in which a source and a destination of `size` have the page offsets that all places share.
constexpr std::size_t room_for(std::size_t size) {
    return 2 * (size + kRoaming) + 2 * kPage + kPhase;
}

struct Freed {
    void operator()(char* memory) const { std::free(memory); }
};
using Heap = std::unique_ptr<char, Freed>;

Heap allocate(std::size_t bytes) {
    Heap memory(static_cast<char*>(std::malloc(bytes)));
    if (!memory) throw std::bad_alloc();
    fill_with_data(memory.get(), bytes);
    return memory;
}

/// The conditions of one size: each place at equal page offsets, then where its buffers happen to
/// lie.
class Places {
  public:
    explicit Places(std::size_t size) : group_{format_size(size), size, {}} {}

    void add_equal(const char* place, char* room) {
        char* source = room + (kPage - page_offset(room)) % kPage;
        char* destination = source + (group_.size + kRoaming + kPage - 1) / kPage * kPage + kPhase;
        add(std::string(place) + ", equal offsets", place, source, destination,
            repeated(destination, source, group_.size));
    }

    void add_natural(const char* place, char* source, char* destination) {
        add(std::string(place) + ", natural", place, source, destination,
            [=, size = group_.size](const Copy& copy, std::size_t calls, std::uint64_t) {
                for (std::size_t i = 0; i < calls; ++i) copy(destination, source, size);
            });
    }

    const Group& group() const { return group_; }

  private:
    void add(const std::string& label, const char* place, const char* source,
             const char* destination, Run run) {
        const std::size_t difference = (page_offset(destination) - page_offset(source)) % kPage;
        group_.conditions.push_back({label,
                                     "heap, equal offsets",
                                     {{"place", place},
                                      {"source_offset", page_offset(source)},
                                      {"destination_offset", page_offset(destination)},
                                      {"difference", difference}},
                                     std::move(run)});
    }

    Group group_;
};

/// In a function of its own and never inlined: its frame holds the buffers on the stack.
template <std::size_t Size>
[[gnu::noinline]] std::vector<Comparison> measure(const Context& context, double share) {
    static char static_room[room_for(Size)], static_source[Size], static_destination[Size];
    char stack_room[room_for(Size)], stack_source[Size], stack_destination[Size];
    // written once, so that no timed copy meets a page for the first time
    fill_with_data(static_room, sizeof static_room);
    fill_with_data(static_source, Size);
    fill_with_data(static_destination, Size);
    fill_with_data(stack_room, sizeof stack_room);
    fill_with_data(stack_source, Size);
    fill_with_data(stack_destination, Size);
    const Heap heap_room = allocate(room_for(Size));
    const Heap heap_source = allocate(Size), heap_destination = allocate(Size);
    const Mapping shared_room(room_for(Size), Pages::shared);
    const Mapping shared_source(Size, Pages::shared), shared_destination(Size, Pages::shared);

    Places places(Size);
    places.add_equal("heap", heap_room.get());
    places.add_equal("static", static_room);
    places.add_equal("stack", stack_room);
    places.add_equal("shared", shared_room.data());
    places.add_natural("heap", heap_source.get(), heap_destination.get());
    places.add_natural("static", static_source, static_destination);
    places.add_natural("stack", stack_source, stack_destination);
    places.add_natural("shared", shared_source.data(), shared_destination.data());
    Context part = context;
    part.advance = [&](double done) { context.advance(done * share); };
    return compare({places.group()}, part);
}

} // namespace

Section placement(const Context& context) {
    Section section;
    section.question = "does it matter whether buffers are on the heap, static, on the stack or in "
                       "shared memory?";
    std::vector<Comparison> comparisons = measure<1 << 10>(context, 1.0 / 3);
    for (const auto& more :
         {measure<8 << 10>(context, 1.0 / 3), measure<128 << 10>(context, 1.0 / 3)}) {
        comparisons.insert(comparisons.end(), more.begin(), more.end());
    }
    std::string differences;
    for (const Comparison& comparison : comparisons) {
        if (comparison.label.find("natural") == std::string::npos) continue;
        differences += (differences.empty() ? "" : ", ") +
                       comparison.keys["place"].get<std::string>() + ' ' + comparison.group + " +" +
                       comparison.keys["difference"].dump();
    }
    section.notes.push_back("natural destinations past their sources modulo 4096: " + differences);
    section.notes.push_back("equal offsets: " + std::to_string(kPhase) +
                            " past; shared memory is on small pages");
    fill(section, comparisons);
    return section;
}

} // namespace asterope::diagnosis
