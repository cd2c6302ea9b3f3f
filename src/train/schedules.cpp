// The schedules of the learning rate, and the one table that names them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "base/error.h"
#include "train/learning_rate.h"

namespace parajoule::train {
namespace {

using base::Option;
using base::Settings;
using Kind = Option::Kind;

class Constant final : public Schedule {
 public:
  double factor(const Taken&) const override { return 1; }
};

/// Epochs at which something changes, each later than the one before.
class Milestones {
 public:
  explicit Milestones(const Settings& settings) : epochs_(settings.wholes("milestones")) {
    const bool rising = std::ranges::adjacent_find(epochs_, std::greater_equal()) == epochs_.end();
    if (rising && (epochs_.empty() || epochs_.front() > 0)) return;
    throw base::Error(base::Fault::usage,
                      fmt::format("milestones = {}: they are epochs from 1 on, each later than the "
                                  "one before",
                                  base::written(epochs_)));
  }

  std::int64_t passed(std::int64_t epoch) const {
    return std::ranges::upper_bound(epochs_, epoch) - epochs_.begin();
  }

 private:
  std::vector<std::int64_t> epochs_;
};

//   rate(e) = full rate * factor ^ (milestones passed at e)
class Step final : public Schedule {
 public:
  explicit Step(const Settings& settings)
      : milestones_(settings), factor_(settings.number("factor")) {}

  double factor(const Taken& taken) const override {
    return std::pow(factor_, double(milestones_.passed(taken.epochs)));
  }

 private:
  Milestones milestones_;
  double factor_;
};

// Half a cosine from the end of warm-up to the end of training. Loshchilov and Hutter's equation
// (5) with one cycle and the smallest rate 0; after warm-up as T. He et al., "Bag of Tricks for
// Image Classification", arXiv:1812.01187, section 5.1.
//
//   rate(e) = full rate * (1 + cos(pi (e - warmup) / (epochs - warmup))) / 2
class Cosine final : public Schedule {
 public:
  Cosine(const Settings& settings, std::int64_t epochs)
      : warmup_(double(settings.whole("warmup_epochs"))), length_(double(epochs) - warmup_) {}

  double factor(const Taken& taken) const override {
    if (length_ <= 0) return 1;
    const double done = std::clamp((taken.position() - warmup_) / length_, 0.0, 1.0);
    return (1 + std::cos(std::numbers::pi * done)) / 2;
  }

 private:
  double warmup_;
  double length_;
};

// Lowers the rate when the loss has not been better for more than `patience` epochs. Better means
// below (1 - threshold) times the best so far; with this reading of both words it behaves as
// PyTorch's ReduceLROnPlateau in mode `min`.
class Plateau final : public Schedule {
 public:
  explicit Plateau(const Settings& settings)
      : by_(settings.number("factor")),
        patience_(settings.whole("patience")),
        threshold_(settings.number("threshold")) {}

  double factor(const Taken&) const override { return factor_; }

  void epoch_ended(double loss) override {
    if (loss < best_ * (1 - threshold_)) {
      best_ = loss;
      bad_epochs_ = 0;
      return;
    }
    if (++bad_epochs_ <= patience_) return;
    factor_ *= by_;
    bad_epochs_ = 0;
  }

  void save(base::Archive& archive) const override {
    archive.put("factor", factor_);
    archive.put("best", best_);
    archive.put("bad_epochs", bad_epochs_);
  }

  void load(const base::Archive& archive) override {
    factor_ = archive.number("factor");
    best_ = archive.number("best");
    bad_epochs_ = archive.whole("bad_epochs");
  }

 private:
  double by_;
  std::int64_t patience_;
  double threshold_;
  double factor_ = 1;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t bad_epochs_ = 0;
};

// The rate goes up and down between `lowest` and the full rate, in straight lines of
// `half_cycle_epochs` each (the paper's stepsize), from the end of warm-up on.
//
//   triangular    the same in each cycle
//   triangular2   the height above the lowest rate halves with each cycle
class Cyclical final : public Schedule {
 public:
  explicit Cyclical(const Settings& settings)
      : warmup_(double(settings.whole("warmup_epochs"))),
        lowest_(settings.number("lowest")),
        half_cycle_(settings.number("half_cycle_epochs")),
        shape_(settings.word("shape") == "triangular2" ? Shape::triangular2 : Shape::triangular) {}

  double factor(const Taken& taken) const override {
    const double halves = std::max(0.0, taken.position() - warmup_) / half_cycle_;
    const double cycle = std::floor(halves / 2);
    const double height = 1 - std::abs(halves - 2 * cycle - 1);
    const double scale = shape_ == Shape::triangular2 ? std::exp2(-cycle) : 1;
    return lowest_ + (1 - lowest_) * height * scale;
  }

 private:
  enum class Shape { triangular, triangular2 };

  double warmup_;
  double lowest_;
  double half_cycle_;
  Shape shape_;
};

// Grows the batch where a step schedule would lower the rate: both shrink the noise of the updates,
// which goes as rate * samples / batch, by the same factor. Once the batch would pass
// `largest_factor` times its first size the rate is lowered instead.
class GrowingBatch final : public Schedule {
 public:
  explicit GrowingBatch(const Settings& settings)
      : milestones_(settings),
        growth_(settings.whole("growth")),
        largest_(settings.whole("largest_factor")) {}

  double factor(const Taken& taken) const override {
    return std::pow(double(growth_),
                    double(growths(taken.epochs)) - double(milestones_.passed(taken.epochs)));
  }

  std::int64_t batch_factor(std::int64_t epoch) const override {
    std::int64_t factor = 1;
    for (std::int64_t left = growths(epoch); left > 0; --left) factor *= growth_;
    return factor;
  }

 private:
  /// Milestones passed at which the batch grew.
  std::int64_t growths(std::int64_t epoch) const {
    std::int64_t count = 0;
    std::int64_t factor = 1;
    while (count < milestones_.passed(epoch) && factor <= largest_ / growth_) {
      factor *= growth_;
      ++count;
    }
    return count;
  }

  Milestones milestones_;
  std::int64_t growth_;
  std::int64_t largest_;
};

std::vector<Option> with_warmup(std::vector<Option> options) {
  options.push_back({.name = "warmup_epochs",
                     .kind = Kind::whole,
                     .fallback = "0",
                     .help = "epochs in which the rate rises from learning_rate to the full rate",
                     .least = 0});
  options.push_back({.name = "warmup",
                     .kind = Kind::word,
                     .fallback = "iteration",
                     .help = "how often the rate rises in warm-up",
                     .choices = {"iteration", "epoch"}});
  return options;
}

Option milestones(std::string_view fallback) {
  return {.name = "milestones",
          .kind = Kind::wholes,
          .fallback = fallback,
          .help = "epochs, counted from the start of training, from which the change holds"};
}

NamedSchedule constant_row() {
  return {"constant", "the full rate throughout", "", with_warmup({}),
          [](const Settings&, std::int64_t) -> std::unique_ptr<Schedule> {
            return std::make_unique<Constant>();
          }};
}

NamedSchedule step_row() {
  return {"step", "multiply the rate by a factor at given epochs", "arXiv:1706.02677",
          with_warmup({milestones("[30, 60, 80]"),
                       {.name = "factor",
                        .kind = Kind::number,
                        .fallback = "0.1",
                        .help = "what the rate is multiplied by at each milestone",
                        .least = 0}}),
          [](const Settings& settings, std::int64_t) -> std::unique_ptr<Schedule> {
            return std::make_unique<Step>(settings);
          }};
}

NamedSchedule cosine_row() {
  return {"cosine", "half a cosine down to zero at the end of training",
          "I. Loshchilov, F. Hutter, SGDR, ICLR 2017, arXiv:1608.03983", with_warmup({}),
          [](const Settings& settings, std::int64_t epochs) -> std::unique_ptr<Schedule> {
            return std::make_unique<Cosine>(settings, epochs);
          }};
}

NamedSchedule plateau_row() {
  return {"plateau", "lower the rate when the loss has stopped falling", "",
          with_warmup({{.name = "factor",
                        .kind = Kind::number,
                        .fallback = "0.5",
                        .help = "what the rate is multiplied by",
                        .least = 0,
                        .most = 1},
                       {.name = "patience",
                        .kind = Kind::whole,
                        .fallback = "5",
                        .help = "epochs without a better loss that are borne",
                        .least = 0},
                       {.name = "threshold",
                        .kind = Kind::number,
                        .fallback = "1e-4",
                        .help = "fraction by which a loss must fall to count as better",
                        .least = 0,
                        .most = 1}}),
          [](const Settings& settings, std::int64_t) -> std::unique_ptr<Schedule> {
            return std::make_unique<Plateau>(settings);
          }};
}

NamedSchedule cyclical_row() {
  return {"cyclical", "up and down between a lowest rate and the full rate",
          "L. N. Smith, WACV 2017, arXiv:1506.01186",
          with_warmup({{.name = "lowest",
                        .kind = Kind::number,
                        .fallback = "0.2",
                        .help = "lowest rate as a fraction of the full rate",
                        .least = 0,
                        .most = 1},
                       {.name = "half_cycle_epochs",
                        .kind = Kind::number,
                        .fallback = "4",
                        .help = "epochs from the lowest rate to the highest (stepsize)",
                        .least = 1e-6},
                       {.name = "shape",
                        .kind = Kind::word,
                        .fallback = "triangular",
                        .help = "triangular2 halves the height with each cycle",
                        .choices = {"triangular", "triangular2"}}}),
          [](const Settings& settings, std::int64_t) -> std::unique_ptr<Schedule> {
            return std::make_unique<Cyclical>(settings);
          }};
}

NamedSchedule growing_batch_row() {
  return {"growing_batch", "grow the batch at given epochs instead of lowering the rate",
          "S. L. Smith et al., ICLR 2018, arXiv:1711.00489",
          with_warmup({milestones("[60, 120, 160]"),
                       {.name = "growth",
                        .kind = Kind::whole,
                        .fallback = "5",
                        .help = "what the global batch is multiplied by at each milestone",
                        .least = 2},
                       {.name = "largest_factor",
                        .kind = Kind::whole,
                        .fallback = "125",
                        .help = "largest batch over the first one; then the rate is lowered",
                        .least = 1}}),
          [](const Settings& settings, std::int64_t) -> std::unique_ptr<Schedule> {
            return std::make_unique<GrowingBatch>(settings);
          }};
}

}  // namespace

std::span<const NamedSchedule> schedules() {
  static const std::vector<NamedSchedule> table = {
      constant_row(), step_row(), cosine_row(), plateau_row(), cyclical_row(), growing_batch_row()};
  return table;
}

}  // namespace parajoule::train
