#include "nn/task.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/torch.h>

namespace parajoule::nn {
namespace {

std::vector<std::string> names(const Task& task) {
  std::vector<std::string> names;
  for (const Metric& metric : task.metrics()) names.push_back(metric.name);
  return names;
}

double total(const std::vector<Score>& scores) {
  double numerator = 0, denominator = 0;
  for (const Score& score : scores) {
    numerator += score.numerator;
    denominator += score.denominator;
  }
  return numerator / denominator;
}

TEST(Classification, HasNoTopFiveOfFiveClasses) {
  EXPECT_THAT(names(*classification(5)), testing::ElementsAre("loss", "top1_error"));
  EXPECT_THAT(names(*classification(6)), testing::ElementsAre("loss", "top1_error", "top5_error"));
}

TEST(Classification, ScoresAddUpToTheLossAndTheErrorsOfTheBatch) {
  torch::manual_seed(3);
  const at::Tensor outputs = 4 * torch::randn({40, 10}, at::kDouble);
  const at::Tensor targets = torch::randint(10, {40}, at::kLong);
  const auto task = classification(10);
  const auto scores = task->scores(outputs, targets);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_NEAR(total(scores[0]), task->loss(outputs, targets).item<double>(), 1e-12);
  const auto first = std::get<1>(outputs.topk(5, 1));
  const at::Tensor hits = first.eq(targets.unsqueeze(1));
  const double top1 = 1 - hits.select(1, 0).to(at::kDouble).mean().item<double>();
  const double top5 = 1 - hits.any(1).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(total(scores[1]), top1, 1e-12);
  EXPECT_NEAR(total(scores[2]), top5, 1e-12);
  EXPECT_GT(top1, top5);
}

// Of each sample from the definition: -log(exp(o_y) / sum exp(o)).
TEST(Classification, LossesOfSamplesAreTheirCrossEntropies) {
  torch::manual_seed(5);
  const at::Tensor outputs = 3 * torch::randn({20, 7}),
                   targets = torch::randint(7, {20}, at::kLong);
  const at::Tensor losses = classification(7)->losses(outputs, targets);
  ASSERT_EQ(losses.scalar_type(), at::kDouble);
  ASSERT_EQ(losses.sizes(), (std::vector<std::int64_t>{20}));
  for (int i = 0; i < 20; ++i) {
    double sum = 0;
    for (int c = 0; c < 7; ++c) sum += std::exp(double(outputs[i][c].item<float>()));
    const double own = outputs[i][targets[i].item<std::int64_t>()].item<float>();
    EXPECT_NEAR(losses[i].item<double>(), std::log(sum) - own, 1e-12) << i;
  }
}

TEST(Classification, ScoresOfASampleDoNotDependOnItsBatch) {
  torch::manual_seed(4);
  const at::Tensor outputs = torch::randn({33, 10}), targets = torch::randint(10, {33}, at::kLong);
  const auto task = classification(10);
  const auto whole = task->scores(outputs, targets);
  for (int i : {0, 7, 32}) {
    const auto alone = task->scores(outputs.narrow(0, i, 1), targets.narrow(0, i, 1));
    EXPECT_EQ(alone[0][0].numerator, whole[0][i].numerator);
  }
}

double wrong(std::vector<double> outputs, std::int64_t target) {
  const auto task = classification(int(outputs.size()));
  return task->scores(torch::tensor(outputs).unsqueeze(0), torch::tensor({target}))[1][0].numerator;
}

TEST(Classification, EqualOutputsComeInTheOrderOfTheirClasses) {
  EXPECT_EQ(wrong({1, 1, 1}, 0), 0);
  EXPECT_EQ(wrong({1, 1, 1}, 1), 1);
}

TEST(Classification, OutputsThatAreNoNumbersAreWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(wrong({nan, nan, nan}, 0), 1);
  EXPECT_EQ(wrong({nan, 5, 0}, 1), 1);
}

TEST(Classification, LossOfLargeOutputsIsExact) {
  const auto task = classification(2);
  const at::Tensor outputs = torch::tensor({1000.0, 0.0}).unsqueeze(0);
  EXPECT_EQ(task->scores(outputs, torch::tensor({std::int64_t{1}}))[0][0].numerator, 1000);
  EXPECT_EQ(task->scores(outputs, torch::tensor({std::int64_t{0}}))[0][0].numerator, 0);
}

TEST(Classification, LossOfLowerPrecisionIsFloat) {
  const at::Tensor outputs = torch::zeros({2, 3}, at::kBFloat16);
  const at::Tensor loss = classification(3)->loss(outputs, torch::zeros({2}, at::kLong));
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_FLOAT_EQ(loss.item<float>(), std::log(3.0f));
}

}  // namespace
}  // namespace parajoule::nn
