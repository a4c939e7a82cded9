// The CPU features that candidates may use: those there are, less those the user leaves out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "machine/cpu.hpp"

namespace asterope {

/// Whether this CPU has a feature and may use it.
class Features {
  public:
    /// `without`: names of features, or beginnings of several, like avx512. Throws BadInput for one
    /// with which no feature's name begins.
    Features(const Cpu& cpu, const std::vector<std::string>& without);
    bool operator()(std::string_view feature) const;

  private:
    std::vector<std::string> granted_;
};

} // namespace asterope
