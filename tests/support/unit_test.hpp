// What nearly every unit test includes: googletest, containers, JSON, what tests ask of errors,
// texts and folders, and the project's names, and json, without their namespaces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "support/mentions.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"
#include "support/units.hpp"

using namespace asterope;
using nlohmann::json;
