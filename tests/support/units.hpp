// Units of bytes for tests.
#pragma once

#include <cstddef>

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
/// The smallest page that there is.
constexpr std::size_t kPage = 4096;
