#include "rehearse/profile_file.h"

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

schedule::Profile read_profile(const std::string& path) {
  return profile_of(TomlTable::of_file(path));
}
schedule::Profile profile_in(const std::string& text, const std::string& path) {
  return profile_of(TomlTable::of_text(text, path));
}

}  // namespace parajoule::rehearse
