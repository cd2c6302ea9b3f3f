#include "meter/shared_file.h"

namespace parajoule::meter {

const std::variant<std::string, Failure>& SharedFile::text(base::Seconds now) {
  constexpr base::Seconds one_round{0.005};
  if (!at_ || now < *at_ || now - *at_ >= one_round) {
    text_ = file_.text();
    at_ = now;
  }
  return text_;
}

}  // namespace parajoule::meter
