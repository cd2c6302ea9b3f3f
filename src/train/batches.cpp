#include "train/batches.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace parajoule::train {
namespace {

/// The batches of `own` from number `first` on, with `drawn` in the places of its samples for as
/// long as they last.
data::Pass with(const data::Pass& own, std::size_t first, std::span<const std::int64_t> drawn) {
  data::Pass pass;
  for (std::size_t i = first; i < own.batches.size(); ++i) {
    const base::Range range = own.batches[i].range;
    const std::size_t begin = pass.samples.size();
    const std::size_t count = std::min(range.size(), drawn.size());
    const auto samples = drawn.empty() ? std::span(own.samples).subspan(range.begin, range.size())
                                       : drawn.first(count);
    if (!drawn.empty()) drawn = drawn.subspan(count);
    pass.samples.insert(pass.samples.end(), samples.begin(), samples.end());
    pass.batches.push_back(
        {.number = own.batches[i].number, .range = {begin, pass.samples.size()}});
  }
  return pass;
}

}  // namespace

void Batches::begin(data::Pass pass, const data::Loader::Options& options) {
  first_ += std::exchange(used_, 0);
  own_ = std::move(pass);
  options_ = options;
  at_ = 0;
  open();
}

void Batches::open() {
  loader_.reset();  // its threads end before others begin
  loader_.emplace(dataset_, with(own_, at_, left()), options_);
}

data::Loader::Batch Batches::take() {
  first_ += std::exchange(used_, 0);
  return next();
}

data::Loader::Batch Batches::next() {
  data::Loader::Batch batch = loader_->take();
  used_ = std::min(own_.batches[at_].range.size(), left().size());
  ++at_;
  taken_(batch);
  return batch;
}

data::Loader::Batch Batches::draw(std::span<const std::int64_t> samples) {
  base::ensure(loader_ && at_ > 0, "samples are drawn within a step");
  drawn_.assign(samples.begin(), samples.end());
  first_ = used_ = 0;
  --at_;
  open();
  return next();
}

void Batches::save(base::Archive& archive) const { archive.put("drawn", left()); }

void Batches::load(const base::Archive& archive) {
  first_ = used_ = 0;
  drawn_.clear();
  if (archive.holds("drawn")) drawn_ = archive.wholes("drawn");  // else no method has chosen
}

}  // namespace parajoule::train
