// Gathers its standard input in memory, then writes a copy of it that the tuned copy has made.
#include "tuned_copy.hpp"

#include <iostream>
#include <iterator>
#include <vector>

int main() {
    const std::vector<char> all(std::istreambuf_iterator<char>(std::cin), {});
    std::vector<char> copy(all.size());
    tuned::copy(all, copy);
    std::cout.write(copy.data(), static_cast<std::streamsize>(copy.size()));
    return std::cout.flush() ? 0 : 1;
}
