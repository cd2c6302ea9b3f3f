#include "comm/messages.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

bool fits(const Note& note, const Messages::Key& key, std::span<const int> from) {
  return note.context == key.context && note.sequence == key.sequence && note.tag == key.tag &&
         std::ranges::find(from, note.from) != from.end();
}

}  // namespace

class Messages::Send final : public Moving {
 public:
  Send(Messages& all, Key key, int to, std::span<const std::byte> values)
      : all_(all), to_(to), tag_(key.tag), number_(++all.sent_) {
    Note note{.context = key.context,
              .sequence = key.sequence,
              .count = values.size(),
              .number = number_,
              .from = all.seat_.rank,
              .tag = key.tag,
              .kind = Note::Kind::message};
    load(note, values);
    all.seat_.traffic.moved(values.size());
  }
  ~Send() override { all_.untaken_.erase(number_); }

  void advance() override {
    if (load_ && load_->done()) {
      load_.reset();
      finished_ = true;
    }
  }
  bool finished() const override { return finished_; }
  Absence absence() const override {
    return {fmt::format("a message with tag {} to rank {}", tag_, to_), {to_}};
  }
  void taken() {
    if (staged_) all_.seat_.memory.give_back(*staged_);
    staged_.reset();
    finished_ = true;
  }

 private:
  void load(Note& note, std::span<const std::byte> values) {
    if (values.size() <= Note::room) {
      note.carried = std::uint8_t(values.size());
      std::memcpy(note.payload.data(), values.data(), values.size());
      finished_ = true;
      return all_.seat_.post(to_, note);
    }
    if (!all_.seat_.node.member_of(to_)) {
      all_.seat_.post(to_, note);
      load_ = all_.seat_.wire->send(to_, number_, values);
      return;
    }
    note.place = place(values);
    all_.untaken_[number_] = this;
    all_.seat_.post(to_, note);
  }

  std::uint64_t place(std::span<const std::byte> values) {
    Memory& memory = all_.seat_.memory;
    if (memory.holds(values.data(), values.size())) return memory.place_of(values.data());
    staged_ = memory.take(values.size());
    std::memcpy(memory.at(*staged_), values.data(), values.size());
    return *staged_;
  }

  Messages& all_;
  int to_;
  std::int32_t tag_;
  std::uint64_t number_;
  std::optional<std::uint64_t> staged_;  ///< where a copy lies
  std::unique_ptr<Wire::Load> load_;
  bool finished_ = false;
};

class Messages::Receive final : public Moving {
 public:
  Receive(Messages& all, Key key, std::vector<int> from, std::span<std::byte> values)
      : all_(all), key_(key), from_(std::move(from)), values_(values) {
    auto& unmatched = all_.unmatched_;
    const auto found =
        std::ranges::find_if(unmatched, [&](const Note& note) { return fits(note, key_, from_); });
    if (found == unmatched.end()) {
      all_.posted_.push_back(this);
      return;
    }
    const Note note = *found;
    unmatched.erase(found);
    match(note);
  }
  ~Receive() override { all_.posted_.remove(this); }

  bool wants(const Note& note) const { return fits(note, key_, from_); }

  void match(const Note& note) {
    if (note.count != values_.size()) {
      throw base::Error(
          base::Fault::bug,
          fmt::format("a message of {} bytes with tag {} from rank {} came where "
                      "rank {} receives {} bytes",
                      note.count, note.tag, note.from, all_.seat_.rank, values_.size()));
    }
    const auto member = all_.seat_.node.member_of(note.from);
    if (note.count <= Note::room) {
      std::memcpy(values_.data(), note.payload.data(), values_.size());
    } else if (member) {
      std::memcpy(values_.data(), all_.seat_.node.at(*member, note.place), values_.size());
      all_.seat_.node.post(*member, {.number = note.number, .kind = Note::Kind::taken});
    } else {
      load_ = all_.seat_.wire->receive(note.from, note.number, values_);
      from_ = {note.from};
      return;
    }
    finished_ = true;
  }

  void advance() override {
    if (load_ && load_->done()) {
      load_.reset();
      finished_ = true;
    }
  }
  bool finished() const override { return finished_; }
  Absence absence() const override {
    return {fmt::format("a message with tag {}", key_.tag), from_, Absence::Need::one};
  }

 private:
  Messages& all_;
  Key key_;
  std::vector<int> from_;
  std::span<std::byte> values_;
  std::unique_ptr<Wire::Load> load_;
  bool finished_ = false;
};

std::unique_ptr<Moving> Messages::send(Key key, int to, std::span<const std::byte> values) {
  return std::make_unique<Send>(*this, key, to, values);
}

std::unique_ptr<Moving> Messages::receive(Key key, std::vector<int> from,
                                          std::span<std::byte> values) {
  return std::make_unique<Receive>(*this, key, std::move(from), values);
}

const Note* Messages::arrived(Key key, std::span<const int> from) const {
  const auto found =
      std::ranges::find_if(unmatched_, [&](const Note& note) { return fits(note, key, from); });
  return found == unmatched_.end() ? nullptr : &*found;
}

void Messages::take(const Note& note) {
  if (note.kind == Note::Kind::taken) {
    // Of a send that was abandoned nothing is left to do.
    if (const auto send = untaken_.find(note.number); send != untaken_.end()) send->second->taken();
    return;
  }
  const auto receive =
      std::ranges::find_if(posted_, [&](const Receive* posted) { return posted->wants(note); });
  if (receive == posted_.end()) return unmatched_.push_back(note);
  Receive* const posted = *receive;
  posted_.erase(receive);
  posted->match(note);
}

}  // namespace parajoule::comm
