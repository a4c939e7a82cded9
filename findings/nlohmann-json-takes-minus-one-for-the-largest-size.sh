#!/usr/bin/env bash
# nlohmann/json says that -1 equals 18446744073709551615, and its diff of the two is empty.
#
# Version: nlohmann-json3-dev 3.11.2-2 (Debian 12).
# Expected: the reference of operator== says that values are equal if they are of the same type and
#   store the same value, and that integers and floats are converted before. The library keeps a
#   type of its own for unsigned numbers, so sizes up to 2^64 - 1 are told from negative numbers.
# Seen: the unsigned side is converted to signed. A limit of -1 equals the largest size, and
#   json::diff of two files that differ in it is an empty patch. Ordering suffers as well: 2^63
#   sorts before -3. A comparison of two results passes where a size has become -1.
set -Eeuo pipefail
trap 'echo "changed: the command in line $LINENO failed" >&2; exit 1' ERR

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
chmod 755 "$work"
(
    cd "$work" &&
    apt-get download -qq nlohmann-json3-dev=3.11.2-2 2>/dev/null &&
    dpkg -x ./*.deb root
) || { echo "cannot install the package" >&2; exit 2; }

cat >"$work/program.cpp" <<'CPP'
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
using nlohmann::json;
int main() {
    const json before = json::parse(R"({"limit": 18446744073709551615})");
    const json after = json::parse(R"({"limit": -1})");
    std::cout << before["limit"].type_name() << ' ' << before["limit"].is_number_unsigned() << ' '
              << after["limit"].is_number_unsigned() << '\n';
    std::cout << (before == after ? "equal" : "not equal") << '\n';
    std::cout << "diff " << json::diff(before, after) << '\n';
    json sizes = json::parse("[5, -3, 9223372036854775808]");
    std::sort(sizes.begin(), sizes.end());
    std::cout << sizes << '\n';
}
CPP
c++ -std=c++17 -O0 -I "$work/root/usr/include" -o "$work/program" "$work/program.cpp"
"$work/program" | tee "$work/seen.txt"
diff - "$work/seen.txt" <<'TEXT' || { echo "changed: see above" >&2; exit 1; }
number 1 0
equal
diff []
[9223372036854775808,-3,5]
TEXT
