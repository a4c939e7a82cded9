// Who runs beside whom: copies that leave the caches alike are timed one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "space/space.hpp"

namespace asterope {

/// How copies leave the caches.
enum Company { kTemporal, kNonTemporal };

/// Of a pipeline.
inline Company company_of(const Candidate& candidate) {
    return candidate.variant->st == std::string_view("T") ? kTemporal : kNonTemporal;
}

/// Of libc's memcpy, which stores past the caches from some size on, as far as it says.
/// `thresholds`: see Machine::libc_thresholds.
inline Company company_of_libc(std::size_t size,
                               const std::map<std::string, std::size_t>& thresholds) {
    const auto found = thresholds.find("x86_non_temporal_threshold");
    return found == thresholds.end() || size < found->second ? kTemporal : kNonTemporal;
}

/// Puts the members of one company together, each time the other way round, so that the company
/// that ends one turn begins the next: every change between two costs an untimed stretch of copying
/// (see Stopwatch::time).
class CompanyOrder {
  public:
    /// `company(entrant)`: any number; none: all are of one.
    explicit CompanyOrder(std::function<int(int entrant)> company) : company_(std::move(company)) {}

    /// Keeps the order within each company.
    void apply(std::vector<int>& entrants) {
        if (!company_) return;
        std::map<int, std::vector<int>> companies;
        for (const int entrant : entrants) companies[company_(entrant)].push_back(entrant);
        entrants.clear();
        const auto append = [&](const auto& company) {
            entrants.insert(entrants.end(), company.second.begin(), company.second.end());
        };
        if (backwards_) {
            std::for_each(companies.rbegin(), companies.rend(), append);
        } else {
            std::for_each(companies.begin(), companies.end(), append);
        }
        backwards_ = !backwards_;
    }

  private:
    std::function<int(int entrant)> company_;
    bool backwards_ = false;
};

} // namespace asterope
