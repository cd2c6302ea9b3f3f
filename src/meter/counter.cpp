#include "meter/counter.h"

#include <algorithm>

#include <fmt/format.h>

namespace parajoule::meter {

using base::Joules;
using base::Seconds;

Reading Counter::update(Joules raw, Seconds now) {
  const Shown shown{raw, now};
  if (!last_) {
    last_ = shown;
    total_ = raw;
    credit_ = options_.most * options_.slack;
    return total_.value;
  }
  const Shown before = odd_.value_or(*last_);
  const auto growth = plausible_growth(*last_, shown);
  Reading reading = growth ? accept(shown, *growth) : doubt(shown);
  settle(before, shown);
  return reading;
}

/// What came since the reading before is taken from the credit, believed or not.
void Counter::settle(Shown before, Shown shown) {
  const Joules came = std::max(shown.raw - before.raw, Joules{0});
  const Joules explained = options_.most * (shown.at - before.at);
  credit_ = std::clamp(credit_ + explained - came, Joules{0}, options_.most * options_.slack);
}

/// How far the counter has come at least; none if it fell and its range is not known.
std::optional<Joules> Counter::growth(Joules from, Joules to) const {
  if (to >= from) return to - from;
  if (!options_.range) return {};
  return to + *options_.range - from;
}

std::optional<Joules> Counter::plausible_growth(Shown from, Shown to) const {
  const auto growth = this->growth(from.raw, to.raw);
  if (!growth || *growth < Joules{0}) return {};
  const Joules most = options_.most * (to.at - from.at) + credit_;
  return *growth <= most ? growth : std::nullopt;
}

/// Whether most of the way back to where a new beginning left is one leap.
bool Counter::returns(Shown shown) const {
  if (!left_ || shown.raw < left_->raw || begun_there_ > left_->raw) return false;
  const bool at_once = last_->raw - begun_there_ < (left_->raw - begun_there_) * 0.5;
  const Joules most = options_.most * (shown.at - left_->at);
  const Joules since = shown.raw - left_->raw;
  const base::Watts leap = (shown.raw - last_->raw) / (shown.at - last_->at);
  return at_once && since <= most && leap > since / (shown.at - left_->at) * 3;
}

Reading Counter::accept(Shown shown, Joules growth) {
  if (returns(shown)) {
    const Joules gone = std::max(total_ - total_there_, shown.raw - left_->raw);
    const Joules before = last_->raw;
    total_ = total_there_ + gone;
    last_ = shown;
    odd_.reset();
    left_.reset();
    return Gap{Gap::Cause::implausible,
               fmt::format("leapt back from {:.3f} J to {:.3f} J", before.value, shown.raw.value)};
  }
  const Seconds unread = shown.at - last_->at;
  last_ = shown;
  odd_.reset();
  total_ += growth;
  if (!options_.range || options_.most * unread < *options_.range) return total_.value;
  return Gap{Gap::Cause::missed_wrap,
             fmt::format("not read for {:.1f} s, in which its range of {:.0f} J may have passed",
                         unread.count(), options_.range->value)};
}

Reading Counter::doubt(Shown shown) {
  const auto since_odd = odd_ ? plausible_growth(*odd_, shown) : std::nullopt;
  const Joules before = last_->raw;
  if (!since_odd) {
    odd_ = shown;
    return Gap{Gap::Cause::implausible,
               fmt::format("went from {:.3f} J to {:.3f} J in {:.3f} s", before.value,
                           shown.raw.value, (shown.at - last_->at).count())};
  }
  const Joules anew = odd_->raw;
  left_ = last_;
  total_there_ = total_;
  begun_there_ = anew;
  last_ = shown;
  odd_.reset();
  total_ += *since_odd;
  return Gap{Gap::Cause::reset,
             fmt::format("began anew at {:.3f} J after {:.3f} J", anew.value, before.value)};
}

}  // namespace parajoule::meter
