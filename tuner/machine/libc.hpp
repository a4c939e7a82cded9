// Which libc this is, and where its memcpy changes its way of copying.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace asterope {

/// The loader this program was started by, such as /lib64/ld-linux-x86-64.so.2; empty if it is
/// linked statically.
std::string program_interpreter();

/// "glibc 2.36", "musl" or "unknown".
std::string read_libc(const std::string& interpreter);

/// glibc 2.33 and later list their tunables as this environment sets them, a line each:
/// "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: 0xffffffffffffffff)".
/// `why`: why they could not be asked for.
std::map<std::string, std::size_t> read_libc_thresholds(const std::string& interpreter,
                                                        std::string& why);

} // namespace asterope
