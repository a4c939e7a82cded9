// What nearly every unit test includes: googletest, containers, JSON, what tests ask of errors,
// texts and folders, and the project's names, and json, without their namespaces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
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
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

using namespace asterope;
using nlohmann::json;

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
/// The smallest page that there is.
constexpr std::size_t kPage = 4096;

/// The message of what `action` throws; `otherwise` where it throws nothing.
template <class Fault = BadInput, class Action>
std::string refusal_of(const Action& action, const char* otherwise = "") {
    try {
        action();
    } catch (const Fault& fault) {
        return fault.what();
    }
    return otherwise;
}

/// Whether a message has some words in it, and if not, what it says.
inline ::testing::AssertionResult mentions(std::string_view text, std::string_view words) {
    if (text.find(words) != text.npos) return ::testing::AssertionSuccess() << text;
    return ::testing::AssertionFailure() << text;
}

/// A folder for one test, gone when the test is.
class TemporaryFolder : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "asterope-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override {
        std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
        std::filesystem::remove_all(folder);
    }

    static std::string content(const std::filesystem::path& path) {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        return text.str();
    }
    void put(const std::string& name, const std::string& text) {
        std::filesystem::create_directories((folder / name).parent_path());
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(folder), {}));
    }

    std::filesystem::path folder;
};
