#include "rehearse/profile_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rehearse/toml_table.h"

namespace parajoule::rehearse {
namespace {

schedule::Profile profile_of(TomlTable file) {
  schedule::Profile profile;
  file.word("name");
  file.word("source");
  for (TomlTable& layer : file.tables("layers")) {
    profile.layers.push_back({.name = layer.word("name"),
                              .parameters = layer.whole("parameters", 0),
                              .shape = layer.wholes("shape"),
                              .forward_flops = layer.whole("forward_flops", 0),
                              .backward_flops = layer.whole("backward_flops", 0),
                              .activation_bytes = layer.whole("activation_bytes", 0)});
    layer.finish();
  }
  file.finish();
  return profile;
}

}  // namespace

std::string written(const schedule::Profile& profile, const std::string& name,
                    const std::string& source) {
  std::string text = fmt::format(
      "version = 1\nname = \"{}\"\nsource = \"\"\"{}\"\"\"\n\n"
      "# Per sample, in the order of the forward pass: outputs of a layer without the batch;\n"
      "# multiplying and adding one product are two operations; normalisation counts none.\n"
      "layers = [\n",
      name, source);
  for (const schedule::LayerProfile& layer : profile.layers)
    text += fmt::format(
        "  {{name = \"{}\", parameters = {}, shape = [{}], forward_flops = {}, "
        "backward_flops = {}, activation_bytes = {}}},\n",
        layer.name, layer.parameters, fmt::join(layer.shape, ", "), layer.forward_flops,
        layer.backward_flops, layer.activation_bytes);
  return text + "]\n";
}

schedule::Profile read_profile(const std::string& path) {
  return profile_of(TomlTable::of_file(path));
}
schedule::Profile profile_in(const std::string& text, const std::string& path) {
  return profile_of(TomlTable::of_text(text, path));
}

}  // namespace parajoule::rehearse
