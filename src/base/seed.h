#pragma once

// Counter-based random numbers: a stream is named by numbers and has no state to share, so what a
// sample looks like depends on (seed, epoch, sample), never on ranks or threads.

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace parajoule::base {

/// A stream of random numbers named by `key`: equal keys give equal streams, on every machine.
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014)
/// over a counter. Meets UniformRandomBitGenerator; the standard distributions differ between
/// libraries, so use the members below wherever a result must repeat.
class Stream {
 public:
  using result_type = std::uint64_t;

  Stream(std::initializer_list<std::uint64_t> key) {
    for (std::uint64_t word : key) state_ = mix(state_ + golden + mix(word));
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return mix(state_ += golden); }

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return double((*this)() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform in 0 ... count - 1 without bias (Lemire 2019, arXiv:1805.10941).
  std::uint64_t below(std::uint64_t count);

  /// Normal, mean 0 and deviation 1 (Box and Muller 1958).
  double normal();

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

/// What a stream is for; the first word of its key after the run's seed, so that no two uses share
/// their numbers.
enum class Purpose : std::uint64_t { weights = 1, order, augmentation, dropout, subset, strategy };

inline Stream stream(std::uint64_t seed, Purpose purpose, std::uint64_t a = 0,
                     std::uint64_t b = 0) {
  return {seed, std::uint64_t(purpose), a, b};
}

}  // namespace parajoule::base
