// Finds and describes samples with two modes, with a histogram: a median between two humps tells of
// neither. The same as scripts/asterope/modes.py.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace asterope {

/// The medians of two humps, and the share of values in the higher one.
struct TwoModes {
    double low, high, share;
};

/// Finds two modes in values above 0, at least 20 of them. Empty where they have one mode, or humps
/// less than 3 % apart. They are split where that explains most of the variance of their logarithms
/// (Otsu, 1979). Both parts must hold a tenth at least, and the middle third between their medians
/// must be nearly empty. The parts must lie apart by more than five of their standard deviations
/// (Ashman's D; one uniform hump split in two has 3.5).
std::optional<TwoModes> two_modes(std::vector<double> values);

/// How far it usually is from a value to the next one that differs: a clock's step, whose values
/// may differ in the last digits besides. Infinite of equal ones.
double clock_step(const std::vector<double>& sorted);

/// The report on a sample with two modes. Another sample has no lines and null.
struct ToldModes {
    std::vector<std::string> lines; ///< that there are two, and the histogram
    nlohmann::ordered_json json;    ///< the same for asterope-report: see modes.schema.json
};

/// `text`: a value in words; `unit`: that of the values.
ToldModes modes_told(const std::string& what, const std::vector<double>& values,
                     const std::string& unit, const std::function<std::string(double)>& text);

} // namespace asterope
