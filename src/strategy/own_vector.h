#pragma once

// What a method holds beside the vectors of its worker.

#include <optional>
#include <string_view>

#include "base/archive.h"
#include "base/vector.h"

namespace parajoule::strategy {

/// A vector of a method's own. It comes to be in the first step, as only then the worker is known;
/// what a checkpoint holds of it waits until then.
class OwnVector {
 public:
  bool made() const { return made_; }
  /// Once. `vector` lies in the communicator's memory; what was loaded is copied into it.
  void make(base::Vector vector);

  base::Vector operator*() const { return vector_; }
  const base::Vector* operator->() const { return &vector_; }

  /// Nothing is stored of a vector that never came to be.
  void save(base::Archive& archive, std::string_view name) const;
  void load(const base::Archive& archive, std::string_view name);

 private:
  base::Vector vector_;
  bool made_ = false;
  std::optional<base::Archive::Entry> loaded_;
};

}  // namespace parajoule::strategy
