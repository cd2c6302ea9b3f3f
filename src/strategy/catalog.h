#pragma once

// The one table that names the methods.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "comm/communicator.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

/// What one rank does in a method, known before anything starts.
struct Part {
  std::optional<int> trains;  ///< its number among the ranks that train; none: it serves
  double share = 0;           ///< of an epoch's samples
};

/// What a method cannot do is refused here, with the reason: throws Error{usage}.
using PartOf = Part (*)(int rank, int ranks, const comm::Nodes& nodes, const base::Settings&);

struct Method {
  std::string_view name;  ///< as in `strategy = "local_sgd"`
  std::string_view summary;
  std::string_view paper;
  std::vector<base::Option> options;
  PartOf part;
  /// Steps by which ranks may drift apart: a decision all ranks take together takes effect this
  /// many steps later, so that taking it does not hold anyone up.
  std::int64_t (*drift)(const base::Settings&);
  std::unique_ptr<Strategy> (*make)(comm::Communicator&, const base::Settings&);
  /// Throws Error{usage} if its rule does not hold with an optimizer of this momentum (see
  /// Worker::momentum). Null: it holds with all. Each method asks again in its first step.
  void (*check_optimizer)(std::optional<double> momentum) = nullptr;

  /// Whether it sums gradients in the pass: then its last options are `overlap_options`, which
  /// experiments choose beside the method.
  bool overlaps() const;
  /// The options of its own table.
  std::span<const base::Option> own_options() const;
};

/// The usual one comes first.
std::span<const Method> methods();

/// Throws Error{usage} that names the known ones.
const Method& method(std::string_view name);

}  // namespace parajoule::strategy
