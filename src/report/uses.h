#pragma once

// Where the energy of a run went: training, evaluation, waiting, starting; and what to change.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "store/rows.h"

namespace parajoule::report {

/// Energy since the begin of a span: straight between moments, nothing before the first.
class EnergyCurve {
 public:
  struct Moment {
    base::Seconds at;
    base::Joules energy;
  };
  /// In the order of time.
  explicit EnergyCurve(std::vector<Moment> moments) : moments_(std::move(moments)) {}
  base::Joules between(base::Seconds begin, base::Seconds end) const;

 private:
  base::Joules until(base::Seconds at) const;
  std::vector<Moment> moments_;
};

/// What a run is, for this question.
struct Traced {
  std::string run;  ///< its name and id
  base::Seconds begin;
  base::Seconds end;
  EnergyCurve energy;
  double uncertainty = 0;  ///< of the energy, relative, 95 %
  std::string label;       ///< measured ...
  std::vector<store::Phase> phases;
  std::vector<store::Step> steps;
  /// The part of the evaluated samples that belong to the training set; none if it is not
  /// evaluated.
  std::optional<double> evaluation_of_training_set = {};
};

struct Use {
  std::string name;
  base::Joules energy;
  /// What the run would take less without it; none of what it is for, and of what nobody can name.
  std::optional<base::Joules> if_removed = {};
};

struct Suggestion {
  std::string use;
  std::string change;  ///< names the setting
  base::Joules saving;
  base::Joules half_width;  ///< of `saving`, from that of the energy
  std::string evidence;
};

struct Uses {
  base::Joules total;
  std::vector<Use> uses;                     ///< their sum is `total`
  std::vector<Suggestion> suggestions = {};  ///< at most three, the largest first
};

/// The energy of each moment is shared equally by the ranks that train, and each rank's share goes
/// to the phase it is in. Waiting for stragglers is what a rank waits in a step beyond the one that
/// waits least. Suggestions are for what takes at least a twentieth of the energy. None without
/// ranks or energy.
std::optional<Uses> uses_of(const Traced& run);

}  // namespace parajoule::report
