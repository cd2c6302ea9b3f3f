#include "simulate/links.h"

#include <algorithm>
#include <utility>

namespace parajoule::simulate {

Places::Places(int ranks, const Options& options)
    : options_(options), per_node_(options.ranks_per_node.value_or(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) nodes_.node.push_back(rank / per_node_);
}

Hop Places::hop(int from, int to) const {
  if (from == to) return {};
  const Link& way = link(from, to);
  const double seconds = way.bytes_per_second ? 1 / *way.bytes_per_second : 0;
  return {.latency = way.latency.count(),
          .seconds_per_byte = seconds,
          .eager_bytes = double(way.eager_bytes),
          .eager_seconds_per_byte = seconds};
}

std::size_t Places::port(int rank, bool within) const {
  const int sharing = within ? options_.node.shared_by : options_.network.shared_by;
  const int first = node(rank) * per_node_;
  return 2 * std::size_t(first + (rank - first) / sharing) + (within ? 0 : 1);
}

/// One message: first its bytes go through the ports, then the latency passes.
class Links::Parcel final : public Event {
 public:
  explicit Parcel(Links& links) : links_(links) {}

  void leave(int from, int to, std::size_t bytes, std::function<void()> landed) {
    const bool within = links_.places_.same_node(from, to);
    const Link& way = links_.places_.link(from, to);
    landed_ = std::move(landed);
    latency_ = from == to ? 0 : way.latency.count();
    left_ = from == to || !way.bytes_per_second ? 0 : double(bytes);
    if (left_ == 0) return arrive();
    bandwidth_ = *way.bytes_per_second;
    half_duplex_ = way.half_duplex;
    eager_ = bytes <= way.eager_bytes;
    since_ = links_.kernel_.now();
    from_ = &links_.port(from, within);
    to_ = &links_.port(to, within);
    from_->out.push_back(this);
    to_->in.push_back(this);
    change_paces();
  }

  /// The number of messages at its ports has changed.
  void change_pace() {
    const double now = links_.kernel_.now();
    left_ = std::max(0.0, left_ - pace_ * (now - since_));
    since_ = now;
    pace_ = bandwidth_ / double(std::max(beside(from_->out, from_->in), beside(to_->in, to_->out)));
    put_off();
    links_.kernel_.at(now + left_ / pace_, *this);
  }

  void happen() override {
    if (from_) {
      std::erase(from_->out, this);
      std::erase(to_->in, this);
      change_paces();
      from_ = to_ = nullptr;
      return arrive();
    }
    links_.idle_.push_back(this);
    std::exchange(landed_, nullptr)();
  }

 private:
  /// Messages among which the port is shared out, from this one's point of view.
  std::size_t beside(const Way& same, const Way& opposite) const {
    return same.size() + (half_duplex_ && !eager_ ? opposite.size() : 0);
  }

  void change_paces() {
    for (const Way* way : {&from_->out, &to_->in}) links_.change_pace(*way);
    if (!half_duplex_) return;
    for (const Way* way : {&from_->in, &to_->out}) links_.change_pace(*way);
  }

  void arrive() { links_.kernel_.at(links_.kernel_.now() + latency_, *this); }

  Links& links_;
  std::function<void()> landed_;
  double latency_ = 0;
  double left_ = 0;  ///< bytes at `since_`
  double bandwidth_ = 0;
  double pace_ = 0;  ///< bytes per second
  double since_ = 0;
  bool half_duplex_ = false;
  bool eager_ = false;
  Port* from_ = nullptr;
  Port* to_ = nullptr;
};

Links::Links(Kernel& kernel, int ranks) : kernel_(kernel), places_(ranks, kernel.options()) {}
Links::~Links() = default;

void Links::change_pace(const Way& way) {
  for (Parcel* parcel : way) parcel->change_pace();
}

void Links::send(int from, int to, std::size_t bytes, std::function<void()> landed) {
  if (idle_.empty()) {
    parcels_.push_back(std::make_unique<Parcel>(*this));
    idle_.push_back(parcels_.back().get());
  }
  Parcel& parcel = *idle_.back();
  idle_.pop_back();
  parcel.leave(from, to, bytes, std::move(landed));
}

}  // namespace parajoule::simulate
