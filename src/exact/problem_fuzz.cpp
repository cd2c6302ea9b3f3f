// Whatever a problem file holds, it is refused in one line, or every rank that it is for can take a
// pass over all of its layers.

#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "exact/pass.h"
#include "exact/problem.h"

using namespace parajoule;

namespace {

void take_pass(const exact::Problem& problem, int trainer) {
  const schedule::Layout layout = exact::layout_of(problem);
  if (layout.parameter_count() != exact::parameters(problem)) std::abort();
  exact::Row weights = exact::of_rank(problem.start, trainer), gradients(weights.size());
  const auto part = [](exact::Row& row, base::Range range) {
    return std::span(row).subspan(range.begin, range.size());
  };
  const auto pass = exact::begin_pass(problem, trainer, 0);
  for (const auto& layer : layout.parameters)
    pass->forward(layer.range, part(weights, layer.range));
  for (auto layer = layout.parameters.rbegin(); layer != layout.parameters.rend(); ++layer)
    pass->backward(layer->range, part(weights, layer->range), part(gradients, layer->range));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* letters, std::size_t count) {
  try {
    const exact::Problem problem = exact::problem_in({letters, count}, "fuzz");
    const int trainers = exact::trainers_in(problem).value_or(1);
    exact::check_ranks(problem, trainers, 1 << 30);
    for (int trainer = 0; trainer < trainers; ++trainer) {
      if (exact::samples_of(problem, trainer, 0) > 0) take_pass(problem, trainer);
      exact::duration_of(problem, trainer, 3);
    }
  } catch (const base::Error& error) {
    const std::string_view what = error.what();
    if (error.fault != base::Fault::input || what.find('\n') != what.npos) std::abort();
  }
  return 0;
}
