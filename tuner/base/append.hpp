// Text that grows by formatted pieces, as tables do.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace asterope {

/// As printf, behind `out`; a piece is cut off after 255 characters.
[[gnu::format(printf, 2, 3)]] inline void append(std::string& out, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out += text;
}

} // namespace asterope
