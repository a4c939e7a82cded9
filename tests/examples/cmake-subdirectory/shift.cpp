// Writes its standard input behind as many zeros as the argument says: a move within one buffer.
#include "asterope_memcpy.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <vector>

int main(int argc, char** argv) {
    const std::size_t distance = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
    std::vector<char> all(std::istreambuf_iterator<char>(std::cin), {});
    const std::size_t bytes = all.size();
    all.resize(bytes + distance);
    asterope_memmove(all.data() + distance, all.data(), bytes); // the two overlap
    std::fill_n(all.begin(), distance, '\0');
    std::cout.write(all.data(), static_cast<std::streamsize>(all.size()));
    return std::cout.flush() ? 0 : 1;
}
