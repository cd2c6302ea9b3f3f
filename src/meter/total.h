#pragma once

// Sums of energies, one a label: there is no way to add a measured and a modelled number.

#include <map>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

/// Half width of a 95 % interval, in two parts. `resolution` comes from counter steps, update
/// periods, noise and gaps, is independent from source to source and shrinks with repeats; `bias`
/// is the sensor's, common to all of its type, and does neither.
struct Uncertainty {
  base::Joules resolution = {};
  base::Joules bias = {};
  base::Joules whole() const;  ///< both together: the root of the sum of squares
};

/// Sensors of one type share their bias.
std::string sensor_type(const Description& description);

/// A sum of energies of one label.
template <Label label>
class Total {
 public:
  /// Adds one source. Biases of sensors of one `type` add up; of different types, and resolutions
  /// of all, they add as squares.
  void add(base::Joules energy, Uncertainty uncertainty, const std::string& type);
  Total& operator+=(const Total& other);  ///< other sources: of another node

  base::Joules energy() const { return energy_; }
  Uncertainty uncertainty() const;

 private:
  base::Joules energy_;
  double resolution_squared_ = 0;
  std::map<std::string, base::Joules> bias_;
};

extern template class Total<Label::measured>;
extern template class Total<Label::modelled>;
extern template class Total<Label::simulated>;

/// None where no source has a number: that is not zero joules.
struct Totals {
  std::optional<Total<Label::measured>> measured = {};
  std::optional<Total<Label::modelled>> modelled = {};
  std::optional<Total<Label::simulated>> simulated = {};

  void add(Label label, base::Joules energy, Uncertainty uncertainty, const std::string& type);
  Totals& operator+=(const Totals& other);  ///< of another node
};

}  // namespace parajoule::meter
