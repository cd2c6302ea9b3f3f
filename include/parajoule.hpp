// Parajoule for C++ programs (C++17): the functions of parajoule.h as values that clean up after
// themselves. What may not be done is thrown.
#ifndef PARAJOULE_HPP
#define PARAJOULE_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "parajoule.h"

namespace parajoule {

/// The words of `parajoule_error`, with the status.
class MeterError : public std::runtime_error {
 public:
  explicit MeterError(int status) : std::runtime_error(parajoule_error()), status(status) {}
  const int status;
};

inline void checked(int status) {
  if (status != PARAJOULE_OK) throw MeterError(status);
}

/// What a region took: parajoule_energy_of.
class RegionResult {
 public:
  explicit RegionResult(parajoule_region region) {
    parajoule_result* result = nullptr;
    checked(parajoule_energy_of(region, &result));
    result_.reset(result);
  }

  double seconds() const { return parajoule_result_seconds(result_.get()); }
  double exact_seconds() const { return parajoule_result_exact_seconds(result_.get()); }

  /// Texts live as long as this object.
  std::vector<parajoule_energy> energies() const {
    std::vector<parajoule_energy> all(parajoule_result_count(result_.get()));
    for (std::size_t i = 0; i < all.size(); ++i)
      checked(parajoule_result_energy(result_.get(), i, &all[i]));
    return all;
  }

  /// Joules, and the half width of the 95 % interval; not numbers if no such source has one.
  std::pair<double, double> total(parajoule_label label) const {
    std::pair<double, double> found;
    checked(parajoule_result_total(result_.get(), label, &found.first, &found.second));
    return found;
  }

 private:
  struct Free {
    void operator()(parajoule_result* result) const { parajoule_result_free(result); }
  };
  std::unique_ptr<parajoule_result, Free> result_;
};

/// A region from construction to `end`, or to the end of its scope.
class Region {
 public:
  explicit Region(const std::string& name) : region_(parajoule_begin(name.c_str())) {}
  static Region exact(const std::string& name) {
    return Region(parajoule_begin_exact(name.c_str()));
  }
  Region(Region&& other) noexcept
      : region_(std::exchange(other.region_, 0)), ended_(std::exchange(other.ended_, true)) {}
  Region& operator=(Region&&) = delete;
  ~Region() {
    if (!ended_) parajoule_end(region_);
  }

  void end() {
    ended_ = true;
    checked(parajoule_end(region_));
  }

  /// Of a region that has ended, where no `parajoule measure` is around the program.
  RegionResult result() const { return RegionResult(region_); }

 private:
  explicit Region(parajoule_region region) : region_(region) {}

  parajoule_region region_;
  bool ended_ = false;
};

/// Meters this node while it lives; does nothing under `parajoule measure`.
class Metering {
 public:
  explicit Metering(double hertz = 0) {
    const parajoule_options options = {sizeof(parajoule_options), hertz};
    checked(parajoule_start(&options));
  }
  Metering(const Metering&) = delete;
  Metering& operator=(const Metering&) = delete;
  ~Metering() { parajoule_stop(); }
};

}  // namespace parajoule

#endif
