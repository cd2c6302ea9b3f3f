// How Pipe-SGD encodes its sums, in plain numbers; its rule is tested in test/methods.
#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using testing::HasSubstr;
using toy::Given;
using toy::Replicas;
using toy::Rows;
using Row = Replicas::Row;

constexpr std::size_t count = 37;

Given coded(std::string codec) { return {{"codec", codec}}; }

using Decoded = std::function<Row(const Row& chunk)>;

Row truncated(const Row& chunk) {
  Row decoded;
  for (double value : chunk) {
    const auto bits = std::bit_cast<std::uint32_t>(float(value)) & 0xffff0000;
    decoded.push_back(std::bit_cast<float>(bits));
  }
  return decoded;
}

Row quantised(const Row& chunk) {
  double largest = 0;
  for (double value : chunk) largest = std::max(largest, std::fabs(value));
  const auto s = float(largest / 127);
  Row decoded;
  for (double value : chunk) decoded.push_back(float(std::nearbyint(value / double(s))) * s);
  return decoded;
}

/// Chunk c of p begins at rank c; each hop adds a rank's part to what was decoded, and what is
/// finished is encoded once more for all.
Row summed_in_a_ring(const Rows& parts, const Decoded& decoded) {
  const std::size_t p = parts.size();
  Row sum;
  for (std::size_t c = 0; c < p; ++c) {
    const auto begin = std::ptrdiff_t(count * c / p), end = std::ptrdiff_t(count * (c + 1) / p);
    Row partial(parts[c].begin() + begin, parts[c].begin() + end);
    for (std::size_t hop = 1; hop < p; ++hop) {
      const Row came = decoded(partial);
      for (std::size_t k = 0; k < came.size(); ++k)
        partial[k] = parts[(c + hop) % p][std::size_t(begin) + k] + came[k];
    }
    const Row finished = decoded(partial);
    sum.insert(sum.end(), finished.begin(), finished.end());
  }
  return sum;
}

TEST(PipeSgd, EncodesEveryHopOfItsSums) {
  const std::pair<std::string, Decoded> codecs[] = {{"truncate16", truncated},
                                                    {"scale8", quantised}};
  for (const auto& [name, decoded] : codecs) {
    for (int ranks : {1, 2, 3, 5, 8}) {
      const auto done = toy::train(
          {.method = "pipe_sgd", .options = coded(name), .ranks = ranks, .count = count});
      Replicas all(ranks, count);
      std::deque<Row> in_pipe;
      for (const Rows& after : done.after) {
        Rows parts;
        for (int r = 0; r < ranks; ++r) {
          parts.push_back(all.gradient(r));
          for (double& g : parts.back()) g *= 1.0 / ranks;
        }
        in_pipe.push_back(summed_in_a_ring(parts, decoded));
        if (in_pipe.size() > 1) {
          for (int r = 0; r < ranks; ++r) all.update(r, in_pipe.front());
          in_pipe.pop_front();
        }
        toy::expect_near(after, all.w, 1e-12);
        for (const Row& w : after) EXPECT_EQ(w, after[0]);
      }
    }
  }
}

TEST(PipeSgd, RefusesToRepeatInAnotherWidthThanTwo) {
  const Method& entry = method("pipe_sgd");
  for (int width : {1, 3}) {
    try {
      entry.part(
          0, 1, {.node = {0}},
          base::Settings("pipe_sgd", entry.options,
                         {{"width", std::int64_t(width)}, {"start", std::string("repeat")}}));
      FAIL();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      EXPECT_THAT(error.what(), HasSubstr("width = 2"));
    }
  }
}

}  // namespace
}  // namespace parajoule::strategy
