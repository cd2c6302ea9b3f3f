#include "schedule/topology.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::schedule {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix matrix(std::string_view topology, int ranks) {
  Matrix w(ranks, std::vector<double>(ranks));
  for (int i = 0; i < ranks; ++i) {
    const Mixing row = mixing(topology, i, ranks);
    w[i][i] = row.self;
    int before = -1;
    for (const auto& [j, weight] : row.neighbours) {
      EXPECT_GT(j, before);
      EXPECT_NE(j, i);
      EXPECT_GT(weight, 0);
      w[i][before = j] = weight;
    }
  }
  return w;
}

TEST(Topology, IsSymmetricAndDoublyStochasticForAnyNumberOfRanks) {
  for (const char* topology : {"ring", "exponential", "complete"}) {
    for (int ranks = 1; ranks <= 33; ++ranks) {
      const Matrix w = matrix(topology, ranks);
      std::vector<Mixing> rows;
      for (int i = 0; i < ranks; ++i) {
        double row = 0, column = 0;
        for (int j = 0; j < ranks; ++j) {
          row += w[i][j];
          column += w[j][i];
          EXPECT_EQ(w[i][j], w[j][i]) << topology << " " << ranks;
        }
        EXPECT_NEAR(row, 1, 1e-14);
        EXPECT_NEAR(column, 1, 1e-14);
        rows.push_back(mixing(topology, i, ranks));
      }
      EXPECT_EQ(fault_of(rows), "") << topology << " " << ranks;
    }
  }
}

TEST(Topology, RingTakesAThirdOfEachSide) {
  EXPECT_EQ(ring(0, 1), (Mixing{.self = 1}));
  EXPECT_EQ(ring(1, 2), (Mixing{.self = 1 / 3.0, .neighbours = {{0, 2 / 3.0}}}));
  EXPECT_EQ(ring(0, 5), (Mixing{.self = 1 / 3.0, .neighbours = {{1, 1 / 3.0}, {4, 1 / 3.0}}}));
}

// The second eigenvalue of the ring is 1/3 + 2/3 cos(2 pi / n), with the eigenvector
// cos(2 pi i / n): D-PSGD's table in the method specifications.
TEST(Topology, RingContractsItsSecondEigenvectorAsItShould) {
  for (int ranks : {3, 4, 8, 16, 64}) {
    const Matrix w = matrix("ring", ranks);
    const double second = 1.0 / 3 + 2.0 / 3 * std::cos(2 * M_PI / ranks);
    for (int i = 0; i < ranks; ++i) {
      double mixed = 0;
      for (int j = 0; j < ranks; ++j) mixed += w[i][j] * std::cos(2 * M_PI * j / ranks);
      EXPECT_NEAR(mixed, second * std::cos(2 * M_PI * i / ranks), 1e-14);
    }
  }
}

TEST(Topology, ExponentialReachesPowersOfTwoBothWays) {
  const Mixing row = exponential(0, 8);
  std::vector<int> ranks;
  for (const auto& neighbour : row.neighbours) ranks.push_back(neighbour.rank);
  EXPECT_EQ(ranks, (std::vector<int>{1, 2, 4, 6, 7}));
  EXPECT_EQ(row.self, 1 / 6.0);
}

class TopologyFile : public testing::Test {
 protected:
  ~TopologyFile() override { std::filesystem::remove(file_); }

  void write(const std::string& text) const { std::ofstream(file_) << text; }

  std::string refusal(const std::string& text, int ranks) const {
    write(text);
    try {
      read_mixing(file_, ranks);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::input);
      return error.what();
    }
    ADD_FAILURE() << "taken: " << text;
    return "";
  }

  const std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                      ("parajoule-topology-" + std::to_string(getpid()) + ".txt");
};

TEST_F(TopologyFile, IsReadRowByRow) {
  write("# a path of three\n2/3 1/3 0\n\n1/3 1/3 1/3\n 0 1/3 2/3\n");
  EXPECT_EQ(mixing(file_.string(), 1, 3),
            (Mixing{.self = 1 / 3.0, .neighbours = {{0, 1 / 3.0}, {2, 1 / 3.0}}}));
  EXPECT_EQ(mixing(file_.string(), 2, 3), (Mixing{.self = 2 / 3.0, .neighbours = {{1, 1 / 3.0}}}));
}

TEST_F(TopologyFile, IsRefusedWithTheReason) {
  const auto expect = [&](const std::string& text, int ranks, const std::string& reason) {
    const std::string refused = refusal(text, ranks);
    EXPECT_NE(refused.find(file_.string()), std::string::npos) << refused;
    EXPECT_NE(refused.find(reason), std::string::npos) << refused;
  };
  expect("1 0\n0 1\n", 2, "it falls apart");
  expect(".5 .5\n.5 .5\n", 3, "2 weights for 3 ranks");
  expect(".5 .5\n", 2, "1 rows for 2 ranks");
  expect(".5 .6\n.5 .4\n", 2, "row 0 adds up to 1.1, not to 1");
  expect("2 -1\n-1 2\n", 2, "row 0 has the weight -1");
  expect("0 1 0\n0 0 1\n1 0 0\n", 3, "must be symmetric");
  expect("half .5\n.5 .5\n", 2, "line 1: 'half' is no weight");
  expect("1/0 .5\n.5 .5\n", 2, "'1/0' is no weight");
}

TEST(Topology, IsNotReadFromADevice) {
  try {
    mixing("/dev/null", 0, 4);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_NE(std::string(error.what()).find("/dev/null: not a plain file"), std::string::npos)
        << error.what();
  }
}

TEST(Topology, AnswersAnUnknownNameWithTheNearest) {
  try {
    mixing("rign", 0, 4);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'ring'"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(mixing("nowhere/there.txt", 0, 4), base::Error);
}

}  // namespace
}  // namespace parajoule::schedule
