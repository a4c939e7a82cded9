// Walks through the recorded figures of one step of a search after the other.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "run/trial_log.hpp"

namespace asterope {

class RecordCursor {
  public:
    /// `steps` must outlive it; `what` is what messages call the log.
    RecordCursor(const LoggedSteps& steps, std::string what)
        : steps_(steps), what_(std::move(what)) {}

    const std::string& what() const { return what_; }
    bool has(const std::string& step) const { return steps_.count(step) > 0; }

    /// To the beginning of a step, behind its first `known` records. Returns how many are left.
    std::size_t enter(const std::string& step, std::size_t known = 0) {
        const auto found = steps_.find(step);
        records_ = found == steps_.end() ? nullptr : &found->second;
        step_ = step;
        at_ = known;
        return at_end() ? 0 : records_->size() - at_;
    }

    bool at_end() const { return !records_ || at_ >= records_->size(); }

    /// The value of the next record, which must be the one that `key` asks for; null at the end of
    /// the step. Throws BadInput where it is another.
    template <class Value, class Key> const Value* take(const Key& key) {
        if (at_end()) return nullptr;
        const auto* pair = std::get_if<std::pair<Key, Value>>(&(*records_)[at_]);
        if (!pair || !(pair->first == key)) {
            throw BadInput(what_ + ": entry " + std::to_string(at_ + 1) + " of step '" + step_ +
                           "' is not what this search asks for");
        }
        ++at_;
        return &pair->second;
    }

    /// What disturbed the round that ends here: mostly nothing.
    std::vector<Disturbance> take_hits() {
        if (at_end()) return {};
        const auto* hits = std::get_if<std::vector<Disturbance>>(&(*records_)[at_]);
        if (!hits) return {};
        ++at_;
        return *hits;
    }

  private:
    const LoggedSteps& steps_;
    std::string what_, step_;
    const std::vector<Record>* records_ = nullptr;
    std::size_t at_ = 0;
};

} // namespace asterope
