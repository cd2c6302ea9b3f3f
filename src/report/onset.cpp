#include "report/onset.h"

#include <algorithm>
#include <numeric>

#include "report/difference.h"

namespace parajoule::report {
namespace {

constexpr double level = 0.05;

/// Holm's adjustment: the k-th smallest of m is multiplied by m - k + 1, and none falls below one
/// before it.
std::vector<double> by_holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    least = std::max(least, std::min(1.0, p[order[k]] * double(p.size() - k)));
    adjusted[order[k]] = least;
  }
  return adjusted;
}

}  // namespace

Degradation degradation(std::vector<AtBatch> rows) {
  std::erase_if(rows, [](const AtBatch& row) { return row.error.count < 2; });
  std::ranges::sort(rows, {}, &AtBatch::global_batch_size);
  std::vector<AtBatch> tested;
  std::vector<double> p;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto found = difference(rows.front().error, rows[i].error);
    if (!found) continue;
    tested.push_back(rows[i]);
    p.push_back(found->difference > 0 ? found->p / 2 : 1 - found->p / 2);
  }
  Degradation result{.tested = int(tested.size()), .onset = {}};
  const std::vector<double> adjusted = by_holm(p);
  for (std::size_t i = tested.size(); i-- > 0 && adjusted[i] < level;)
    result.onset = {tested[i].global_batch_size, tested[i].error.mean - rows.front().error.mean,
                    adjusted[i]};
  return result;
}

}  // namespace parajoule::report
