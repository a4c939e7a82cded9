// Byte counts as people write and read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace asterope {

/// "128", "8K", "8KiB", "32M", "1G" -> bytes; K, M, G are powers of 1024. Throws BadInput for
/// anything else, for 0 and for sizes beyond 63 bits.
std::size_t parse_size(std::string_view text);

/// "128,8K,32M" -> ascending list without repeats. Throws BadInput.
std::vector<std::size_t> parse_size_list(std::string_view text);

/// "128 B", "8 KiB", "32 MiB"; sizes that no unit divides stay in bytes.
std::string format_size(std::size_t bytes);

} // namespace asterope
