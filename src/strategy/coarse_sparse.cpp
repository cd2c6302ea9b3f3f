// Coarse-grained sparse communication, the part of GradientFlow that changes the training: P. Sun,
// W. Feng, R. Han, S. Yan, Y. Wen, "Optimizing Network Performance for Distributed DNN Training on
// GPU Clusters", 2019, arXiv:1902.06855. Gradients are cut into equal chunks, and only the
// important ones are summed; what is held back fades by the momentum and is added to the next.
//
//   g  <- g + hg
//   important chunks      hg <- 0       g <- mean over the ranks of g
//                         hu <- mu hu + lr g    w <- w - hu
//   the others            hg <- mu g    hu and w stay
//   next important: the k = ceil((1 - sparsity) chunks) largest sums over the ranks of |chunk|_1
//
// The sparsity rises evenly from 0 over the warm-up steps. The first step sends all, as no norms
// are known. Of equal norms the chunk that comes first is chosen; a chunk that holds no numbers
// comes before all, so that they are met by everyone at once.
//
// Sums run during the backward pass: the important chunks are copied end to end as they become
// final, and summed whenever they fill a threshold (the paper has it so and does not tell its own).
//
// mu and the update are the optimizer's (SGD), whose velocity has the learning rate outside; with
// mu = 0 what is held back is dropped, as in the paper. Weight decay pulls where w moves. A rank's
// gradient weighs R n_r / n, which is 1 if all take equally many samples, as in the paper. The
// important chunks hold the mean, not the sum, when their norms are taken: the paper's division by
// the number of ranks is in it.
#include "strategy/coarse_sparse.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "strategy/merge.h"

namespace parajoule::strategy {

using base::Range;
using base::Vector;

void CoarseSparse::check_optimizer(std::optional<double> momentum) {
  if (momentum) return;
  throw base::Error(base::Fault::usage,
                    "coarse_sparse: what is held back fades by the momentum of SGD, which this "
                    "optimizer does not have; use optimizer = \"sgd\"");
}

void CoarseSparse::begin(Worker& worker) {
  if (residual_.made()) return;
  check_optimizer(worker.momentum());
  residual_.make(worker.spare());
  packed_ = worker.spare();
  const std::size_t chunk = std::size_t(options_.chunk);
  const std::size_t chunks = (packed_.count() + chunk - 1) / chunk;
  norms_ = group_.allocate(packed_.element(), chunks);
  if (important_.empty()) important_.assign(chunks, 1);
}

void CoarseSparse::step(Worker& worker) {
  begin(worker);
  const Progress at = worker.progress();
  // One that takes part in a step of no samples at all has the gradient zero.
  const bool weighs = at.samples > 0 && at.samples * group_.size() != at.samples_of_all;
  compute_gradients(worker,
                    weighs ? double(at.samples * group_.size()) / double(at.samples_of_all) : 1);
  const Vector gradients = worker.gradients();
  measure(gradients);
  hold_back(gradients, *worker.momentum());
  for (const Range& range : ranges(true)) worker.update(worker.weights(), gradients, range);
  choose(at.step + 1);
}

/// Leaves g + hg, each important chunk of it summed while the pass still runs.
void CoarseSparse::compute_gradients(Worker& worker, double weight) {
  const std::vector<Region> regions = this->regions();
  const Vector gradients = worker.gradients();
  std::vector<Range> ranges;
  for (const Region& region : regions) ranges.push_back(region.all);
  MergedSum sums(std::move(ranges),
                 [&](std::size_t region) { return start_sum(regions[region], gradients, weight); });
  worker.compute_gradients(sums);
  sums.finish();
  for (const Region& region : regions) {
    std::size_t at = region.packed.begin;
    for (const Range& range : region.important) {
      gradients[range].copy(packed_[{at, at + range.size()}]);
      at += range.size();
    }
  }
}

comm::Pending CoarseSparse::start_sum(const Region& region, Vector gradients, double weight) {
  if (weight != 1) gradients[region.all].scale(weight);
  gradients[region.all].add((*residual_)[region.all]);
  std::size_t at = region.packed.begin;
  for (const Range& range : region.important) {
    packed_[{at, at + range.size()}].copy(gradients[range]);
    at += range.size();
  }
  return region.packed.size() == 0 ? comm::Pending() : group_.start_mean(packed_[region.packed]);
}

/// From the last chunk, whose gradients are final first, to the first.
std::vector<CoarseSparse::Region> CoarseSparse::regions() const {
  const std::size_t enough = std::max<std::size_t>(
      1, std::size_t(options_.threshold_bytes) / base::bytes_of(packed_.element()));
  std::vector<Region> regions;
  std::vector<Range> ranges = this->ranges(true);
  std::size_t end = packed_.count(), packed = 0;
  Region next;
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    // A long run of chunks is cut where it is enough for a sum.
    while (range->size() > 0) {
      const std::size_t wanted = enough - next.packed.size();
      const std::size_t begin = range->end - std::min(range->size(), wanted);
      next.important.push_back({begin, range->end});
      packed += range->end - begin;
      next.packed.end = packed;
      range->end = begin;
      if (next.packed.size() < enough) continue;
      next.all = {begin, end};
      end = begin;
      regions.push_back(std::exchange(next, Region()));
      next.packed = {packed, packed};
    }
  }
  next.all = {0, end};
  if (end > 0) regions.push_back(std::move(next));
  return regions;
}

void CoarseSparse::measure(Vector gradients) {
  const std::size_t chunk = std::size_t(options_.chunk);
  for (std::size_t c = 0; c < norms_.count(); ++c) {
    const Range range{c * chunk, std::min((c + 1) * chunk, gradients.count())};
    norms_[{c, c + 1}].fill(gradients[range].sum_of_magnitudes());
  }
  group_.sum(norms_);
}

/// Afterwards all ranks hold the same gradients: zero where they have been held back.
void CoarseSparse::hold_back(Vector gradients, double momentum) {
  for (const Range& range : ranges(true)) (*residual_)[range].fill(0);
  for (const Range& range : ranges(false)) {
    (*residual_)[range].copy(gradients[range]);
    (*residual_)[range].scale(momentum);
    gradients[range].fill(0);
  }
}

void CoarseSparse::choose(std::int64_t step) {
  const double ramp =
      step < options_.warmup_steps ? double(step) / double(options_.warmup_steps) : 1;
  const std::size_t chunks = norms_.count();
  // A product that should be whole may lie a little below.
  const auto held_back = std::size_t(options_.sparsity * ramp * double(chunks) + 1e-9);
  std::vector<double> norm(chunks);
  for (std::size_t c = 0; c < chunks; ++c) {
    norm[c] = norms_[{c, c + 1}].sum();
    if (std::isnan(norm[c])) norm[c] = std::numeric_limits<double>::infinity();
  }
  std::vector<std::size_t> order(chunks);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t c) { return norm[c]; });
  std::ranges::fill(important_, 0);
  for (std::size_t i = 0; i < chunks - held_back; ++i) important_[order[i]] = 1;
}

/// The chunks that are important, or those that are not; neighbours in one range.
std::vector<Range> CoarseSparse::ranges(bool important) const {
  const std::size_t chunk = std::size_t(options_.chunk);
  std::vector<Range> ranges;
  for (std::size_t c = 0; c < important_.size(); ++c) {
    if (bool(important_[c]) != important) continue;
    const Range range{c * chunk, std::min((c + 1) * chunk, packed_.count())};
    if (!ranges.empty() && ranges.back().end == range.begin)
      ranges.back().end = range.end;
    else
      ranges.push_back(range);
  }
  return ranges;
}

void CoarseSparse::save(base::Archive& archive) {
  residual_.save(archive, "residual");
  archive.put("important", Vector(std::as_writable_bytes(std::span(important_))));
}

void CoarseSparse::load(const base::Archive& archive) {
  residual_.load(archive, "residual");
  const auto stored = archive.entries().find("important");
  important_.resize(stored == archive.entries().end() ? 0 : stored->second.bytes.size());
  archive.get("important", Vector(std::as_writable_bytes(std::span(important_))));
}

}  // namespace parajoule::strategy
