#include "rehearse/plan.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::rehearse {
namespace {

double rate_of(const Machine& machine, const std::string& precision) {
  const auto rate = machine.flops_per_second.find(precision);
  if (rate != machine.flops_per_second.end()) return rate->second;
  std::vector<std::string> known;
  for (const auto& [name, flops] : machine.flops_per_second) known.push_back(name);
  throw base::Error(base::Fault::input,
                    fmt::format("precision = {}: the machine {} has no flops_per_second for it, "
                                "only for {}",
                                precision, machine.name, fmt::join(known, ", ")));
}

base::Seconds total(const std::vector<LayerTime>& layers) {
  base::Seconds sum{0};
  for (const LayerTime& layer : layers) sum += layer.forward + layer.backward;
  return sum;
}

}  // namespace

double Slow::of(int of_rank, std::int64_t step) const {
  double slower = rank == of_rank ? factor : 1;
  if (random) {
    base::Stream stream{random->seed, std::uint64_t(of_rank), std::uint64_t(step)};
    if (stream.uniform() < random->probability) slower *= random->factor;
  }
  return slower;
}

strategy::Progress Plan::progress(std::int64_t step) const {
  return {.step = step,
          .samples = local_batch_size,
          .samples_of_all = local_batch_size * ranks_that_train,
          .batch = local_batch_size,
          .learning_rate = learning_rate,
          .epochs = 1,
          .last_of_epoch = step + 1 == steps,
          .seed = seed};
}

base::Seconds Plan::pass() const { return total(layers); }

std::vector<LayerTime> layer_times(const schedule::Profile& profile, const Machine& machine,
                                   const std::string& precision, std::int64_t batch) {
  const double rate = rate_of(machine, precision);
  const double bandwidth = *machine.device.memory_bytes_per_second;
  const auto samples = double(batch);
  std::vector<LayerTime> layers;
  std::size_t begin = 0;
  for (const schedule::LayerProfile& layer : profile.layers) {
    const double output = samples * double(layer.activation_bytes) / bandwidth;
    const double parameters =
        double(layer.parameters) * double(base::bytes_of(base::Element::float32)) / bandwidth;
    const auto flops = [&](std::int64_t count) { return samples * double(count) / rate; };
    const std::size_t end = begin + std::size_t(layer.parameters);
    layers.push_back(
        {.forward = base::Seconds(std::max(flops(layer.forward_flops), 2 * output + parameters)),
         .backward = base::Seconds(std::max(flops(layer.backward_flops), 4 * output + parameters)),
         .range = {begin, end}});
    begin = end;
  }
  return layers;
}

void stretch(std::vector<LayerTime>& layers, base::Seconds measured) {
  const double factor = measured / total(layers);
  for (LayerTime& layer : layers) {
    layer.forward *= factor;
    layer.backward *= factor;
  }
}

schedule::Layout layout_of(const schedule::Profile& profile) {
  schedule::Layout layout;
  std::size_t begin = 0;
  for (const schedule::LayerProfile& layer : profile.layers) {
    if (layer.parameters == 0) continue;
    const std::size_t end = begin + std::size_t(layer.parameters);
    layout.parameters.push_back(
        {.name = layer.name,
         .shape = {layer.parameters},
         .range = {begin, end},
         .kind = layer.forward_flops > 0 ? schedule::Kind::matrix : schedule::Kind::normalisation});
    begin = end;
  }
  int order = int(layout.parameters.size());
  for (schedule::Parameter& parameter : layout.parameters) parameter.backward = --order;
  return layout;
}

}  // namespace parajoule::rehearse
