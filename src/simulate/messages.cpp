#include "simulate/messages.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "comm/note.h"

namespace parajoule::simulate {
namespace {

bool contains(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

std::string name_of(Messages::Key key) { return fmt::format("a message with tag {}", key.tag); }

}  // namespace

struct Messages::Message {
  Key key;
  int from;
  int to;
  base::Vector values;  ///< the sender's, unless they are kept
  bool brief;           ///< travels at once
  Seal seal = {};
  std::vector<std::byte> kept = {};  ///< real values of a brief one
  bool visible = false;              ///< the receiver knows of it
  bool landed = false;
  std::shared_ptr<Receive> receive = {};
  bool sent() const { return brief || landed; }
};

struct Messages::Receive {
  Key key;
  std::vector<int> from;
  base::Vector values;
  bool done = false;
};

struct Messages::Box {
  std::list<std::shared_ptr<Message>> unmatched;  ///< in the order of sending
  std::list<std::shared_ptr<Receive>> posted;
};

class Messages::SendTransfer final : public comm::Pending::Transfer, public Awaited {
 public:
  SendTransfer(Kernel& kernel, std::shared_ptr<Message> message)
      : kernel_(kernel), message_(std::move(message)) {}
  bool done() override {
    kernel_.settle();
    if (!message_->sent()) kernel_.not_yet(*this);
    return message_->sent();
  }
  void wait() override {
    wait_or([] { return false; });
  }
  void wait_or(const std::function<bool()>& enough) override {
    kernel_.settle();
    while (!message_->sent() && !enough()) kernel_.listen(*this);
  }
  comm::Absence absence() const override {
    return {.what = name_of(message_->key), .ranks = {message_->to}};
  }

 private:
  Kernel& kernel_;
  std::shared_ptr<Message> message_;
};

class Messages::ReceiveTransfer final : public comm::Pending::Transfer, public Awaited {
 public:
  ReceiveTransfer(Kernel& kernel, std::shared_ptr<Receive> receive)
      : kernel_(kernel), receive_(std::move(receive)) {}
  bool done() override {
    kernel_.settle();
    if (!receive_->done) kernel_.not_yet(*this);
    return receive_->done;
  }
  void wait() override {
    wait_or([] { return false; });
  }
  void wait_or(const std::function<bool()>& enough) override {
    kernel_.settle();
    while (!receive_->done && !enough()) kernel_.listen(*this);
  }
  comm::Absence absence() const override {
    return {
        .what = name_of(receive_->key), .ranks = receive_->from, .need = comm::Absence::Need::one};
  }

 private:
  Kernel& kernel_;
  std::shared_ptr<Receive> receive_;
};

/// Waits for any message, without receiving it.
class Messages::Arrival final : public Awaited {
 public:
  Arrival(Key key, const std::vector<int>& from) : key_(key), from_(from) {}
  comm::Absence absence() const override {
    return {.what = name_of(key_), .ranks = from_, .need = comm::Absence::Need::one};
  }

 private:
  Key key_;
  const std::vector<int>& from_;
};

Messages::Messages(Kernel& kernel, Links& links)
    : kernel_(kernel), links_(links), boxes_(links.places().nodes().node.size()) {}
Messages::~Messages() = default;

Messages::Box& Messages::box(int rank, Key key) {
  auto& box = boxes_[std::size_t(rank)][key];
  if (!box) box = std::make_unique<Box>();
  return *box;
}

std::unique_ptr<comm::Pending::Transfer> Messages::send(Key key, int to, base::Vector values) {
  kernel_.settle();
  Runner& sender = kernel_.running();
  if (values.bytes() > 0) {
    sender.account.traffic.bytes += values.bytes();
    ++sender.account.traffic.messages;
  }
  const bool brief = values.bytes() <= comm::Note::room;
  auto message = std::make_shared<Message>(
      Message{.key = key, .from = sender.rank, .to = to, .values = values, .brief = brief});
  if (const auto* bytes = static_cast<const std::byte*>(values.data()); bytes && brief)
    message->kept.assign(bytes, bytes + values.bytes());
  else
    message->seal = Seal(values);
  Box& box = this->box(to, key);
  const auto fits = [&](const auto& receive) { return contains(receive->from, sender.rank); };
  const auto posted = std::ranges::find_if(box.posted, fits);
  if (brief) move(message);
  if (posted != box.posted.end()) {
    const auto receive = *posted;
    box.posted.erase(posted);
    match(message, receive);
  } else {
    box.unmatched.push_back(message);
    if (!brief) announce(message);
  }
  return std::make_unique<SendTransfer>(kernel_, std::move(message));
}

void Messages::announce(const std::shared_ptr<Message>& message) {
  links_.send(message->from, message->to, 0, [this, message] {
    message->visible = true;
    kernel_.tell(kernel_.runner(message->to));
  });
}

void Messages::match(const std::shared_ptr<Message>& message,
                     const std::shared_ptr<Receive>& receive) {
  if (message->values.bytes() != receive->values.bytes()) {
    throw base::Error(
        base::Fault::bug,
        fmt::format("a message of {} bytes with tag {} from rank {} came where rank {} receives {} "
                    "bytes",
                    message->values.bytes(), message->key.tag, message->from, message->to,
                    receive->values.bytes()));
  }
  message->receive = receive;
  if (!message->brief) move(message);
  if (message->landed) landed(*message);
}

void Messages::move(const std::shared_ptr<Message>& message) {
  for (int rank : {message->from, message->to}) kernel_.message_left(kernel_.runner(rank));
  links_.send(message->from, message->to, message->values.bytes(), [this, message] {
    for (int rank : {message->from, message->to}) kernel_.message_arrived(kernel_.runner(rank));
    message->landed = message->visible = true;
    landed(*message);
    for (int rank : {message->from, message->to}) kernel_.tell(kernel_.runner(rank));
  });
}

void Messages::landed(Message& message) {
  if (!message.receive) return;
  message.receive->done = true;
  const base::Vector to = message.receive->values;
  const void* from = message.kept.data();
  if (!message.brief) {
    message.seal.check(message.values, message.from, name_of(message.key));
    from = message.values.data();
  }
  if (!to.data() || to.empty()) return;
  // Of values without elements zeros come.
  if (from)
    std::memcpy(to.data(), from, to.bytes());
  else
    std::memset(to.data(), 0, to.bytes());
}

std::unique_ptr<comm::Pending::Transfer> Messages::receive(Key key, std::vector<int> from,
                                                           base::Vector values) {
  kernel_.settle();
  Box& box = this->box(kernel_.running().rank, key);
  auto receive =
      std::make_shared<Receive>(Receive{.key = key, .from = std::move(from), .values = values});
  const auto fits = [&](const auto& message) { return contains(receive->from, message->from); };
  const auto sent = std::ranges::find_if(box.unmatched, fits);
  if (sent == box.unmatched.end()) {
    box.posted.push_back(receive);
  } else {
    const auto message = *sent;
    box.unmatched.erase(sent);
    match(message, receive);
  }
  return std::make_unique<ReceiveTransfer>(kernel_, std::move(receive));
}

std::optional<Messages::Arrived> Messages::look(Key key, const std::vector<int>& from) {
  for (const auto& message : box(kernel_.running().rank, key).unmatched)
    if (message->visible && contains(from, message->from))
      return Arrived{message->from, message->values.bytes()};
  return {};
}

std::optional<Messages::Arrived> Messages::arrived(Key key, const std::vector<int>& from) {
  kernel_.settle();
  const auto found = look(key, from);
  if (!found) kernel_.not_yet(Arrival(key, from));
  return found;
}

Messages::Arrived Messages::await(Key key, const std::vector<int>& from) {
  kernel_.settle();
  const Arrival arrival(key, from);
  while (true) {
    if (const auto found = look(key, from)) return *found;
    kernel_.listen(arrival);
  }
}

}  // namespace parajoule::simulate
