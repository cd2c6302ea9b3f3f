#include "exact/problem.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include "base/error.h"

namespace parajoule::exact {
namespace {

using testing::HasSubstr;

Problem read(std::string_view text) { return problem_in(text, "p.json"); }

/// What is said of a file that cannot be meant, in one line.
std::string refusal(std::string_view text) {
  try {
    read(text);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
    return error.what();
  }
  return "read";
}

/// A quadratic problem with `more` keys.
std::string quadratic(std::string_view more) {
  return R"({"version": 1, "kind": "quadratic", "curvature": [[1, 2], [3, 4]],
             "target": [[1, 1], [2, 2]])" +
         std::string(more) + "}";
}

std::string started(std::string_view more) {
  return quadratic(R"(, "start": [0, 0], "learning_rate": 0.1)" + std::string(more));
}

TEST(ProblemFile, ReadsEveryKey) {
  const Problem problem = read(R"(// comments may stand anywhere
    {"version": 1, "kind": "quadratic", /* of both ranks */
     "curvature": [[1, 2, 3, 4, 5, 6, 7], [1, 1, 1, 1, 1, 1, 1]],
     "target": [[0, 0, 0, 0, 0, 0, 0], [1, -1.5, 1e-3, 1, 1, 1, 1]],
     "shapes": [[2, 2], [3]], "start": [[1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2]],
     "learning_rate": [0.1, 0.2], "momentum": 0.9, "steps_per_epoch": 4, "loss": [3, 2.5],
     "durations": [0.5, [1, 2]], "link": {"latency_seconds": 1e-6, "bytes_per_second": 1e9},
     "events": [[1, 0], [0]]})");
  const auto& objective = std::get<Quadratic>(problem.objective);
  EXPECT_EQ(objective.curvature[0][6], 7);
  EXPECT_EQ(objective.target[1], (Row{1, -1.5, 1e-3, 1, 1, 1, 1}));
  EXPECT_EQ(problem.shapes, (std::vector<std::vector<std::int64_t>>{{2, 2}, {3}}));
  EXPECT_EQ(problem.start[1][0], 2);
  EXPECT_EQ(problem.learning_rate, (Row{0.1, 0.2}));
  EXPECT_EQ(problem.momentum, 0.9);
  EXPECT_EQ(problem.steps_per_epoch, 4);
  EXPECT_EQ(problem.loss, (Row{3, 2.5}));
  EXPECT_EQ(problem.durations, (std::vector<Row>{{0.5}, {1, 2}}));
  EXPECT_EQ(problem.link.latency, base::Seconds(1e-6));
  EXPECT_EQ(problem.link.bytes_per_second, 1e9);
  EXPECT_EQ(problem.events, (std::vector<std::vector<int>>{{1, 0}, {0}}));
  check_ranks(problem, 2, 2);
}

TEST(ProblemFile, RefusesTimesThatNothingTakes) {
  EXPECT_THAT(refusal(started(R"(, "durations": 1e308)")),
              HasSubstr("durations: must be a number from 0 to"));
  EXPECT_THAT(refusal(started(R"(, "durations": [[1, 1e308], 1])")), HasSubstr("durations[0][1]"));
  EXPECT_THAT(refusal(started(R"(, "link": {"latency_seconds": 1e308})")),
              HasSubstr("latency_seconds: must be a number from 0 to"));
  EXPECT_THAT(refusal(started(R"(, "link": {"bytes_per_second": 1e-300})")),
              HasSubstr("bytes_per_second: must be a number from 0.001, or null"));
}

TEST(ProblemFile, RepeatsWordsOfTheFileInOneShortLine) {
  EXPECT_THAT(refusal(started(R"(, "mom\ntum": 0.9)")), HasSubstr(R"(no key "mom\ntum" here)"));
  EXPECT_THAT(refusal(started(R"(, "\u001b[1m": 0.9)")), HasSubstr(R"(no key "\x1b[1m" here)"));
  EXPECT_LT(refusal(started(", \"" + std::string(100'000, 'k') + "\": 1")).size(), 400);
  EXPECT_THAT(refusal(started(R"(, "link": {"a\nb": 1})")), HasSubstr(R"(no key "a\nb")"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "quad\nratic"})"), HasSubstr("quad\\nratic"));
}

TEST(ProblemFile, ReadsEveryKind) {
  const std::string rest = R"(, "start": [0, 0], "learning_rate": 1})";
  const Problem squares = read(R"({"version": 1, "kind": "least_squares",
      "inputs": [[[1, 2], [3, 4]], []], "outputs": [[5, 6], []])" +
                               rest);
  EXPECT_EQ(std::get<LeastSquares>(squares.objective).inputs[0][1], (Row{3, 4}));
  EXPECT_EQ(samples_of(squares, 0, 0), 2);
  EXPECT_EQ(samples_of(squares, 1, 0), 0);
  const Problem given =
      read(R"({"version": 1, "kind": "gradients", "gradients": [[[1, 2]], [[3, 4]]])" + rest);
  EXPECT_EQ(std::get<Gradients>(given.objective).gradients[1][0], (Row{3, 4}));
  const Problem none = read(R"({"version": 1, "kind": "none")" + rest);
  EXPECT_TRUE(std::holds_alternative<None>(none.objective));
  const Problem network = read(R"({"version": 1, "kind": "linear_network",
      "layers": [[1, 2], [1, 1]], "inputs": [[[1, 2]]], "outputs": [[[3]]],
      "start": [0.5, 0.5, 1], "learning_rate": 1})");
  EXPECT_EQ(layout_of(network).parameters[1].range, (base::Range{2, 3}));
  EXPECT_EQ(layout_of(network).parameters[0].shape, (std::vector<std::int64_t>{1, 2}));
}

TEST(ProblemFile, TheExampleIsRead) {
  const Problem problem = read(example_problem());
  check_ranks(problem, 4, 4);
  EXPECT_EQ(std::get<Quadratic>(problem.objective).curvature,
            (std::vector<Row>{{1}, {2}, {3}, {4}}));
}

TEST(ProblemFile, RefusesWhatIsNoProblem) {
  EXPECT_THAT(refusal(""), HasSubstr("p.json: not JSON at line 1, column 1"));
  EXPECT_THAT(refusal("{\n  \"version\": 1,\n  oops}"), HasSubstr("line 3, column 3"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("p.json: not an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("no \"version\"; it must be 1"));
  EXPECT_THAT(refusal(R"({"version": 2})"), HasSubstr("version: 2 is newer than the 1"));
  EXPECT_THAT(refusal(R"({"version": "1"})"), HasSubstr("must be a whole number from 1"));
  EXPECT_THAT(refusal(R"({"version": 1})"), HasSubstr("no \"kind\"; it must be one of quadratic"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "quadratics"})"),
              HasSubstr("no kind \"quadratics\"; did you mean 'quadratic'?"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "none", "version": 1})"),
              HasSubstr("\"version\" stands twice"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "none", "start": [1e999], "learning_rate": 1})"),
              HasSubstr("too large"));
}

TEST(ProblemFile, NamesTheKeyThatCannotBeMeant) {
  EXPECT_EQ(refusal(started("")), "read");
  EXPECT_THAT(refusal(quadratic("")), HasSubstr("no \"start\""));
  EXPECT_THAT(refusal(quadratic(R"(, "start": [0, 0])")), HasSubstr("no \"learning_rate\""));
  EXPECT_THAT(refusal(started(R"(, "lerning": 1)")), HasSubstr("no key \"lerning\" here"));
  EXPECT_THAT(refusal(started(R"(, "inputs": [])")), HasSubstr("no key \"inputs\" here"));
  EXPECT_THAT(refusal(started(R"(, "momentum": "much")")),
              HasSubstr("p.json: momentum: must be a number, not \"much\""));
  EXPECT_THAT(refusal(started(R"(, "momentum": 1.5)")), HasSubstr("from 0 to 1, not 1.5"));
  EXPECT_THAT(refusal(started(R"(, "shapes": [[2], [1]])")),
              HasSubstr("shapes: more parameters than the 2 of start"));
  EXPECT_THAT(refusal(started(R"(, "shapes": [[1]])")), HasSubstr("fewer parameters"));
  EXPECT_THAT(refusal(started(R"(, "shapes": [[2000000000, 2000000000, 2000000000]])")),
              HasSubstr("more parameters"));
  EXPECT_THAT(refusal(started(R"(, "shapes": [[2, 0]])")), HasSubstr("shapes[0][1]: must be"));
  EXPECT_THAT(refusal(started(R"(, "steps_per_epoch": 0)")), HasSubstr("steps_per_epoch: must be"));
  EXPECT_THAT(refusal(started(R"(, "steps_per_epoch": 1.5)")), HasSubstr("a whole number"));
  EXPECT_THAT(refusal(started(R"(, "durations": [1, -1])")), HasSubstr("durations[1]: must be"));
  EXPECT_THAT(refusal(started(R"(, "durations": [[1], []])")), HasSubstr("durations[1]: must be"));
  EXPECT_THAT(refusal(started(R"(, "link": 5)")), HasSubstr("link: must be {"));
  EXPECT_THAT(refusal(started(R"(, "link": {"latency": 5})")), HasSubstr("no key \"latency\""));
  EXPECT_THAT(refusal(started(R"(, "link": {"bytes_per_second": 0})")),
              HasSubstr("link: bytes_per_second: must be a number from 0.001"));
  EXPECT_THAT(refusal(started(R"(, "events": [[0], []])")), HasSubstr("events[1]: must be"));
  EXPECT_THAT(refusal(started(R"(, "events": [[0, 0]])")), HasSubstr("different ranks"));
  EXPECT_THAT(refusal(started(R"(, "loss": [])")), HasSubstr("loss: must be"));
}

TEST(ProblemFile, NamesTheRowsThatDoNotFit) {
  const std::string rest = R"(, "learning_rate": 1})";
  EXPECT_THAT(refusal(quadratic(R"(, "start": [0])" + rest.substr(0, rest.size() - 1))),
              HasSubstr("curvature[0]: 2 numbers, but start has 1"));
  EXPECT_THAT(refusal(quadratic(R"(, "start": [[0, 0], [0]], "learning_rate": 1)")),
              HasSubstr("start[1]: 1 numbers, but start has 2"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "quadratic", "curvature": [[1], [2]],
                          "target": [[1]], "start": [0])" +
                      rest),
              HasSubstr("target: for 1 ranks, but curvature is for 2"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "least_squares", "inputs": [[[1]], [[1]]],
                          "outputs": [[1], [1, 2]], "start": [0])" +
                      rest),
              HasSubstr("outputs[1]: 2 numbers, but inputs has 1 rows there"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "gradients", "gradients": [[[1]], [[1], [2]]],
                          "start": [0])" +
                      rest),
              HasSubstr("gradients[1]: for 2 ranks, but the first step is for 1"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "linear_network", "layers": [[2, 1], [1, 3]],
                          "inputs": [[[1]]], "outputs": [[[1]]], "start": [0])" +
                      rest),
              HasSubstr("layers[1]: takes 3 inputs, but the layer before gives 2"));
  EXPECT_THAT(refusal(R"({"version": 1, "kind": "linear_network", "layers": [[1, 2]],
                          "inputs": [[[1]]], "outputs": [[[1]]], "start": [0, 0])" +
                      rest),
              HasSubstr("inputs[0][0]: 1 numbers, but 2 are needed"));
}

TEST(ProblemFile, SaysWhyAFileCannotBeRead) {
  const std::string folder = testing::TempDir();
  for (const std::string& path : {folder, folder + "/no_such_problem.json"}) {
    try {
      read_problem(path);
      FAIL();
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
      EXPECT_THAT(error.what(), HasSubstr("--example"));
    }
  }
}

TEST(Problem, IsForAsManyRanksAsItHasRows) {
  Problem problem = read(started(R"(, "events": [[1, 2]])"));
  EXPECT_THROW(check_ranks(problem, 3, 3), base::Error);
  EXPECT_THROW(check_ranks(problem, 2, 2), base::Error);  // no rank 2
  check_ranks(problem, 2, 3);
  problem.durations = {{1}, {2}, {3}};
  EXPECT_THROW(check_ranks(problem, 2, 3), base::Error);
}

TEST(Problem, RepeatsTheLastEntry) {
  Problem problem = read(started(R"(, "durations": [[1, 2], 5])"));
  EXPECT_EQ(duration_of(problem, 0, 0), base::Seconds(1));
  EXPECT_EQ(duration_of(problem, 0, 7), base::Seconds(2));
  EXPECT_EQ(duration_of(problem, 1, 7), base::Seconds(5));
}

}  // namespace
}  // namespace parajoule::exact
