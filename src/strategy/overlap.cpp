#include "strategy/overlap.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "strategy/merge.h"

namespace parajoule::strategy {
namespace {

using base::Option;

std::vector<Overlap> table() {
  return {
      {.name = "none",
       .summary = "one sum of all gradients after the backward pass",
       .paper = "",
       .options = {}},
      {.name = "layer",
       .summary = "a sum for each parameter, begun once its gradient is there (wait-free backward)",
       .paper = "arXiv:1706.03292, arXiv:1805.03812",
       .options = {}},
      {.name = "merged",
       .summary = "gradients merged, by their bytes or by measured times, and summed meanwhile",
       .paper = "arXiv:2006.15704, arXiv:1811.11141",
       .options = {{.name = "merge_by",
                    .kind = Option::Kind::word,
                    .fallback = "bytes",
                    .help =
                        "bytes: into ranges of merge_bytes; times: as measured backward times and "
                        "the cost a + b s of a sum make it pay (MG-WFBP)",
                    .choices = {"bytes", "times"}},
                   {.name = "merge_bytes",
                    .kind = Option::Kind::whole,
                    .fallback = "4194304",
                    .help = "gradients are merged into ranges of at least so many bytes",
                    .least = 1},
                   {.name = "measured_steps",
                    .kind = Option::Kind::whole,
                    .fallback = "5",
                    .help =
                        "first steps, in which nothing overlaps and times are taken, for merge_by "
                        "= times",
                    .least = 1}}},
      {.name = "lazy",
       .summary = "gradients are summed once those not yet sent exceed a threshold (GradientFlow)",
       .paper = "arXiv:1902.06855",
       .options = {{.name = "threshold_bytes",
                    .kind = Option::Kind::whole,
                    .fallback = "4194304",
                    .help =
                        "theta, bytes of final gradients that are kept back at most; 0: a sum for "
                        "each parameter",
                    .least = 0}}},
  };
}

std::vector<base::Range> by_layer(const schedule::Layout& layout) {
  std::vector<schedule::Parameter> parameters = layout.parameters;
  std::ranges::stable_sort(parameters, {}, &schedule::Parameter::backward);
  std::vector<base::Range> ranges;
  for (const schedule::Parameter& parameter : parameters)
    if (parameter.range.size() > 0) ranges.push_back(parameter.range);
  return ranges;
}

/// Keeps the smaller of each pair.
void keep_least(std::vector<double>& least, const std::vector<double>& now) {
  least.resize(now.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < now.size(); ++i) least[i] = std::min(least[i], now[i]);
}

/// When each parameter's gradient becomes final in one pass.
class ReadyTimes final : public Watch {
 public:
  explicit ReadyTimes(Worker& worker) : worker_(worker) {
    for (const auto& parameter : worker.layout().parameters)
      missing_.push_back(parameter.range.size());
    times_.resize(missing_.size());
  }

  void ready(base::Range range) override {
    const auto& parameters = worker_.layout().parameters;
    const base::Seconds now = worker_.now();
    auto parameter = std::ranges::upper_bound(parameters, range.begin, {},
                                              [](const auto& each) { return each.range.end; });
    for (; parameter != parameters.end() && parameter->range.begin < range.end; ++parameter) {
      const auto i = std::size_t(parameter - parameters.begin());
      missing_[i] -=
          std::min(range.end, parameter->range.end) - std::max(range.begin, parameter->range.begin);
      if (missing_[i] == 0) times_[i] = now;
    }
  }

  /// Seconds since the first of them, from the last parameter to the first; a parameter before
  /// another is not ready before it.
  std::vector<double> since_the_first() const {
    std::vector<double> seconds;
    base::Seconds latest{0};
    for (auto time = times_.rbegin(); time != times_.rend(); ++time) {
      latest = std::max(latest, *time);
      seconds.push_back((latest - times_.back()).count());
    }
    return seconds;
  }

 private:
  Worker& worker_;
  std::vector<std::size_t> missing_;
  std::vector<base::Seconds> times_;
};

}  // namespace

/// Made when first asked for: the table of methods, made before `main`, asks for it.
std::span<const Overlap> overlaps() {
  static const std::vector<Overlap> entries = table();
  return entries;
}

std::vector<base::Option> overlap_options() {
  Option which{.name = "overlap",
               .kind = Option::Kind::word,
               .fallback = usual_overlap,
               .help = "how sums overlap the backward pass"};
  std::vector<Option> all{which};
  for (const Overlap& known : overlaps()) {
    all.front().choices.push_back(known.name);
    all.insert(all.end(), known.options.begin(), known.options.end());
  }
  return all;
}

OverlappedSum::OverlappedSum(comm::Communicator& group, const base::Settings& settings)
    : group_(group),
      kind_(Kind::none),
      bytes_(std::size_t(settings.whole("merge_bytes"))),
      measured_steps_(settings.whole("measured_steps")) {
  const std::string& name = settings.word("overlap");
  if (name == "layer") kind_ = Kind::layer;
  if (name == "merged")
    kind_ = settings.word("merge_by") == "bytes" ? Kind::by_bytes : Kind::by_times;
  if (name == "lazy") {
    kind_ = Kind::lazy;
    bytes_ = std::size_t(settings.whole("threshold_bytes"));
  }
}

void OverlappedSum::compute_gradients(Worker& worker, double factor) {
  if (kind_ == Kind::none) {
    worker.compute_gradients();
    return group_.sum(worker.gradients(), factor);
  }
  if (!ranges_) decide(worker);
  if (!ranges_) return compute_measured(worker, factor);
  MergedSum sum(group_, worker.gradients(), *ranges_, factor);
  worker.compute_gradients(sum);
  sum.finish();
}

void OverlappedSum::decide(Worker& worker) {
  const schedule::Layout& layout = worker.layout();
  const base::Element element = worker.gradients().element();
  switch (kind_) {
    case Kind::none:
      break;
    case Kind::layer:
      ranges_ = by_layer(layout);
      break;
    case Kind::by_bytes:
      ranges_ = merged_ranges(layout, element, bytes_);
      break;
    case Kind::lazy:
      ranges_ = lazy_ranges(layout, element, bytes_);
      break;
    case Kind::by_times:
      if (steps_ == measured_steps_) agree(layout, base::bytes_of(element));
      break;
  }
}

void OverlappedSum::compute_measured(Worker& worker, double factor) {
  time_sums(worker);
  ReadyTimes times(worker);
  worker.compute_gradients(times);
  // Without samples all gradients are zero, and there, at once.
  if (worker.progress().samples > 0) keep_least(ready_, times.since_the_first());
  group_.sum(worker.gradients(), factor);
  ++steps_;
}

/// Of all gradients and of ever smaller parts; what the last step has left there is of no use.
void OverlappedSum::time_sums(Worker& worker) {
  const base::Vector gradients = worker.gradients();
  std::vector<double> seconds;
  sizes_.clear();
  for (std::size_t count = gradients.count(); count > 0; count /= 4) {
    const base::Vector part = gradients[{0, count}];
    group_.barrier();
    const base::Seconds begin = worker.now();
    group_.sum(part, 0);
    seconds.push_back((worker.now() - begin).count());
    sizes_.push_back(double(part.bytes()));
  }
  keep_least(times_, seconds);
}

void OverlappedSum::agree(const schedule::Layout& layout, std::size_t bytes_of_element) {
  std::vector<base::Seconds> times;
  for (double seconds : times_) times.emplace_back(seconds);
  const schedule::SumCost own =
      sizes_.empty() ? schedule::SumCost() : schedule::fitted(sizes_, times);
  std::vector<double> agreed = ready_;
  agreed.resize(layout.parameters.size());
  agreed.push_back(own.start.count());
  agreed.push_back(own.per_byte.count());
  group_.broadcast(base::Vector(std::span(agreed)), 0);
  std::vector<schedule::Gradient> gradients;
  const auto& parameters = layout.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t size = parameters[parameters.size() - 1 - i].range.size();
    gradients.push_back({base::Seconds(agreed[i]), double(size * bytes_of_element)});
  }
  const schedule::SumCost cost{.start = base::Seconds(agreed[parameters.size()]),
                               .per_byte = base::Seconds(agreed[parameters.size() + 1])};
  ranges_.emplace();
  std::size_t end = layout.parameter_count();
  std::size_t before = parameters.size();
  for (std::size_t merged : schedule::merged_sums(gradients, cost)) {
    before -= merged;
    const std::size_t begin = parameters[before].range.begin;
    if (end > begin) ranges_->push_back({begin, end});
    end = begin;
  }
}

void OverlappedSum::save(base::Archive& archive) const {
  if (kind_ != Kind::by_times || !ranges_) return;
  std::vector<std::int64_t> ends;
  for (const base::Range& range : *ranges_) ends.push_back(std::int64_t(range.end));
  archive.put("merged_count", std::int64_t(ends.size()));
  archive.put("merged_ends", base::Vector(std::span(ends)));
}

void OverlappedSum::load(const base::Archive& archive) {
  if (kind_ != Kind::by_times || !archive.holds("merged_count")) return;
  const std::int64_t count = archive.whole("merged_count");
  std::vector<std::int64_t> ends(std::size_t(std::max<std::int64_t>(count, 0)));
  archive.get("merged_ends", base::Vector(std::span(ends)));
  ends.push_back(0);
  ranges_.emplace();
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if (ends[i + 1] < 0 || ends[i] <= ends[i + 1]) {
      throw base::Error(base::Fault::input,
                        "checkpoint: 'merged_ends' does not cut the gradients into ranges; it is "
                        "damaged, resume from an older one");
    }
    ranges_->push_back({std::size_t(ends[i + 1]), std::size_t(ends[i])});
  }
}

}  // namespace parajoule::strategy
