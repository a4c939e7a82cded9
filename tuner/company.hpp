// Who runs beside whom: copies that leave the caches alike are timed one after the other.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace asterope {

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
