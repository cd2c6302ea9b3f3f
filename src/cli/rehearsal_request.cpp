#include "cli/rehearsal_request.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/collected.h"
#include "cli/method_settings.h"
#include "cli/process.h"
#include "cli/top_settings.h"
#include "cli/wishes.h"
#include "comm/sums.h"
#include "optimize/catalog.h"
#include "rehearse/profile_file.h"
#include "strategy/catalog.h"
#include "strategy/overlap.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;
using base::Option;

constexpr std::int64_t few_steps = 10;
constexpr double most_factor = 1e6;  // with which times stay numbers

/// What takes no time that we count: known to parajoule-train alone.
constexpr std::array elsewhere{"model", "data", "schedule", "recipe"};
bool is_elsewhere(std::string_view key) {
  return std::ranges::find(elsewhere, key) != elsewhere.end();
}

const std::vector<Option> slow_options{{.name = "rank",
                                        .kind = Option::Kind::whole,
                                        .fallback = "-1",
                                        .help = "whose device is always slow",
                                        .least = 0},
                                       {.name = "factor",
                                        .kind = Option::Kind::number,
                                        .fallback = "1",
                                        .help = "by which its computing takes longer",
                                        .least = 1,
                                        .most = most_factor}};
const std::vector<Option> random_options{{.name = "probability",
                                          .kind = Option::Kind::number,
                                          .fallback = "0",
                                          .help = "that a step of a rank is slow",
                                          .least = 0,
                                          .most = 1},
                                         {.name = "factor",
                                          .kind = Option::Kind::number,
                                          .fallback = "1",
                                          .help = "by which its computing takes longer",
                                          .least = 1,
                                          .most = most_factor},
                                         {.name = "seed",
                                          .kind = Option::Kind::whole,
                                          .fallback = "0",
                                          .help = "of the random numbers",
                                          .least = 0}};

template <class Catalog>
std::vector<Alternative> alternatives(const Catalog& catalog) {
  std::vector<Alternative> entries;
  for (const auto& entry : catalog)
    entries.push_back({entry.name, entry.summary, entry.paper, entry.options});
  return entries;
}

/// What a method shares with others stands in tables of its own.
std::vector<Alternative> strategies() {
  std::vector<Alternative> entries;
  for (const auto& method : strategy::methods())
    entries.push_back({method.name, method.summary, method.paper, method.own_options()});
  return entries;
}

/// The names of this half of the program, and the slowness of devices beside them.
Vocabulary vocabulary() {
  return {.choices = {{"strategy", strategy::methods().front().name,
                       "the way to train on many ranks", strategies()},
                      {"overlap", strategy::usual_overlap, "sums during the backward pass",
                       alternatives(strategy::overlaps())},
                      {"optimizer", "sgd", "the rule that moves the weights",
                       alternatives(optimize::optimizers())},
                      {"sum", "auto", "how sums over ranks are made", alternatives(comm::sums())},
                      {"slow",
                       "slow",
                       "whose device is slow",
                       {{"slow", "", "", slow_options}, {"slow.random", "", "", random_options}}}},
          .recipes = {}};
}

/// Wishes that a rehearsal has no use for are put aside.
class Sorted {
 public:
  explicit Sorted(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void take(std::vector<Wish> wishes) {
    for (Wish& wish : wishes) {
      const bool top = wish.table.empty();
      if (top && is_elsewhere(wish.key))
        keep_word(wish.key, base::written(wish.value));
      else if (top || vocabulary_.alternative(wish.table))
        file.push_back(std::move(wish));
      else
        unused_.insert(fmt::format("[{}]", wish.table));
    }
  }
  void take(const std::vector<std::string>& assignments) {
    for (const std::string& argument : assignments) {
      const Assignment assignment = assignment_in(argument);
      if (assignment.table.empty() && is_elsewhere(assignment.key))
        keep_word(assignment.key, assignment.value);
      else if (assignment.table.empty() || vocabulary_.alternative(assignment.table))
        set.push_back(argument);
      else
        unused_.insert(fmt::format("[{}]", assignment.table));
    }
  }
  /// `profiled`: the layers are of a file that was named.
  std::vector<std::string> remarks(bool profiled) const {
    std::vector<std::string> lines;
    if (!unused_.empty())
      lines.push_back(fmt::format("a rehearsal makes no use of {}", fmt::join(unused_, ", ")));
    if (!profiled && unused_.contains(fmt::format("[{}]", model)))
      lines.push_back(fmt::format(
          "the layers are those of {0} with its usual options, not with [{0}]; count others with "
          "`parajoule models {0} --profile --set KEY=VALUE` and name the file with --profile",
          base::shown(model)));
    return lines;
  }

  std::vector<Wish> file;
  std::vector<std::string> set;
  std::string model = "resnet50";

 private:
  void keep_word(std::string_view key, const std::string& value) {
    if (key == "model")
      model = value;
    else
      unused_.insert(std::string(key));
  }

  const Vocabulary& vocabulary_;
  std::set<std::string> unused_;
};

/// Where a profile may lie: here, beside an installed program, in the tree a program was built in.
std::string profile_of_model(const std::string& model) {
  const fs::path file = fs::path("models") / (model + ".toml");
  const fs::path bin = fs::path(own_program()).parent_path();
  const fs::path places[] = {file, bin / "../share/parajoule" / file, bin / "../../.." / file};
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::exists(place, error)) return place.lexically_normal().string();
  }
  throw base::Error(
      base::Fault::input,
      fmt::format("model = {0}: there is no {1}, which says what its layers cost; write one with "
                  "`parajoule models {0} --profile > {0}.toml` and name it with --profile FILE",
                  base::shown(model), base::shown(file.string())));
}

/// How many vectors the optimizer keeps, by making one of a single number.
double state_vectors(const std::string& name, const base::Settings& settings) {
  schedule::Layout layout;
  layout.parameters.push_back({.name = "w", .shape = {1, 1}, .range = {0, 1}});
  int vectors = 0;
  std::vector<double> numbers(16, 0.0);
  optimize::optimizer(name).make(settings, layout, [&](std::size_t count) {
    ++vectors;
    return base::Vector(numbers.data(), std::min(count, numbers.size()), base::Element::float64);
  });
  return vectors;
}

rehearse::Slow slow_of(const Collected& collected, int ranks) {
  const base::Settings always("slow", slow_options, collected.values("slow"));
  const base::Settings now("slow.random", random_options, collected.values("slow.random"));
  rehearse::Slow slow;
  if (!collected.table("slow").empty()) {
    if (!always.entries().at("rank").given)
      throw base::Error(base::Fault::usage, "slow.factor: say whose it is: slow.rank = 0");
    slow.rank = int(std::min<std::int64_t>(always.whole("rank"), ranks));
    slow.factor = always.number("factor");
  }
  if (slow.rank && *slow.rank >= ranks)
    throw base::Error(base::Fault::usage, fmt::format("slow.rank = {}: the last of {} ranks is {}",
                                                      always.whole("rank"), ranks, ranks - 1));
  if (!collected.table("slow.random").empty())
    slow.random = {now.number("probability"), now.number("factor"),
                   std::uint64_t(now.whole("seed"))};
  return slow;
}

/// The formula of two levels is that of halving and doubling among the nodes.
void check_leaders(const base::Settings& sum) {
  const auto leaders = sum.entries().find("leaders");
  if (leaders == sum.entries().end()) return;
  const std::string name = base::written(leaders->second.value);
  if (name != "halving_doubling")
    throw base::Error(base::Fault::usage,
                      fmt::format("hierarchical.leaders = {}: a rehearsal knows halving_doubling "
                                  "among the nodes only",
                                  name));
}

void add_settings(std::vector<store::Setting>& rows, const std::string& table,
                  const base::Settings& settings) {
  for (const auto& [key, entry] : settings.entries()) {
    if (table.empty() && key == "slow") continue;
    rows.push_back({.key = table.empty() ? key : table + "." + key,
                    .value = base::written(entry.value),
                    .origin = entry.given ? "given" : "default"});
  }
}

std::int64_t training_ranks(const rehearse::Rehearsal& rehearsal) {
  comm::Nodes nodes;
  for (int rank = 0; rank < rehearsal.ranks; ++rank)
    nodes.node.push_back(rank / rehearsal.ranks_per_node);
  std::int64_t training = 0;
  for (int rank = 0; rank < rehearsal.ranks; ++rank) {
    const auto part =
        strategy::method(rehearsal.strategy).part(rank, rehearsal.ranks, nodes, rehearsal.options);
    if (part.trains) ++training;
  }
  return training;
}

}  // namespace

RehearsalPlan rehearsal_of(const RehearsalRequest& request) {
  const Vocabulary words = vocabulary();
  Sorted sorted(words);
  sorted.take(read_wishes(request.experiment));
  sorted.take(request.set);
  Collected collected(words);
  collected.add(sorted.file);
  collected.add(sorted.set);
  const base::Settings top = top_settings(collected, words);

  RehearsalPlan result{.rehearsal = {},
                       .name = top.word("name"),
                       .model = sorted.model,
                       .records = top.word("records"),
                       .settings = {},
                       .remarks = sorted.remarks(request.profile.has_value())};
  rehearse::Rehearsal& r = result.rehearsal;
  r.machine = rehearse::read_machine(request.machine);
  r.ranks = request.ranks.value_or(int(top.whole("ranks")));
  r.ranks_per_node = int(whole_if_given(top, "ranks_per_node").value_or(r.machine.devices));
  r.strategy = collected.chosen("strategy");
  r.options = method_settings(collected, r.strategy, collected.chosen("overlap"));
  const std::string sum = collected.chosen("sum");
  r.sum = simulate::sum_named(sum);
  r.expand = request.expand;
  check_leaders(base::Settings(sum, words.alternative(sum)->options, collected.values(sum)));

  const std::string optimizer = collected.chosen("optimizer");
  const base::Settings rule(optimizer, words.alternative(optimizer)->options,
                            collected.values(optimizer));
  check_optimizer(r.strategy, optimizer, rule);
  const BatchSizes batches = batch_sizes(collected, top, training_ranks(r));
  const auto profile =
      rehearse::read_profile(request.profile ? *request.profile : profile_of_model(sorted.model));
  r.plan = {
      .layers = rehearse::layer_times(profile, r.machine, top.word("precision"), batches.local),
      .layout = rehearse::layout_of(profile),
      .memory_bytes_per_second = *r.machine.device.memory_bytes_per_second,
      .state_vectors = state_vectors(optimizer, rule),
      .momentum = optimize::momentum(rule),
      .learning_rate = top.number("learning_rate"),
      .local_batch_size = batches.local,
      .steps = request.steps > 0 ? request.steps : whole_if_given(top, "steps").value_or(few_steps),
      .samples = request.samples,
      .seed = std::uint64_t(top.whole("seed")),
      .slow = slow_of(collected, r.ranks)};
  if (request.pass_seconds) rehearse::stretch(r.plan.layers, base::Seconds(*request.pass_seconds));
  add_settings(result.settings, "", top);
  add_settings(result.settings, r.strategy, r.options);
  add_settings(result.settings, optimizer, rule);
  return result;
}

}  // namespace parajoule::cli
