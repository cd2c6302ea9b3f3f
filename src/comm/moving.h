#pragma once

// What is under way in a rank, and who is missing when it does not come to its end.

#include <string>
#include <vector>

namespace parajoule::comm {

struct Absence {
  enum class Need { all, one };
  std::string what = {};        ///< "sum number 17 of 1000 float32"
  std::vector<int> ranks = {};  ///< in the world, that have not come
  Need need = Need::all;        ///< whether it goes on when all of them have come, or one
};

/// A message or a collective under way.
class Moving {
 public:
  virtual ~Moving() = default;
  /// Goes on as far as it can without waiting.
  virtual void advance() = 0;
  virtual bool finished() const = 0;
  virtual Absence absence() const = 0;
  /// Called once this rank has waited long: tells other nodes that it is not the one missing.
  virtual void announce() {}
};

}  // namespace parajoule::comm
