// Sources from a file: the stretch of it that is used, and refusals instead of a later crash.
#include "timing/source_map.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unit_test.hpp"
#include "timing/placement.hpp"

namespace {

constexpr std::size_t kSize = 1024;
constexpr std::size_t kNeeded = source_bytes_needed(kSize);

class Map : public TemporaryFolder {
  protected:
    /// A file of `pages` pages, the letters of which tell where they stand.
    std::string file(const std::string& name, std::size_t pages) {
        std::string text;
        for (std::size_t i = 0; i < pages; ++i) text += std::string(kPage, char('a' + i));
        put(name, text);
        return (folder / name).string();
    }
    static std::string refusal(const std::string& text) {
        return refusal_of([&] { SourceMap(text, kSize); }, "accepted");
    }
    static std::string content(const SourceMap& map) { return {map.data(), map.bytes()}; }
};

} // namespace

TEST_F(Map, is_the_whole_file_or_begins_at_the_offset_and_has_the_length_which_a_device_needs) {
    const std::string path = file("map", 10), all = TemporaryFolder::content(path);
    const std::pair<const char*, std::string> parts[] = {{"", all},
                                                         {":8K", all.substr(8192)},
                                                         {":4096:12345", all.substr(4096, 12345)},
                                                         {":0:16K", all.substr(0, 16384)},
                                                         {":28K:12K", all.substr(28672)}};
    for (const auto& [part, text] : parts) EXPECT_EQ(content(SourceMap(path + part, kSize)), text);
    EXPECT_EQ(content(SourceMap("/dev/zero:0:64K", kSize)), std::string(65536, '\0'));
}

TEST_F(Map, takes_file_names_with_colons_the_longest_that_exists) {
    file("with:4K", 5);
    file("with", 8);
    file("last:", 5);
    const std::pair<const char*, std::size_t> rows[] = {
        {"with:4K", 5}, {"with:4K:8K:12K", 3}, {"with:8K", 6}, {"last:", 5}, {"last::4K", 4}};
    for (const auto& [text, pages] : rows) {
        const SourceMap map((folder / text).string(), kSize);
        EXPECT_EQ(map.bytes(), pages * kPage) << text;
        EXPECT_EQ(content(map).back(), text == rows[2].first ? 'h' : 'e') << text;
    }
}

TEST_F(Map, follows_the_file_and_cannot_be_written) {
    const std::string path = file("map", 5);
    const SourceMap map(path, kSize);
    std::fstream(path).seekp(10).put('!');
    EXPECT_EQ(map.data()[10], '!'); // shared: what a device shows now
    EXPECT_EXIT(const_cast<char*>(map.data())[10] = '?', ::testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(Map, refuses_what_cannot_be_mapped_or_is_no_part_of_the_file) {
    const std::string path = file("map", 5), gone = (folder / "gone").string();
    const std::string here = folder.string(), empty = (folder / "empty").string();
    const std::string pipe = (folder / "pipe").string(), length = std::to_string(kNeeded - 1);
    put("empty", "");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0); // whose writer is not waited for
    const std::string missing = "cannot open " + gone + ": No such file or directory",
                      is_folder = here + " is a directory: name a file or a device",
                      unsized = "/dev/zero is a device without a size: add :OFFSET:LENGTH",
                      no_page = "OFFSET is not a multiple of the page size, 4 KiB",
                      no_file = "names no file: write FILE[:OFFSET[:LENGTH]]",
                      beyond = "OFFSET is beyond the end of " + path + ", which has 20480 bytes",
                      too_long = "LENGTH goes beyond the end of " + path +
                                 ": there are 16384 bytes from OFFSET on";
    const std::pair<std::string, std::string> cases[] = {
        {gone, missing},
        {gone + ":4K:8K", missing},
        {here, is_folder},
        {empty, empty + " is empty"},
        {empty + ":0:64K", empty + " is empty"},
        {"", no_file},
        {"/dev/zero", unsized},
        {"/dev/null:0:64K", "/dev/null cannot be mapped: No such device"},
        {pipe + ":0:64K", pipe + " cannot be mapped: No such device"},
        {"/dev/zero:0:4611686018427387904", "/dev/zero cannot be mapped: Cannot allocate memory"},
        {path + ":1", no_page},
        {path + ":20K", beyond},
        {path + ":4K:16385", too_long},
        {path + ":4K:4611686018427387904", too_long},
        {path + ":0:" + length, "copies of 1 KiB need 9216 bytes, here are 9215: map more, or name "
                                "smaller --sizes"},
    };
    for (const auto& [text, said] : cases) {
        EXPECT_EQ(refusal(text), "source map '" + text + "': " + said);
    }
    EXPECT_EQ(SourceMap(path + ":4K:16K", kSize).bytes(), 4 * kPage);
    EXPECT_EQ(SourceMap(path + ":0:" + std::to_string(kNeeded), kSize).bytes(), kNeeded);
    for (const char* rest : {":", ":x", ":-4K", ":4K:", ":4K:0", ":4K:8Q", ":4K:8K:8K", "::8K"}) {
        const std::string said = refusal(path + rest);
        EXPECT_EQ(said.find("source map '" + path + rest + "': size '"), 0u) << said;
    }
    EXPECT_LT(refusal(std::string(100000, 'f')).size(), 600u);
}

TEST_F(Map, finds_a_page_that_the_file_does_not_back) {
    const std::string path = file("map", 2);
    const int descriptor = open(path.c_str(), O_RDONLY);
    void* mapping = mmap(nullptr, 5 * kPage, PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    ASSERT_NE(mapping, MAP_FAILED);
    const auto* data = static_cast<const char*>(mapping);
    for (const std::size_t bytes : {5 * kPage, 2 * kPage + 1, 2 * kPage, kPage + 1}) {
        EXPECT_EQ(find_unreadable_page(data, bytes),
                  bytes > 2 * kPage ? std::optional(2 * kPage) : std::nullopt);
    }
    ASSERT_EQ(mprotect(mapping, kPage, PROT_NONE), 0);
    EXPECT_EQ(find_unreadable_page(data, 2 * kPage), 0u);
    munmap(mapping, 5 * kPage);
}
