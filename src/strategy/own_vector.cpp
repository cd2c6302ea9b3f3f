#include "strategy/own_vector.h"

#include <string>
#include <utility>

namespace parajoule::strategy {

void OwnVector::make(base::Vector vector) {
  vector_ = vector;
  made_ = true;
  if (!loaded_) return;
  base::Archive archive;
  archive.entries().emplace("loaded", *std::exchange(loaded_, std::nullopt));
  archive.get("loaded", vector_);
}

void OwnVector::save(base::Archive& archive, std::string_view name) const {
  if (made_) archive.put(name, vector_);
  if (loaded_) archive.entries().emplace(std::string(name), *loaded_);
}

void OwnVector::load(const base::Archive& archive, std::string_view name) {
  const auto found = archive.entries().find(name);
  if (found != archive.entries().end()) loaded_ = found->second;
}

}  // namespace parajoule::strategy
