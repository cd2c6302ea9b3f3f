#pragma once

// The light-weight codecs of Pipe-SGD (Y. Li et al., NeurIPS 2018, arXiv:1811.03619), for float32
// and float64 values. What is no number stays none.

#include "comm/codec.h"

namespace parajoule::comm {

/// The upper half of a float32: sign, exponent and 7 bits of the mantissa. 2 bytes a value; towards
/// zero by less than 2^-7 of it.
const Codec& truncate16();

/// Eight bits on a scale of the chunk: s = max |x| / 127, q = x / s rounded. 1 byte a value and 4
/// for s; off by at most s / 2. The paper's scale is not known to us; this one is ours. A chunk
/// that holds one value that is no finite number holds none afterwards.
const Codec& scale8();

}  // namespace parajoule::comm
