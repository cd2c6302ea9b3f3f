#include "exact/worker.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "exact/pass.h"
#include "exact/samples.h"
#include "optimize/catalog.h"

namespace parajoule::exact {
namespace {

std::unique_ptr<optimize::Optimizer> sgd(double momentum, const schedule::Layout& layout,
                                         const optimize::Memory& memory) {
  const optimize::Entry& sgd = optimize::optimizer("sgd");
  const base::Settings settings(sgd.name, sgd.options, {{"momentum", momentum}});
  return sgd.make(settings, layout, memory);
}

std::span<double> part(base::Vector vector, base::Range range) {
  return vector[range].as<double>();
}

}  // namespace

Worker::Worker(comm::Communicator& group, const Problem& problem, Role role)
    : Worker(group, problem, role, Options()) {}

Worker::Worker(comm::Communicator& group, const Problem& problem, Role role, Options options)
    : group_(group),
      problem_(problem),
      role_(role),
      options_(std::move(options)),
      layout_(layout_of(problem)),
      weights_(group.allocate(base::Element::float64, layout_.parameter_count())),
      gradients_(group.allocate(base::Element::float64, layout_.parameter_count())),
      buffers_(group.allocate(base::Element::float64, layout_.buffer_count())) {
  const int row = role_.trainer.value_or(0);
  std::ranges::copy(of_rank(problem.start, row), weights_.as<double>().begin());
  if (!problem.buffers.empty())
    std::ranges::copy(of_rank(problem.buffers, row), buffers_.as<double>().begin());
  const optimize::Memory memory = [this](std::size_t count) {
    return base::Vector(std::span(state_.emplace_back(count)));
  };
  optimizer_ = options_.optimizer ? options_.optimizer(layout_, memory)
                                  : sgd(problem.momentum, layout_, memory);
  begin_step(0);
}

void Worker::begin_step(std::int64_t step) {
  const std::optional<std::int64_t> steps = problem_.steps_per_epoch;
  const std::int64_t epoch = steps ? step / *steps : 0;
  progress_ = {.step = step,
               .epoch = epoch,
               .samples = role_.trainer ? samples_of(problem_, *role_.trainer, step) : 0,
               .samples_of_all = samples_of_all(step),
               .batch = largest_batch(),
               .learning_rate = entry(problem_.learning_rate, step),
               .loss = epoch > 0 && !problem_.loss.empty() ? entry(problem_.loss, epoch - 1) : 0,
               .epochs = options_.epochs,
               .last_of_epoch = steps && (step + 1) % *steps == 0};
  take_drawn();
}

std::int64_t Worker::samples_of_all(std::int64_t step) const {
  std::int64_t samples = 0;
  for (int trainer = 0; trainer < role_.trainers; ++trainer)
    samples += samples_of(problem_, trainer, step);
  return samples;
}

std::int64_t Worker::largest_batch() const {
  std::int64_t most = 1;
  for (int trainer = 0; trainer < role_.trainers; ++trainer)
    most = std::max(most, count_samples_of(problem_, trainer));
  return most;
}

base::Vector Worker::spare() {
  return group_.allocate(base::Element::float64, layout_.parameter_count());
}

void Worker::compute_gradients(strategy::Watch& watch) {
  base::ensure(role_.trainer.has_value(), "a rank that serves has no gradients to compute");
  if (progress_.samples == 0) {
    gradients_.fill(0);
    watch.ready({0, gradients_.count()});
    return;
  }
  const auto pass = batch_.empty() ? begin_pass(problem_, *role_.trainer, progress_.step)
                                   : begin_pass(of_batch_, 0, progress_.step);
  forward(*pass, watch);
  keep_losses();
  backward(*pass, watch);
}

void Worker::forward(Pass& pass, strategy::Watch& watch) {
  seen_.resize(weights_.count());
  for (std::size_t unit = 0; unit < layout_.parameters.size(); ++unit) {
    const base::Range range = layout_.parameters[unit].range;
    watch.before_forward(int(unit));
    std::ranges::copy(part(weights_, range), seen_.begin() + std::ptrdiff_t(range.begin));
    pass.forward(range, part(weights_, range));
  }
}

void Worker::backward(Pass& pass, strategy::Watch& watch) {
  const std::size_t units = layout_.parameters.size();
  const base::Seconds time = duration_of(problem_, *role_.trainer, progress_.step) / double(units);
  for (std::size_t unit = units; unit-- > 0;) {
    const base::Range range = layout_.parameters[unit].range;
    watch.before_backward(int(unit));
    const auto weights = part(weights_, range);
    // By their bits: what is no number differs from itself.
    base::ensure(std::memcmp(weights.data(), seen_.data() + range.begin, weights.size_bytes()) == 0,
                 "the weights do not change between the forward and the backward half of a pass");
    pass.backward(range, weights, part(gradients_, range));
    if (time > base::Seconds(0)) options_.clock.spend(time);
    watch.ready(range);
  }
}

base::Vector Worker::losses() {
  const std::int64_t samples = count_samples(problem_);
  if (samples == 0) return strategy::Worker::losses();
  if (losses_.empty()) {
    losses_ = group_.allocate(base::Element::float64, std::size_t(samples));
    losses_.fill(std::numeric_limits<double>::infinity());
  }
  return losses_;
}

void Worker::keep_losses() {
  if (losses_.empty()) return;
  std::vector<std::int64_t> samples = batch_;
  const std::int64_t rows = batch_.empty() ? count_samples_of(problem_, *role_.trainer) : 0;
  for (std::int64_t row = 0; row < rows; ++row)
    samples.push_back(first_sample(problem_, *role_.trainer) + row);
  for (const std::int64_t sample : samples)
    losses_.as<double>()[std::size_t(sample)] =
        loss_of(problem_, sample, std::span<const double>(seen_));
}

void Worker::draw(std::span<const std::int64_t> samples) {
  if (count_samples(problem_) == 0) return strategy::Worker::draw(samples);
  drawn_.assign(samples.begin(), samples.end());
  take_drawn();
}

void Worker::take_drawn() {
  batch_.clear();
  if (drawn_.empty() || progress_.samples == 0) return;
  const auto count =
      std::min(drawn_.size(), std::size_t(count_samples_of(problem_, *role_.trainer)));
  batch_.assign(drawn_.begin(), drawn_.begin() + std::ptrdiff_t(count));
  drawn_.erase(drawn_.begin(), drawn_.begin() + std::ptrdiff_t(count));
  of_batch_.objective = on_samples(problem_, batch_);
}

void Worker::update(base::Vector weights, base::Vector gradients, base::Range range,
                    double learning_rate) {
  optimizer_->step(weights, gradients, range, learning_rate);
  if (role_.trainer) return;
  ++updates_;
  if (options_.served) options_.served(updates_);
  // A schedule by steps goes on when each rank that trains could have sent its part.
  begin_step(updates_ / role_.trainers);
}

std::optional<double> Worker::momentum() const {
  if (options_.optimizer) return std::nullopt;
  return problem_.momentum;
}

void Worker::save(base::Archive& archive) const {
  archive.put("weights", weights_);
  archive.put("buffers", buffers_);
  base::Archive state;
  optimizer_->save(state);
  archive.nest("optimizer", state);
  if (!losses_.empty()) archive.put("losses", losses_);
  archive.put("drawn", std::span<const std::int64_t>(drawn_));
}

void Worker::load(const base::Archive& archive) {
  archive.get("weights", weights_);
  archive.get("buffers", buffers_);
  optimizer_->load(archive.part("optimizer"));
  if (archive.holds("losses")) archive.get("losses", losses());
  drawn_ = archive.wholes("drawn");
}

Row Worker::current_weights() const {
  const auto weights = weights_.as<double>();
  return {weights.begin(), weights.end()};
}

}  // namespace parajoule::exact
