#pragma once

namespace parajoule::cli {

/// The signals that come to a launcher (TERM, USR1, HUP, INT, and CHLD), held back from the moment
/// it is made and handed out one by one; not a HUP or INT that was ignored (nohup). One at a time
/// in a process.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// To wait for with poll().
  int file() const { return file_; }

  /// The next one; 0 if there is none.
  int next();

  /// Whether one has come that asks for an end; takes all that have come.
  bool asked_to_stop();

 private:
  int file_ = -1;
};

}  // namespace parajoule::cli
