#include "report/gnuplot.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace parajoule::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Figure example() {
  return {.id = "a-figure",
          .title = "T",
          .x = "it's",
          .y = "kWh",
          .log_x = true,
          .curves = {{"one'\nset output '/etc/x", {{1, 2, 0.1}, {0, 3}, {4, 5, 0}}}}};
}

class Gnuplot : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "parajoule-figures-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Gnuplot, NamesStayInTheirQuotesAndLogarithmsHaveNoZero) {
  const std::string script = script_of(example(), "svg", "f.svg");
  EXPECT_THAT(script, HasSubstr("'one'' set output ''/etc/x'"));
  EXPECT_THAT(script, HasSubstr("set xlabel 'it''s'"));
  EXPECT_THAT(script, Not(HasSubstr("0 3 0")));
}

TEST_F(Gnuplot, DrawsBothFormats) {
  Figure figure = example();
  Figure* const figures[] = {&figure};
  EXPECT_EQ(draw(figures, folder_), "");
  EXPECT_TRUE(figure.svg.starts_with("<svg"));
  EXPECT_GT(std::filesystem::file_size(folder_ / "a-figure.png"), 1000u);
}

TEST_F(Gnuplot, SaysHowToGetItWhereItIsMissing) {
  const std::string path = getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  Figure figure = example();
  Figure* const figures[] = {&figure};
  const std::string said = draw(figures, folder_);
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(said, HasSubstr("apt-get install gnuplot-nox"));
  EXPECT_EQ(figure.svg, "");
}

TEST_F(Gnuplot, WithoutMarksThereIsNoFigure) {
  Figure figure{.id = "empty", .title = "", .x = "", .y = ""};
  Figure* const figures[] = {&figure};
  EXPECT_EQ(draw(figures, folder_), "");
  EXPECT_EQ(figure.svg, "");
}

}  // namespace
}  // namespace parajoule::report
