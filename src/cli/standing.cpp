#include "cli/standing.h"

#include "cli/fields.h"

namespace parajoule::cli {
namespace {

constexpr char mark = '\x1e';  // record separator: no text for a person begins with it
constexpr char between = '\x1f';

void put(Fields& fields, const std::string& label, const std::optional<Drawn>& drawn) {
  if (!drawn) return;
  fields.put(label + "_watts", drawn->power.value);
  fields.put(label + "_joules", drawn->energy.value);
}

std::optional<Drawn> drawn_in(const Fields& fields, const std::string& label) {
  const auto power = fields.number(label + "_watts");
  const auto energy = fields.number(label + "_joules");
  if (!power || !energy) return {};
  return Drawn{.power = {*power}, .energy = {*energy}};
}

}  // namespace

std::string message(const Standing& standing) {
  Fields fields;
  fields.put("epoch", long(standing.epoch));
  fields.put("epochs", long(standing.epochs));
  fields.put("step", long(standing.step));
  fields.put("steps", long(standing.steps));
  fields.put("loss", standing.loss);
  if (standing.top1_error_percent) fields.put("top1", *standing.top1_error_percent);
  fields.put("samples_per_second", standing.samples_per_second);
  put(fields, "measured", standing.measured);
  put(fields, "modelled", standing.modelled);
  if (standing.left) fields.put("left_seconds", standing.left->count());
  if (standing.evaluating) fields.put("evaluating", long(1));
  return mark + fields.written(between);
}

std::optional<Standing> parse_standing(std::string_view line) {
  if (line.empty() || line[0] != mark) return {};
  const Fields fields = Fields::parse(line.substr(1), between);
  Standing standing{.epoch = fields.whole("epoch").value_or(0),
                    .epochs = fields.whole("epochs").value_or(0),
                    .step = fields.whole("step").value_or(0),
                    .steps = fields.whole("steps").value_or(0),
                    .loss = fields.number("loss").value_or(0),
                    .top1_error_percent = fields.number("top1"),
                    .samples_per_second = fields.number("samples_per_second").value_or(0),
                    .measured = drawn_in(fields, "measured"),
                    .modelled = drawn_in(fields, "modelled"),
                    .left = {},
                    .evaluating = fields.whole("evaluating").has_value()};
  if (const auto left = fields.number("left_seconds")) standing.left = base::Seconds(*left);
  return standing;
}

}  // namespace parajoule::cli
