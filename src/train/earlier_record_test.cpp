#include "train/earlier_record.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

namespace fs = std::filesystem;

class EarlierRecord : public testing::Test {
 protected:
  EarlierRecord() {
    std::string name = (fs::temp_directory_path() / "parajoule-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~EarlierRecord() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(EarlierRecord, IsTheOneOfTheStartBefore) {
  EXPECT_EQ(follow_earlier_record(folder_, "first"), std::nullopt);
  EXPECT_EQ(follow_earlier_record(folder_, "second"), "first");
  EXPECT_EQ(follow_earlier_record(folder_, "third"), "second");
}

TEST_F(EarlierRecord, IsFoundBehindALineThatWasCutOff) {
  std::ofstream(folder_ / "records") << "whole\n\n";
  EXPECT_EQ(follow_earlier_record(folder_, "next"), "whole");
}

TEST_F(EarlierRecord, NamesTheFolderThatCannotBeWritten) {
  try {
    follow_earlier_record(folder_ / "nowhere", "id");
    FAIL() << "written into a folder that is not there";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_NE(std::string(error.what()).find("nowhere/records"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace parajoule::train
