// The transfer sizes that are evaluated where the user names none.
#include "search/default_sizes.hpp"

#include <set>

#include "space/space.hpp"

namespace asterope {

namespace {
constexpr std::size_t kLargest = std::size_t{32} << 20;
constexpr std::size_t kLine = 64;
} // namespace

std::vector<std::size_t> default_sizes(const std::vector<Cache>& caches) {
    std::set<std::size_t> sizes;
    for (std::size_t size = kMinimumBytes; size <= kLargest; size *= 2) sizes.insert(size);
    for (const Cache& cache : caches) {
        for (const std::size_t eighths : {7, 9}) {
            const std::size_t size = cache.bytes / 8 * eighths / kLine * kLine;
            if (size > kMinimumBytes && size < kLargest) sizes.insert(size);
        }
    }
    return {sizes.begin(), sizes.end()};
}

} // namespace asterope
