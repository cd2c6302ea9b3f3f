#pragma once

// The vector methods are written on: weights, gradients and buffers of a replica each lie end to
// end in one. It is a view; whoever allocated the memory owns it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace parajoule::base {

enum class Element : std::uint8_t { float32, float64, float16, bfloat16, int64, byte };

std::size_t bytes_of(Element element);
std::string_view name_of(Element element);

template <class T>
constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>) return Element::float32;
  if constexpr (std::is_same_v<T, double>) return Element::float64;
  if constexpr (std::is_same_v<T, std::int64_t>) return Element::int64;
  if constexpr (std::is_same_v<T, std::byte>) return Element::byte;
}

/// Where the elements are. A vector `nowhere` has a length and no elements: rehearsals use it.
enum class Place : std::uint8_t { host, device, nowhere };

/// Elements begin ... end - 1 of a vector.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

class Vector;

/// What can be done to vectors: a table of functions, one table a world (host loops, a device,
/// rehearsal costs). Vectors of one call have equal counts, elements and places unless said
/// otherwise, and are the same memory or apart; a call that breaks this is a bug. Sums are formed
/// in double and, on the host, in an order that the count alone decides. On the host float16 and
/// bfloat16 are computed in float32 and rounded to nearest; int64 and byte can be copied, cast (cut
/// towards zero), filled, added (times a whole factor, wrapping around), gathered and scattered.
class Operations {
 public:
  virtual ~Operations() = default;
  virtual void copy(Vector to, Vector from) const = 0;  ///< to = from
  virtual void cast(Vector to, Vector from) const = 0;  ///< to = from, elements may differ
  virtual void fill(Vector x, double value) const = 0;
  virtual void scale(Vector x, double factor) const = 0;           ///< x = factor x
  virtual void add(Vector y, Vector x, double factor) const = 0;   ///< y = y + factor x
  virtual void lerp(Vector y, Vector x, double weight) const = 0;  ///< y = y + weight (x - y)
  virtual void multiply(Vector y, Vector x) const = 0;             ///< y = y x, by element
  virtual double dot(Vector x, Vector y) const = 0;
  virtual double sum(Vector x) const = 0;
  virtual double sum_of_magnitudes(Vector x) const = 0;
  virtual double largest_magnitude(Vector x) const = 0;  ///< NaN if there is a NaN
  virtual bool finite(Vector x) const = 0;               ///< no NaN, no infinity
  /// to[i] = from[index[i]], for every i of `index`, which is as long as `to`.
  virtual void gather(Vector to, Vector from, std::span<const std::int64_t> index) const = 0;
  /// to[index[i]] = from[i], in order, for every i of `index`, which is as long as `from`.
  virtual void scatter(Vector to, Vector from, std::span<const std::int64_t> index) const = 0;
};

/// Loops over memory of this process.
const Operations& host_operations();

class Vector {
 public:
  Vector() = default;
  Vector(void* data, std::size_t count, Element element, Place place = Place::host,
         const Operations& operations = host_operations())
      : data_(data), count_(count), element_(element), place_(place), operations_(&operations) {}
  template <class T>
  explicit Vector(std::span<T> values) : Vector(values.data(), values.size(), element_of<T>()) {}

  void* data() const { return data_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * bytes_of(element_); }
  bool empty() const { return count_ == 0; }
  Element element() const { return element_; }
  Place place() const { return place_; }

  /// The elements `range` of this vector. A range that does not lie in it is a bug.
  Vector operator[](Range range) const;

  /// The elements as numbers of this process; a bug unless they are of type T and on the host.
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(checked(element_of<T>())), count_};
  }

  void copy(Vector from) const { operations_->copy(*this, from); }
  void cast(Vector from) const { operations_->cast(*this, from); }
  void fill(double value) const { operations_->fill(*this, value); }
  void scale(double factor) const { operations_->scale(*this, factor); }
  void add(Vector x, double factor = 1) const { operations_->add(*this, x, factor); }
  void lerp(Vector x, double weight) const { operations_->lerp(*this, x, weight); }
  void multiply(Vector x) const { operations_->multiply(*this, x); }
  double dot(Vector x) const { return operations_->dot(*this, x); }
  double sum() const { return operations_->sum(*this); }
  double sum_of_magnitudes() const { return operations_->sum_of_magnitudes(*this); }
  double largest_magnitude() const { return operations_->largest_magnitude(*this); }
  bool finite() const { return operations_->finite(*this); }
  void gather(Vector from, std::span<const std::int64_t> index) const {
    operations_->gather(*this, from, index);
  }
  void scatter(Vector from, std::span<const std::int64_t> index) const {
    operations_->scatter(*this, from, index);
  }

 private:
  void* checked(Element wanted) const;

  void* data_ = nullptr;
  std::size_t count_ = 0;
  Element element_ = Element::float32;
  Place place_ = Place::host;
  const Operations* operations_ = &host_operations();
};

}  // namespace parajoule::base
