#pragma once

// How often each element has been updated: methods may update ranges of any cut.

#include <cstdint>
#include <map>
#include <vector>

#include "base/archive.h"
#include "base/vector.h"

namespace parajoule::optimize {

/// A count for each of `elements` elements, kept as ranges of equal counts; one range as long as
/// all elements take part in every step.
class StepCounts {
 public:
  struct Counted {
    base::Range range;
    std::int64_t steps;
    bool operator==(const Counted&) const = default;
  };

  explicit StepCounts(std::size_t elements);

  /// Adds a step to the elements of `range` and gives their counts, in order, without gaps.
  std::vector<Counted> advance(base::Range range);

  std::vector<Counted> all() const;

  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

 private:
  using Begins = std::map<std::size_t, std::int64_t>;
  Begins::iterator cut(std::size_t at);
  std::size_t end_of(Begins::const_iterator begin) const;

  std::size_t elements_;
  Begins begins_;  ///< first element of a range -> its count
};

}  // namespace parajoule::optimize
