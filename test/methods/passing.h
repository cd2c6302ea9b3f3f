#pragma once

// A communicator that passes everything on to another one, for tests that look on or lie about it.

#include <functional>
#include <memory>
#include <utility>

#include "comm/communicator.h"

namespace parajoule::methods {

class Passing : public comm::Communicator {
 public:
  explicit Passing(comm::Communicator& inner) : inner_(&inner) {}
  /// Of a group, which it keeps.
  explicit Passing(std::unique_ptr<comm::Communicator> inner)
      : owned_(std::move(inner)), inner_(owned_.get()) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  comm::Nodes nodes() const override { return inner_->nodes(); }
  base::Vector allocate(base::Element element, std::size_t count) override {
    return inner_->allocate(element, count);
  }
  comm::Pending start(const comm::Collective& call) override { return inner_->start(call); }
  comm::Pending start_send(base::Vector values, int to, int tag) override {
    return inner_->start_send(values, to, tag);
  }
  comm::Pending start_receive(base::Vector values, int from, int tag) override {
    return inner_->start_receive(values, from, tag);
  }
  std::optional<Arrived> arrived(int from, int tag) override { return inner_->arrived(from, tag); }
  Arrived await(int from, int tag) override { return inner_->await(from, tag); }
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
    return inner_->group(ranks);
  }
  Traffic traffic() const override { return inner_->traffic(); }

 private:
  std::unique_ptr<comm::Communicator> owned_;
  comm::Communicator* inner_;
};

/// What a rank has begun, and what of it is over: waited for, or found done.
struct Tally {
  int begun = 0, over = 0;
  int sent = 0, received = 0;  ///< messages
};

/// Keeps a tally of all that is begun in it and in the groups made from it.
class Tallied final : public Passing {
 public:
  Tallied(comm::Communicator& inner, Tally& tally) : Passing(inner), tally_(tally) {}

  comm::Pending start(const comm::Collective& call) override { return begin(Passing::start(call)); }
  comm::Pending start_send(base::Vector values, int to, int tag) override {
    ++tally_.sent;
    return begin(Passing::start_send(values, to, tag));
  }
  comm::Pending start_receive(base::Vector values, int from, int tag) override {
    ++tally_.received;
    return begin(Passing::start_receive(values, from, tag));
  }
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
    return std::unique_ptr<Communicator>(new Tallied(Passing::group(ranks), tally_));
  }

 private:
  Tallied(std::unique_ptr<comm::Communicator> inner, Tally& tally)
      : Passing(std::move(inner)), tally_(tally) {}

  class Transfer final : public comm::Pending::Transfer {
   public:
    Transfer(comm::Pending inner, Tally& tally) : inner_(std::move(inner)), tally_(tally) {
      ++tally_.begun;
    }
    bool done() override { return over_ || (inner_.done() && end()); }
    void wait() override {
      inner_.wait();
      end();
    }
    void wait_or(const std::function<bool()>& enough) override {
      inner_.wait_or(enough);
      done();
    }

   private:
    bool end() {
      tally_.over += !std::exchange(over_, true);
      return true;
    }

    comm::Pending inner_;
    Tally& tally_;
    bool over_ = false;
  };

  comm::Pending begin(comm::Pending started) {
    return comm::Pending(std::make_unique<Transfer>(std::move(started), tally_));
  }

  Tally& tally_;
};

}  // namespace parajoule::methods
