#include "train/worker.h"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <torch/torch.h>

#include "base/error.h"

namespace parajoule::train {

nn::Replica allocate_replica(comm::Communicator& group, const schedule::Layout& layout,
                             base::Element element) {
  return {.weights = group.allocate(element, layout.parameter_count()),
          .gradients = group.allocate(element, layout.parameter_count()),
          .buffers = group.allocate(element, layout.buffer_count())};
}

BatchTensors tensors(const data::Loader::Batch& batch, data::Axes axes, const nn::Input& input,
                     base::Element element) {
  const std::int64_t n = batch.count, c = input.channels, h = input.height, w = input.width;
  at::Tensor images =
      axes == data::Axes::channels_last
          ? torch::from_blob(batch.images.data(), {n, h, w, c}, torch::kFloat).permute({0, 3, 1, 2})
          : torch::from_blob(batch.images.data(), {n, c, h, w}, torch::kFloat);
  if (element == base::Element::float64) images = images.to(torch::kDouble);
  return {images, torch::from_blob(batch.labels.data(), {n}, torch::kLong)};
}

ModelWorker::ModelWorker(Parts parts)
    : parts_(std::move(parts)), backward_(parts_.net, parts_.replica) {}

base::Vector ModelWorker::spare() {
  return parts_.group.allocate(weights().element(), weights().count());
}

void ModelWorker::begin_step(const data::Loader::Batch& batch, data::Axes axes,
                             const strategy::Progress& progress) {
  progress_ = progress;
  loss_sum_ = wrong_ = 0;
  decided_.reset();
  axes_ = axes;
  take(batch);
}

void ModelWorker::take(const data::Loader::Batch& batch) {
  const BatchTensors made = tensors(batch, axes_, parts_.net.input(), weights().element());
  images_ = made.images;
  labels_ = made.labels;
  indices_.assign(batch.indices.begin(), batch.indices.end());
}

base::Vector ModelWorker::losses() {
  if (losses_.empty()) {
    losses_ = parts_.group.allocate(base::Element::float64, std::size_t(parts_.samples));
    losses_.fill(std::numeric_limits<double>::infinity());
  }
  return losses_;
}

void ModelWorker::keep_losses(const at::Tensor& outputs) {
  if (losses_.empty()) return;
  const at::Tensor single = parts_.task.losses(outputs, labels_).contiguous();
  const std::span all = losses_.as<double>();
  for (std::size_t i = 0; i < indices_.size(); ++i)
    all[std::size_t(indices_[i])] = single.data_ptr<double>()[i];
}

void ModelWorker::draw(std::span<const std::int64_t> samples) {
  const auto waiting = parts_.phases.enter(Phase::data_wait);
  const data::Loader::Batch batch = parts_.batches.draw(samples);
  progress_.samples = batch.count;
  take(batch);
}

void ModelWorker::save(base::Archive& archive) const {
  archive.put("losses", losses_.empty() ? base::Vector(std::span<double>()) : losses_);
  parts_.batches.save(archive);
}

void ModelWorker::load(const base::Archive& archive) {
  parts_.batches.load(archive);
  const auto stored = archive.entries().find("losses");
  if (stored != archive.entries().end() && !stored->second.bytes.empty())
    archive.get("losses", losses());
}

void ModelWorker::compute_gradients(strategy::Watch& watch) {
  if (progress_.samples == 0) {
    gradients().fill(0);
    watch.ready({0, gradients().count()});
    return;
  }
  backward(forward(watch), watch);
}

at::Tensor ModelWorker::forward(strategy::Watch& watch) {
  const auto span = parts_.phases.enter(Phase::forward);
  parts_.fault.reach(FaultPlace::forward, progress_.step);
  const nn::Lowered lowered(parts_.precision);
  parts_.net.train();
  const at::Tensor outputs =
      parts_.net.forward(images_, [&](int layer) { watch.before_forward(layer); });
  at::Tensor loss = parts_.task.loss(outputs, labels_);
  loss_sum_ = loss.item<double>() * double(progress_.samples);
  keep_losses(outputs);
  wrong_ = outputs.argmax(1).ne(labels_).sum().item<double>();
  if (parts_.fault.spoils_loss(progress_.step)) {
    loss = loss * std::numeric_limits<double>::quiet_NaN();
    loss_sum_ = std::numeric_limits<double>::quiet_NaN();
  }
  return loss;
}

void ModelWorker::backward(const at::Tensor& loss, strategy::Watch& watch) {
  const auto span = parts_.phases.enter(Phase::backward);
  const auto without = backward_.backward(
      loss, [&](base::Range range) { watch.ready(range); }, parts_.loss_scale.scale());
  if (!without.empty() && parts_.on_no_gradient == OnNoGradient::abort) refuse(without);
}

void ModelWorker::refuse(const std::vector<std::string>& without_gradient) const {
  throw base::Error(
      base::Fault::input,
      fmt::format("the loss does not depend on the parameter{} {}: take {} out of the "
                  "model, or count the gradient as zero with on_no_gradient = \"zero\"",
                  without_gradient.size() == 1 ? "" : "s", fmt::join(without_gradient, ", "),
                  without_gradient.size() == 1 ? "it" : "them"));
}

void ModelWorker::update(base::Vector weights, base::Vector gradients, base::Range range,
                         double learning_rate) {
  // An update that was still due when an evaluation began is part of it.
  std::optional<Phases::Span> span;
  if (parts_.phases.idle()) span.emplace(parts_.phases.enter(Phase::update));
  // Updates of ranges are parts of one and are decided on together; a whole one stands alone.
  if (range.size() == weights.count()) decided_.reset();
  if (takes_step(gradients)) parts_.optimizer.step(weights, gradients, range, learning_rate);
}

bool ModelWorker::takes_step(base::Vector gradients) {
  // Once a step and from all ranges, whichever is updated first. Gradients that were summed are
  // equal on all ranks to the last bit, and so is what is decided from them; a rank that updates
  // alone decides alone.
  if (!decided_) decided_ = parts_.loss_scale.proceed(parts_.loss_scale.check(gradients));
  return *decided_ == nn::LossScale::Step::take;
}

}  // namespace parajoule::train
