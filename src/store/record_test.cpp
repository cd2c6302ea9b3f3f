#include "store/record.h"

#include <gtest/gtest.h>

#include "store/reader.h"

namespace parajoule::store {
namespace {

TEST(Record, ReadsBackWhatWasWritten) {
  const std::filesystem::path folder = testing::TempDir() + "record_test";
  std::filesystem::remove_all(folder);
  Record record({.folder = folder, .name = "first run", .version = "0.1.0", .command = "x"});
  record.add(Node{.node = 0, .boot_id = "b", .host = "h", .cpus = 2, .memory_bytes = 10});
  record.finish(State::done);
  EXPECT_EQ(Reader(record.path()).rows<Node>().size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

}  // namespace
}  // namespace parajoule::store
