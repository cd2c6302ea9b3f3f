#include "meter/total.h"

#include <cmath>

#include <fmt/format.h>

namespace parajoule::meter {

using base::Joules;

namespace {

template <Label label>
void add(std::optional<Total<label>>& sum, const std::optional<Total<label>>& other) {
  if (!other) return;
  if (!sum) sum.emplace();
  *sum += *other;
}

template <Label label>
Total<label>& begun(std::optional<Total<label>>& sum) {
  return sum ? *sum : sum.emplace();
}

}  // namespace

std::string sensor_type(const Description& description) {
  return fmt::format("{} {} {}", description.device_kind, name_of(description.quantity),
                     description.bias_relative.value_or(0));
}

Joules Uncertainty::whole() const { return {std::hypot(resolution.value, bias.value)}; }

template <Label label>
void Total<label>::add(Joules energy, Uncertainty uncertainty, const std::string& type) {
  energy_ += energy;
  resolution_squared_ += uncertainty.resolution.value * uncertainty.resolution.value;
  bias_[type] += uncertainty.bias;
}

template <Label label>
Total<label>& Total<label>::operator+=(const Total& other) {
  energy_ += other.energy_;
  resolution_squared_ += other.resolution_squared_;
  for (const auto& [type, bias] : other.bias_) bias_[type] += bias;
  return *this;
}

template <Label label>
Uncertainty Total<label>::uncertainty() const {
  double bias_squared = 0;
  for (const auto& [type, bias] : bias_) bias_squared += bias.value * bias.value;
  return {Joules{std::sqrt(resolution_squared_)}, Joules{std::sqrt(bias_squared)}};
}

template class Total<Label::measured>;
template class Total<Label::modelled>;
template class Total<Label::simulated>;

void Totals::add(Label label, Joules energy, Uncertainty uncertainty, const std::string& type) {
  switch (label) {
    case Label::measured:
      begun(measured).add(energy, uncertainty, type);
      break;
    case Label::modelled:
      begun(modelled).add(energy, uncertainty, type);
      break;
    case Label::simulated:
      begun(simulated).add(energy, uncertainty, type);
      break;
  }
}

Totals& Totals::operator+=(const Totals& other) {
  meter::add(measured, other.measured);
  meter::add(modelled, other.modelled);
  meter::add(simulated, other.simulated);
  return *this;
}

}  // namespace parajoule::meter
