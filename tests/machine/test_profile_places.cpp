// Profiles that nobody named: the user's place, the system's, and which of them is taken.
#include "machine/profile_places.hpp"

#include "support/unit_test.hpp"

namespace fs = std::filesystem;

namespace {

/// With an environment of its own: CTest and pytest run each program by itself.
class ProfilePlaces : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("HOME");
    }
    fs::path put_profile() {
        setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
        put("asterope/profile.json", "{}");
        return folder / "asterope" / "profile.json";
    }
};

} // namespace

TEST_F(ProfilePlaces, TheUsersIsXdgs) {
    EXPECT_EQ(user_profile(), "");
    setenv("HOME", "/home/me", 1);
    EXPECT_EQ(user_profile(), "/home/me/.config/asterope/profile.json");
    for (const char* not_absolute : {"", "config", "~/config"}) {
        setenv("XDG_CONFIG_HOME", not_absolute, 1);
        EXPECT_EQ(user_profile(), "/home/me/.config/asterope/profile.json");
    }
    setenv("XDG_CONFIG_HOME", "/x", 1);
    EXPECT_EQ(user_profile(), "/x/asterope/profile.json");
    unsetenv("HOME");
    EXPECT_EQ(user_profile(), "/x/asterope/profile.json");
}

TEST_F(ProfilePlaces, TheUsersIsTakenWhereThereIsOneAndNoneIsNamed) {
    const fs::path place = put_profile();
    EXPECT_EQ(profile_to_read(""), place);
    EXPECT_EQ(profile_to_read("other.json"), "other.json");
    fs::remove(place);
    fs::create_symlink("nowhere", place);
    EXPECT_EQ(profile_to_read(""), place) << "a link that leads nowhere is there, too";
    fs::remove_all(folder / "asterope");
    put("asterope", "a file in place of the folder");
    if (fs::exists(system_profile())) GTEST_SKIP() << "this machine has a profile of the system's";
    const std::string refusal = refusal_of([] { profile_to_read(""); });
    EXPECT_TRUE(mentions(refusal, place.string()));
    EXPECT_TRUE(mentions(refusal, "/etc/asterope/profile.json"));
}
