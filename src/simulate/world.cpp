#include "simulate/world.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "comm/sums.h"
#include "simulate/circle.h"
#include "simulate/group.h"
#include "simulate/kernel.h"
#include "simulate/links.h"
#include "simulate/messages.h"
#include "simulate/operations.h"

namespace parajoule::simulate {
namespace {

constexpr std::array<std::string_view, 6> names{"auto",          "ring", "halving_doubling",
                                                "binary_blocks", "tree", "hierarchical"};

void check(const Link& link, std::string_view name) {
  const auto refuse = [&](std::string_view key, double value, std::string_view wanted) {
    throw base::Error(base::Fault::input,
                      fmt::format("{}.{} = {}: must be {}", name, key, value, wanted));
  };
  if (!(link.latency.count() >= 0)) refuse("latency_seconds", link.latency.count(), "at least 0");
  if (link.bytes_per_second && !(*link.bytes_per_second > 0))
    refuse("bytes_per_second", *link.bytes_per_second, "above 0");
  if (link.shared_by < 1) refuse("shared_by", link.shared_by, "at least 1");
}

const Options& checked(int ranks, const Options& options) {
  base::ensure(ranks > 0, "a world has at least one rank");
  check(options);
  return options;
}

std::vector<int> first(int count) {
  std::vector<int> ranks(std::size_t(count), 0);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

template <class T>
std::shared_ptr<T> unowned(T& object) {
  return std::shared_ptr<T>(std::shared_ptr<void>(), &object);
}

}  // namespace

std::string_view name_of(Sum sum) { return names.at(std::size_t(sum)); }

Sum sum_named(std::string_view name) {
  comm::sum(name);
  return Sum(std::ranges::find(names, name) - names.begin());
}

void check(const Options& options) {
  if (options.expand && options.sum == Sum::automatic)
    throw base::Error(base::Fault::usage,
                      "expand: which messages a sum consists of is known of a named one; give "
                      "`sum`, such as ring");
  check(options.node, "link.node");
  check(options.network, "link.network");
  if (options.ranks_per_node && *options.ranks_per_node < 1)
    throw base::Error(base::Fault::input, fmt::format("ranks_per_node = {}: must be at least 1",
                                                      *options.ranks_per_node));
  if (const auto memory = options.device.memory_bytes_per_second; memory && !(*memory > 0))
    throw base::Error(base::Fault::input,
                      fmt::format("device.memory_bytes_per_second = {}: must be above 0", *memory));
}

struct World::Parts {
  Parts(int ranks, const Options& options)
      : ranks(first(ranks)),
        kernel(ranks, options),
        links(kernel, ranks),
        messages(kernel, links),
        circles(kernel, links.places()),
        operations(kernel),
        exchange{kernel, messages, circles, operations, links.places().nodes()} {}

  std::vector<int> ranks;
  Kernel kernel;
  Links links;
  Messages messages;
  Circles circles;
  TimedOperations operations;
  Exchange exchange;
};

World::World(int ranks, const Options& options)
    : parts_(std::make_unique<Parts>(ranks, checked(ranks, options))) {}
World::~World() = default;

void World::run(const std::function<void(comm::Communicator&)>& body) {
  // Made once: a list of all ranks for each of them would be quadratic. Not owned by the ranks,
  // which may be abandoned.
  const Members members(parts_->ranks, parts_->links.places(), parts_->kernel.options().sum);
  Circle circle(parts_->kernel, unowned(members), 0);
  parts_->kernel.run([&](Runner& own) {
    Group everyone(parts_->exchange, own, unowned(circle));
    if (!parts_->kernel.options().expand) return body(everyone);
    comm::Summing by_messages(everyone, comm::sum(name_of(parts_->kernel.options().sum)));
    body(by_messages);
  });
}

base::Seconds World::now() const { return base::Seconds(parts_->kernel.running().clock); }
void World::spend(base::Seconds duration, std::string_view what) {
  parts_->kernel.spend(duration.count(), what);
}
const Account& World::so_far() const { return parts_->kernel.running().account; }

std::vector<Account> World::accounts() const {
  std::vector<Account> accounts;
  for (std::size_t rank = 0; rank < parts_->ranks.size(); ++rank)
    accounts.push_back(parts_->kernel.runner(int(rank)).account);
  return accounts;
}

}  // namespace parajoule::simulate
