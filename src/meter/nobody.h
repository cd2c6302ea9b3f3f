#pragma once

// For tests: what it is like not to be root.

#include <unistd.h>

namespace parajoule::meter {

/// Gives up root's right to read everything while it lives.
class Nobody {
 public:
  Nobody() { failed_ = was_ == 0 && ::seteuid(65534) != 0; }
  ~Nobody() { failed_ = was_ == 0 && ::seteuid(was_) != 0; }
  bool failed() const { return failed_; }

 private:
  const uid_t was_ = ::geteuid();
  bool failed_ = false;
};

}  // namespace parajoule::meter
