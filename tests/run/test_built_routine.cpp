// The folder of a tuner that was killed goes with the next one; that of one that lives stays.
#include "run/built_routine.hpp"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>

#include "support/unit_test.hpp"

class ScratchFolders : public TemporaryFolder {
  protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        if (const char* value = std::getenv("TMPDIR")) before = value;
        setenv("TMPDIR", folder.c_str(), 1);
    }
    void TearDown() override {
        before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
        TemporaryFolder::TearDown();
    }

    std::string before;
};

TEST_F(ScratchFolders, go_with_the_next_one_where_a_tuner_was_killed) {
    put("asterope-tune-of-others/file", "no tuner's");
    const pid_t killed = fork();
    if (killed == 0) {
        const ScratchFolder left("");
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(killed, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(files(), 2U);
    {
        const ScratchFolder one("");
        EXPECT_EQ(files(), 2U);
        const ScratchFolder other("");
        EXPECT_EQ(files(), 3U);
    }
    EXPECT_EQ(files(), 1U);
}
