#include "cli/tracing.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/wishes.h"

namespace parajoule::cli {
namespace {

constexpr std::string_view per_node = "ranks_per_node";

const strategy::Method& method_called(const std::string& name) {
  if (name.empty())
    throw base::Error(base::Fault::usage,
                      "trace needs a method: --strategy NAME; `parajoule strategies` lists them");
  return strategy::method(name);
}

/// A choice of the trace, with the options that stand in the table of its name.
struct Options {
  std::string_view name;
  std::span<const base::Option> options;
  std::map<std::string, base::Value> given = {};

  void set(const Assignment& assignment) {
    const auto option = std::ranges::find(options, assignment.key, &base::Option::name);
    if (option == options.end()) refuse(assignment);
    given[assignment.key] = base::parse(*option, name, assignment.value);
  }

  base::Settings settings() const { return base::Settings(name, options, given); }

 private:
  [[noreturn]] void refuse(const Assignment& assignment) const {
    std::vector<std::string_view> names;
    for (const base::Option& option : options) names.push_back(option.name);
    throw base::Error(base::Fault::usage,
                      fmt::format("{}.{} = {}: no such option{}", name, assignment.key,
                                  assignment.value, base::hint(assignment.key, names)));
  }
};

std::vector<Assignment> assignments_in(const std::vector<std::string>& set) {
  std::vector<Assignment> assignments;
  for (const std::string& argument : set) assignments.push_back(assignment_in(argument));
  return assignments;
}

/// What a key of the top of an experiment would be; the last one holds.
std::optional<std::string> top(const std::vector<Assignment>& assignments, std::string_view key) {
  std::optional<std::string> value;
  for (const Assignment& assignment : assignments)
    if (assignment.table.empty() && assignment.key == key) value = assignment.value;
  return value;
}

std::optional<int> ranks_per_node_in(const std::vector<Assignment>& assignments) {
  const auto text = top(assignments, per_node);
  if (!text) return {};
  const base::Option option{.name = per_node,
                            .kind = base::Option::Kind::whole,
                            .fallback = "1",
                            .help = "",
                            .least = 1,
                            .most = most_ranks};
  const base::Settings checked("trace", std::span(&option, 1),
                               {{std::string(per_node), base::parse(option, "trace", *text)}});
  return int(checked.whole(per_node));
}

/// Sorts the rest into the choices that it is about; a bare key is an option of the strategy.
void sort(const std::vector<Assignment>& assignments, Options& strategy, Options& sum) {
  for (const Assignment& assignment : assignments) {
    const bool bare = assignment.table.empty();
    if (bare && (assignment.key == "sum" || assignment.key == per_node)) continue;
    if (bare || assignment.table == strategy.name)
      strategy.set(assignment);
    else if (assignment.table == sum.name)
      sum.set(assignment);
    else
      throw base::Error(base::Fault::usage,
                        fmt::format("--set {}.{}: a trace has options of its strategy, {}, and of "
                                    "its sum, {}",
                                    assignment.table, assignment.key, strategy.name, sum.name));
  }
}

comm::Nodes nodes(int ranks, std::optional<int> ranks_per_node) {
  comm::Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank)
    nodes.node.push_back(ranks_per_node ? rank / *ranks_per_node : 0);
  return nodes;
}

}  // namespace

Tracing::Tracing(const TraceWords& words)
    : problem_(exact::read_problem(words.file)),
      method_(method_called(words.strategy)),
      steps_(words.steps),
      ranks_(words.ranks.value_or(exact::trainers_in(problem_).value_or(1))) {
  const auto assignments = assignments_in(words.set);
  sum_ = &comm::sum(top(assignments, "sum").value_or("auto"));
  ranks_per_node_ = ranks_per_node_in(assignments);
  Options strategy{method_.name, method_.options}, sum{sum_->name, sum_->options};
  sort(assignments, strategy, sum);
  settings_ = strategy.settings();
  sum_settings_ = sum.settings();
  exact::check(run(), nodes(ranks_, ranks_per_node_));
}

exact::Run Tracing::run() const {
  return {.problem = problem_,
          .method = method_,
          .settings = settings_,
          .steps = steps_,
          .sum = *sum_,
          .sum_settings = sum_settings_};
}

std::vector<exact::Line> Tracing::take_part(comm::Communicator& world,
                                            const exact::Clock& clock) const {
  return exact::gathered(world, exact::take_part(world, run(), clock));
}

void print(const std::vector<exact::Line>& lines) {
  for (const exact::Line& line : lines) {
    if (!std::ranges::all_of(line.weights, [](double w) { return std::isfinite(w); }))
      throw base::Error(
          base::Fault::not_a_number,
          fmt::format("the weights of rank {} are not numbers {}; lower the learning_rate of the "
                      "problem",
                      line.rank,
                      line.step ? fmt::format("after step {}", *line.step) : "at the end"));
    std::cout << exact::text_of(line);
  }
}

}  // namespace parajoule::cli
