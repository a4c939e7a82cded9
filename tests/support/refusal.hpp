// How tests ask with which message something is refused.
#pragma once

#include <string>

#include "base/error.hpp"

/// The message of what `action` throws; `otherwise` where it throws nothing.
template <class Fault = asterope::BadInput, class Action>
std::string refusal_of(const Action& action, const char* otherwise = "") {
    try {
        action();
    } catch (const Fault& fault) {
        return fault.what();
    }
    return otherwise;
}
