// The functions of include/parajoule.h: nothing that is thrown leaves them.

#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "inside/program.h"
#include "parajoule.h"

using namespace parajoule;

namespace {

thread_local std::string last_error;

int status_of(base::Fault fault) {
  if (fault == base::Fault::usage || fault == base::Fault::input) return PARAJOULE_USAGE;
  return fault == base::Fault::environment ? PARAJOULE_ENVIRONMENT : PARAJOULE_BUG;
}

int failed(int status, const char* why) noexcept {
  try {
    last_error = why;
  } catch (...) {  // not even room for the words
    last_error.clear();
  }
  return status;
}

/// Does it, and makes a status of what it throws.
template <class Function>
int guarded(Function&& function) noexcept {
  try {
    function();
    return PARAJOULE_OK;
  } catch (const base::Error& error) {
    return failed(status_of(error.fault), error.what());
  } catch (const std::exception& error) {
    return failed(PARAJOULE_ENVIRONMENT, error.what());
  } catch (...) {
    return failed(PARAJOULE_BUG, "something was thrown that is no exception");
  }
}

void need(bool given, const char* what) {
  if (!given) throw base::Error(base::Fault::usage, fmt::format("{} is NULL", what));
}

parajoule_region begun(const char* name, bool exact) noexcept {
  parajoule_region region = 0;
  guarded([&] {
    need(name, "the name of a region");
    region = inside::Program::here().begin(name, exact);
  });
  return region;
}

double or_none(const std::optional<base::Joules>& energy) {
  return energy ? energy->value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

/// Texts that the energies point into.
struct parajoule_result {
  inside::RegionEnergy region;
  std::vector<std::string> remarks;
};

const char* parajoule_version(void) { return "parajoule " PARAJOULE_VERSION; }
const char* parajoule_error(void) { return last_error.c_str(); }

int parajoule_start(const parajoule_options* options) {
  return guarded([&] {
    constexpr double usual_hertz = 10;
    double hertz = usual_hertz;
    if (options) {
      if (options->size < sizeof(parajoule_options))
        throw base::Error(base::Fault::usage,
                          "parajoule_options.size is not sizeof(parajoule_options)");
      if (options->hertz != 0) hertz = options->hertz;
    }
    inside::Program::here().start({}, hertz);
  });
}

int parajoule_stop(void) {
  return guarded([] { inside::Program::here().stop(); });
}

int parajoule_active(void) {
  int active = 0;
  guarded([&] { active = int(inside::Program::here().active()); });
  return active;
}

parajoule_region parajoule_begin(const char* name) { return begun(name, false); }
parajoule_region parajoule_begin_exact(const char* name) { return begun(name, true); }

int parajoule_end(parajoule_region region) {
  return guarded([&] { inside::Program::here().end(region); });
}

int parajoule_synchronise_with(void (*synchronise)(void*), void* context) {
  return guarded([&] {
    std::function<void()> wait;
    if (synchronise) wait = [synchronise, context] { synchronise(context); };
    inside::Program::here().synchronise_with(std::move(wait));
  });
}

int parajoule_energy_of(parajoule_region region, parajoule_result** result) {
  return guarded([&] {
    need(result, "the result");
    *result = nullptr;
    auto found = std::make_unique<parajoule_result>();
    found->region = inside::Program::here().energy_of(region);
    for (const meter::SourceAccount& source : found->region.account.sources)
      found->remarks.push_back(fmt::format("{}", fmt::join(source.remarks, "\n")));
    *result = found.release();
  });
}

void parajoule_result_free(parajoule_result* result) { delete result; }

int parajoule_forget(parajoule_region region) {
  return guarded([&] { inside::Program::here().forget(region); });
}

double parajoule_result_seconds(const parajoule_result* result) {
  return result ? result->region.length.count() : 0;
}

double parajoule_result_exact_seconds(const parajoule_result* result) {
  return result ? result->region.exact_cost.count() : 0;
}

size_t parajoule_result_count(const parajoule_result* result) {
  return result ? result->region.account.sources.size() : 0;
}

int parajoule_result_energy(const parajoule_result* result, size_t index,
                            parajoule_energy* energy) {
  return guarded([&] {
    need(result, "the result");
    need(energy, "the energy");
    if (index >= result->remarks.size())
      throw base::Error(base::Fault::usage, fmt::format("there is no source {}", index));
    const meter::SourceAccount& source = result->region.account.sources[index];
    const meter::Description& description = source.description;
    const bool measured = description.label == meter::Label::measured;
    *energy = {.device = description.device.c_str(),
               .device_kind = description.device_kind.c_str(),
               .covers = description.covers.c_str(),
               .remarks = result->remarks[index].c_str(),
               .label = measured ? PARAJOULE_MEASURED : PARAJOULE_MODELLED,
               .counts = source.counts ? 1 : 0,
               .joules = or_none(source.energy),
               .resolution = source.uncertainty.resolution.value,
               .bias = source.uncertainty.bias.value,
               .covered_seconds = source.covered.count()};
  });
}

int parajoule_result_total(const parajoule_result* result, parajoule_label label, double* joules,
                           double* half_width) {
  return guarded([&] {
    need(result, "the result");
    need(joules, "the joules");
    const meter::Totals& totals = result->region.account.totals;
    const auto tell = [&](const auto& total) {
      *joules = total ? total->energy().value : std::numeric_limits<double>::quiet_NaN();
      if (half_width)
        *half_width =
            total ? total->uncertainty().whole().value : std::numeric_limits<double>::quiet_NaN();
    };
    if (label == PARAJOULE_MEASURED)
      tell(totals.measured);
    else if (label == PARAJOULE_MODELLED)
      tell(totals.modelled);
    else
      throw base::Error(base::Fault::usage,
                        fmt::format("there is no label {}: measured is {}, modelled is {}",
                                    int(label), int(PARAJOULE_MEASURED), int(PARAJOULE_MODELLED)));
  });
}
