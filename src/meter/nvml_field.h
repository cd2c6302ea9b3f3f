#pragma once

// What NVML's field values say, and the numbers that stand for "there is none".

#include <cstdint>
#include <string>
#include <variant>

namespace parajoule::meter {

/// nvmlFieldValue_t of nvml.h. Only the part of `value` that `type` names is written.
struct NvmlField {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;  ///< nvmlValueType_t
  int result;
  union {
    double real;
    std::uint32_t small;
    std::uint64_t large;
    std::int32_t small_signed;
    std::int64_t large_signed;
    std::uint16_t tiny;
  } value;
};
static_assert(sizeof(NvmlField) == 40);

/// Fields of power, in milliwatts.
enum class NvmlPower : unsigned {
  average = 185,  ///< NVML_FI_DEV_POWER_AVERAGE: of the last second
  instant = 186,  ///< NVML_FI_DEV_POWER_INSTANT
};

/// Of what a power is asked (NVML_POWER_SCOPE_*).
enum class NvmlScope : unsigned { gpu = 0, module = 1, memory = 2 };

/// The number in a field whose `result` was good, or why there is none: a blank value (all ones, or
/// one of those DCGM fills in, 0x7ffffff0 and 0x7ffffffffffffff0 with what comes after), a negative
/// one, one that is not finite, or an unknown type.
std::variant<double, std::string> number_in(const NvmlField& field);

bool is_blank(std::uint32_t value);
bool is_blank(std::uint64_t value);

}  // namespace parajoule::meter
