#include "simulate/seal.h"

#include <cstring>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::simulate {

std::uint64_t Seal::sum_of(base::Vector values) {
  if (!values.data()) return 0;
  const auto* bytes = static_cast<const unsigned char*>(values.data());
  std::uint64_t sum = 0xcbf29ce484222325;
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + sizeof(word) <= values.bytes(); i += sizeof(word)) {
    std::memcpy(&word, bytes + i, sizeof(word));
    sum = (sum ^ word) * 0x100000001b3;
    sum ^= sum >> 29;
  }
  for (; i < values.bytes(); ++i) sum = (sum ^ bytes[i]) * 0x100000001b3;
  return sum;
}

void Seal::check(base::Vector values, int rank, std::string_view what) const {
  if (sum_of(values) == sum_) return;
  throw base::Error(base::Fault::bug,
                    fmt::format("rank {} wrote into the values of {} while they were on their way; "
                                "wait for it first",
                                rank, what));
}

}  // namespace parajoule::simulate
