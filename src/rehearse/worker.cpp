#include "rehearse/worker.h"

#include "base/error.h"

namespace parajoule::rehearse {

Worker::Worker(simulate::World& world, comm::Communicator& group, const Plan& plan)
    : world_(world),
      group_(group),
      plan_(plan),
      weights_(spare()),
      gradients_(spare()),
      buffers_(group.allocate(plan.element, plan.layout.buffer_count())) {
  begin_step(0);
}

base::Vector Worker::spare() {
  return group_.allocate(plan_.element, plan_.layout.parameter_count());
}

base::Vector Worker::losses() {
  if (plan_.samples == 0)
    throw base::Error(base::Fault::usage,
                      "this method chooses samples by their losses, out of a training set whose "
                      "size a rehearsal does not know: give --samples N");
  if (losses_.empty())
    losses_ = group_.allocate(base::Element::float64, std::size_t(plan_.samples));
  return losses_;
}

void Worker::begin_step(std::int64_t step) { progress_ = plan_.progress(step); }

void Worker::compute_gradients(strategy::Watch& watch) {
  const double slower = plan_.slow.of(group_.rank(), progress_.step);
  const int layers = int(plan_.layers.size());
  for (int unit = 0; unit < layers; ++unit) {
    watch.before_forward(unit);
    world_.spend(slower * plan_.layers[std::size_t(unit)].forward, "forward");
  }
  for (int unit = layers - 1; unit >= 0; --unit) {
    const LayerTime& layer = plan_.layers[std::size_t(unit)];
    watch.before_backward(unit);
    world_.spend(slower * layer.backward, "backward");
    if (layer.range.size() > 0) watch.ready(layer.range);
  }
}

void Worker::update(base::Vector weights, base::Vector, base::Range range, double) {
  // Reads weights, gradients and state, writes weights and state.
  const double vectors = 3 + 2 * plan_.state_vectors;
  const double bytes = vectors * double(weights[range].bytes());
  world_.spend(base::Seconds(bytes / plan_.memory_bytes_per_second), "update");
}

}  // namespace parajoule::rehearse
