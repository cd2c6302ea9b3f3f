#include "comm/script.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace parajoule::comm {

using Kind = Collective::Kind;

namespace {

/// Of what is copied to several places, so much is read from memory once.
constexpr std::size_t copied_at_once = 32 << 10;

}  // namespace

Script::Script(const Scene& scene, int block, base::Range range, Empty)
    : scene_(scene), block_(block), range_(range) {}

Script::Script(const Scene& scene, int block, base::Range range)
    : Script(scene, block, range, Empty{}) {
  if (scene.kind == Kind::broadcast)
    write_broadcast();
  else if (scene.kind == Kind::all_gather)
    write_gather();
  else if (block == scene.own)
    write_reduction_of_owner();
  else
    write_reduction();
}

std::unique_ptr<Script> Script::receive_only(const Scene& scene, int block, base::Range range) {
  std::unique_ptr<Script> script(new Script(scene, block, range, Empty{}));
  Script& self = *script;
  self.steps_ = {
      [&self] { self.receive(self.block_, Way::from_owner, self.values(self.scene_.own)); }};
  return script;
}

bool Script::advance() {
  for (;;) {
    for (Transfer& transfer : transfers_) transfer.moving->advance();
    std::erase_if(transfers_, [](const Transfer& t) { return t.moving->finished(); });
    if (!transfers_.empty()) return false;
    if (next_ == steps_.size()) return true;
    steps_[next_++]();
  }
}

std::vector<int> Script::awaited() const {
  std::vector<int> ranks;
  for (const Transfer& transfer : transfers_) ranks.push_back(transfer.rank);
  return ranks;
}

void Script::write_reduction_of_owner() {
  std::vector<int> to = here();
  if (scene_.kind == Kind::reduce_scatter) to = {scene_.own};
  const bool root_is_here = scene_.topology.node_of(scene_.root) == node();
  if (scene_.kind == Kind::reduce) to = {root_is_here ? scene_.root : scene_.own};
  if (scene_.topology.node_count() == 1) {
    steps_ = {[this, to] { combine_here(to); }};
    return;
  }
  steps_ = {[this] { combine_here({scene_.own}); }, [this] { receive_partials(); },
            [this, to] { combine_partials(to); }};
  if (scene_.kind == Kind::reduce && !root_is_here)
    steps_.push_back([this] { send(scene_.root, Way::from_owner); });
  if (scene_.kind != Kind::reduce && scene_.kind != Kind::reduce_scatter)
    steps_.push_back([this] { send_to_nodes({node()}); });
}

void Script::write_reduction() {
  steps_ = {[this] { combine_here({scene_.own}); }, [this] { send(block_, Way::to_owner); }};
  if (scene_.kind == Kind::reduce_scatter) return;
  if (scene_.kind != Kind::reduce) return write_spread();
  if (scene_.root == scene_.own)
    steps_.push_back([this] { receive(block_, Way::from_owner, values(scene_.own)); });
}

void Script::write_broadcast() {
  const int root_node = scene_.topology.node_of(scene_.root);
  if (node() == root_node) {
    steps_ = {[this] { copy_here(scene_.root); }};
    if (block_ == scene_.own)
      steps_.push_back([this] { send_to_nodes({node()}); });
    else
      steps_.push_back([this] { send(block_, Way::to_owner); });
    return;
  }
  if (block_ != scene_.own) return write_spread();
  const int source = scene_.topology.responsible(root_node, block_);
  steps_ = {[this, source] { receive(source, Way::to_owner, values(scene_.own)); },
            [this] { copy_here(scene_.own); },
            [this, root_node] {
              send_to_nodes({node(), root_node});
            }};
}

void Script::write_gather() {
  if (block_ != scene_.own) return write_spread();
  steps_ = {[this] { copy_here(scene_.own); }, [this] { send_to_nodes({node()}); }};
}

/// The block comes back from its owner and goes to all of this node.
void Script::write_spread() {
  steps_.push_back([this] { receive(block_, Way::from_owner, values(scene_.own)); });
  steps_.push_back([this] { copy_here(scene_.own); });
}

void Script::combine_here(std::vector<int> to) {
  Combination call{
      .kind = arithmetic(scene_.kind), .element = scene_.element, .count = range_.size()};
  for (int member : here()) {
    call.from.push_back({values(member), scene_.places[std::size_t(member)].factor});
    if (member != scene_.own) scene_.board.seat().traffic.moved(bytes());
  }
  for (int member : to) {
    call.to.push_back(values(member));
    if (member != scene_.own) scene_.board.seat().traffic.moved(bytes());
  }
  combine(call);
}

void Script::combine_partials(std::vector<int> to) {
  Combination call{
      .kind = arithmetic(scene_.kind), .element = scene_.element, .count = range_.size()};
  for (int node = 0; node < scene_.topology.node_count(); ++node) {
    const auto& partial = partials_[std::size_t(node)];
    call.from.push_back({partial ? scene_.board.scratch().at(*partial) : values(scene_.own)});
  }
  for (int member : to) {
    call.to.push_back(values(member));
    if (member != scene_.own) scene_.board.seat().traffic.moved(bytes());
  }
  combine(call);
  for (const auto& partial : partials_)
    if (partial) scene_.board.scratch().give_back(*partial);
}

void Script::copy_here(int from) {
  std::vector<int> to = here();
  std::erase(to, from);
  if (from != scene_.own) scene_.board.seat().traffic.moved(bytes());
  for (int member : to)
    if (member != scene_.own) scene_.board.seat().traffic.moved(bytes());
  for (std::size_t begin = 0; begin < bytes(); begin += copied_at_once) {
    const std::size_t length = std::min(copied_at_once, bytes() - begin);
    for (int member : to) std::memcpy(values(member) + begin, values(from) + begin, length);
  }
}

void Script::send_to_nodes(std::vector<int> not_these) {
  for (int node = 0; node < scene_.topology.node_count(); ++node) {
    if (std::ranges::find(not_these, node) != not_these.end()) continue;
    send(scene_.topology.responsible(node, block_), Way::from_owner);
  }
}

void Script::receive_partials() {
  partials_.resize(std::size_t(scene_.topology.node_count()));
  for (int other = 0; other < scene_.topology.node_count(); ++other) {
    if (other == node()) continue;
    const std::uint64_t place = scene_.board.scratch().take(bytes());
    partials_[std::size_t(other)] = place;
    receive(scene_.topology.responsible(other, block_), Way::to_owner,
            scene_.board.scratch().at(place));
  }
}

void Script::send(int member, Way way) {
  Messages::Key key = scene_.key;
  key.tag = 2 * block_ + int(way);
  const int rank = scene_.topology.rank_of(member);
  transfers_.push_back(
      {rank, scene_.board.messages().send(key, rank, std::span(values(scene_.own), bytes()))});
}

void Script::receive(int member, Way way, std::byte* to) {
  Messages::Key key = scene_.key;
  key.tag = 2 * block_ + int(way);
  const int rank = scene_.topology.rank_of(member);
  transfers_.push_back(
      {rank, scene_.board.messages().receive(key, {rank}, std::span(to, bytes()))});
}

std::byte* Script::values(int member) const {
  return scene_.places[std::size_t(member)].values + range_.begin * base::bytes_of(scene_.element);
}

std::size_t Script::bytes() const { return range_.size() * base::bytes_of(scene_.element); }

}  // namespace parajoule::comm
