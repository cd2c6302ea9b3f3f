#include "report/uses.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

namespace parajoule::report {
namespace {

using base::Joules;
using base::Seconds;

constexpr double worth_telling = 0.05;  // of the energy
constexpr std::size_t most_suggestions = 3;

/// The energy of each phase, over all ranks.
struct Spent {
  std::map<std::string, Joules> phases = {};
  Joules start = {};  ///< before a rank's first phase
};

Spent spent_by(const Traced& run, const std::set<int>& ranks) {
  Spent spent;
  const double share = 1.0 / double(ranks.size());
  for (const int rank : ranks) {
    Seconds first = run.end;
    for (const store::Phase& phase : run.phases) {
      if (phase.rank != rank) continue;
      const Seconds begin = std::clamp(phase.begin, run.begin, run.end),
                    end = std::clamp(phase.end, run.begin, run.end);
      spent.phases[phase.name] += run.energy.between(begin, end) * share;
      first = std::min(first, begin);
    }
    if (first >= run.end) continue;  // a rank without phases: all of it is "other"
    spent.start += run.energy.between(run.begin, first) * share;
  }
  return spent;
}

/// Time that ranks waited because another was slow.
struct Stragglers {
  Seconds waited{0};  ///< of all ranks, beyond the one that waits least
  Seconds delay{0};   ///< of the run: the most that any waited so, step by step
  Seconds all{0};     ///< waited for whatever reason
  int slowest = 0;    ///< the rank that waits least most often
  double share = 0;   ///< of the steps in which it does
};

Stragglers stragglers_of(const std::vector<store::Step>& rows, const std::set<int>& ranks) {
  std::map<std::int64_t, std::vector<const store::Step*>> steps;
  for (const store::Step& row : rows)
    if (ranks.contains(row.rank)) steps[row.step].push_back(&row);
  Stragglers found;
  std::map<int, int> least_often;
  int together = 0;
  for (const auto& [step, all] : steps) {
    for (const store::Step* row : all) found.all += row->waited;
    if (all.size() < ranks.size() || all.size() < 2) continue;
    const auto by_wait = [](const store::Step* row) { return row->waited; };
    const store::Step* least = *std::ranges::min_element(all, {}, by_wait);
    const store::Step* most = *std::ranges::max_element(all, {}, by_wait);
    for (const store::Step* row : all) found.waited += row->waited - least->waited;
    found.delay += most->waited - least->waited;
    ++least_often[least->rank];
    ++together;
  }
  for (const auto& [rank, times] : least_often)
    if (double(times) / together > found.share) {
      found.slowest = rank;
      found.share = double(times) / together;
    }
  return found;
}

void suggest(Uses& uses, const Traced& run, const Use& use, Joules saving,
             const std::string& change) {
  if (saving.value < worth_telling * uses.total.value) return;
  uses.suggestions.push_back(
      {use.name, change, saving, saving * run.uncertainty,
       fmt::format("{} took {:.1f} % of the energy", use.name, 100 * (use.energy / uses.total))});
}

void add_suggestions(Uses& uses, const Traced& run, const Stragglers& late) {
  for (const Use& use : uses.uses) {
    if (!use.if_removed) continue;
    const Joules saving = *use.if_removed;
    if (use.name == "evaluation" && run.evaluation_of_training_set)
      suggest(uses, run, use, saving * *run.evaluation_of_training_set,
              "evaluate_training_set = false: the training set is evaluated after every epoch");
    else if (use.name == "evaluation")
      suggest(uses, run, use, saving, "a larger evaluation_batch_size, or longer epochs");
    else if (use.name == "data wait")
      suggest(uses, run, use, saving, "more loader_threads");
    else if (use.name == "exposed communication")
      suggest(uses, run, use, saving,
              "overlap = \"layer\", a compression, or a strategy that exchanges less often");
    else if (use.name == "waiting for stragglers" && late.share > 0.5)
      suggest(uses, run, use, saving,
              fmt::format("another place than that of rank {}, or strategy = \"backup_workers\": "
                          "the others waited for it in {:.0f} % of the steps",
                          late.slowest, 100 * late.share));
    else if (use.name == "waiting for stragglers")
      suggest(uses, run, use, saving, "strategy = \"local_sgd\": no rank is slow for long");
    else if (use.name == "checkpoints")
      suggest(uses, run, use, saving, "a larger checkpoint_every_steps");
  }
  std::ranges::stable_sort(uses.suggestions, std::greater<>(), &Suggestion::saving);
  if (uses.suggestions.size() > most_suggestions)
    uses.suggestions.erase(uses.suggestions.begin() + most_suggestions, uses.suggestions.end());
}

}  // namespace

Joules EnergyCurve::until(Seconds at) const {
  if (moments_.empty() || at <= moments_.front().at) return {};
  if (at >= moments_.back().at) return moments_.back().energy;
  const auto after = std::ranges::upper_bound(moments_, at, {}, &Moment::at);
  const auto before = after - 1;
  const double part = (at - before->at) / (after->at - before->at);
  return before->energy + part * (after->energy - before->energy);
}

Joules EnergyCurve::between(Seconds begin, Seconds end) const {
  return end > begin ? until(end) - until(begin) : Joules{};
}

std::optional<Uses> uses_of(const Traced& run) {
  std::set<int> ranks;
  for (const store::Step& step : run.steps)
    if (step.samples > 0) ranks.insert(step.rank);
  Uses uses{.total = run.energy.between(run.begin, run.end), .uses = {}};
  if (ranks.empty() || !(uses.total.value > 0)) return {};

  Spent spent = spent_by(run, ranks);
  const Joules exposed = spent.phases["exposed_communication"];
  const Stragglers late = stragglers_of(run.steps, ranks);
  const double part = late.all.count() > 0 ? late.waited / late.all : 0;
  const Joules waiting = exposed * part;
  // Without the slowest rank's delay every rank would have been that much shorter, its own time
  // too.
  const double for_all =
      late.waited.count() > 0 ? double(ranks.size()) * (late.delay / late.waited) : 1;
  uses.uses = {{"useful training",
                spent.phases["forward"] + spent.phases["backward"] + spent.phases["update"]}};
  const auto add = [&](const char* name, Joules energy) {
    uses.uses.push_back({name, energy, energy});
  };
  add("evaluation", spent.phases["evaluation"]);
  add("data wait", spent.phases["data_wait"]);
  add("exposed communication", exposed - waiting);
  uses.uses.push_back({"waiting for stragglers", waiting, waiting * for_all});
  add("checkpoints", spent.phases["checkpoint"]);
  add("start-up", spent.start);
  Joules named = {};
  for (const Use& use : uses.uses) named += use.energy;
  uses.uses.push_back({"idle and other", uses.total - named});
  add_suggestions(uses, run, late);
  return uses;
}

}  // namespace parajoule::report
