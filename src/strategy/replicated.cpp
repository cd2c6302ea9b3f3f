#include "strategy/replicated.h"

namespace parajoule::strategy {

void Replicated::average(base::Vector weights, base::Vector buffers) {
  group_.mean(weights);
  group_.mean(buffers);
}

void Replicated::evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) {
  weights.copy(worker.weights());
  buffers.copy(worker.buffers());
  average(weights, buffers);
}

void Replicated::finish(Worker& worker) {
  wait();
  average(worker.weights(), worker.buffers());
}

}  // namespace parajoule::strategy
