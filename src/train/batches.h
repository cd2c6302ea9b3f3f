#pragma once

// The batches of one rank, one after the other: in the order of the epoch, or of samples that its
// method has chosen.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/archive.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "data/order.h"

namespace parajoule::train {

/// Chosen samples take the places of the epoch's own, batch by batch and in equal sizes, until they
/// are used up; they may last over several epochs.
class Batches {
 public:
  /// Told of each batch that is read, also of one in whose place another is drawn.
  using Taken = std::function<void(const data::Loader::Batch&)>;

  /// `dataset` outlives it.
  explicit Batches(const data::Dataset& dataset) : dataset_(dataset) {}

  void on_taken(Taken taken) { taken_ = std::move(taken); }

  /// The batches of the rest of an epoch; begins to read.
  void begin(data::Pass pass, const data::Loader::Options& options);
  /// The next of them. Its memory holds until the next call.
  data::Loader::Batch take();
  /// In place of the batch that was taken last the first of `samples`, and the others after it.
  data::Loader::Batch draw(std::span<const std::int64_t> samples);
  /// Ends reading ahead, until the next `begin`.
  void end() { loader_.reset(); }

  /// Chosen samples that are still to be taken.
  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

 private:
  std::span<const std::int64_t> left() const { return std::span(drawn_).subspan(first_ + used_); }
  void open();
  data::Loader::Batch next();

  const data::Dataset& dataset_;
  Taken taken_ = [](const data::Loader::Batch&) {};
  data::Pass own_;  ///< of the epoch under way
  data::Loader::Options options_;
  std::size_t at_ = 0;               ///< batches taken of it
  std::vector<std::int64_t> drawn_;  ///< samples that were chosen last
  std::size_t first_ = 0;            ///< of them that the batch under way begins with
  std::size_t used_ = 0;             ///< of them that it has
  std::optional<data::Loader> loader_;
};

}  // namespace parajoule::train
