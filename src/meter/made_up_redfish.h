#pragma once

// For tests: a management controller in a process of its own, on a port of this machine.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meter/made_up_tree.h"

namespace parajoule::meter {

class MadeUpRedfish {
 public:
  enum class Wire { open, tls };

  /// `answers` is the JSON text that redfish_server.py describes.
  MadeUpRedfish(const std::string& answers, Wire wire) : wire_(wire) {
    this->answers(answers);
    credentials("user = meter\npassword = secret\n");
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) serve(ends[1]);
    ::close(ends[1]);
    std::FILE* out = ::fdopen(ends[0], "r");
    if (std::fscanf(out, "%d", &port_) != 1) std::abort();
    std::fclose(out);
  }
  ~MadeUpRedfish() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  MadeUpRedfish(const MadeUpRedfish&) = delete;
  MadeUpRedfish& operator=(const MadeUpRedfish&) = delete;

  void answers(const std::string& json) const {
    tree_.write("new.json", json);
    std::filesystem::rename(tree_.root() / "new.json", tree_.root() / "answers.json");
  }

  /// With the certificate after it, where there is one.
  void credentials(const std::string& lines, int mode = 0600) const {
    const std::string more = wire_ == Wire::tls ? "certificate = " + certificate() + "\n" : "";
    tree_.write("credentials", lines + more);
    std::filesystem::permissions(tree_.root() / "credentials", std::filesystem::perms(mode));
  }

  Options options() const {
    Options options = tree_.options();
    options.redfish = Options::Redfish{
        .address = fmt::format("{}://127.0.0.1:{}", wire_ == Wire::tls ? "https" : "http", port_),
        .credentials = tree_.root() / "credentials"};
    return options;
  }

  static std::string certificate() { return file("redfish_server.pem"); }

 private:
  static std::string file(const char* name) {
    return (std::filesystem::path(PARAJOULE_SOURCE) / "src/meter" / name).string();
  }

  [[noreturn]] void serve(int out) const {
    ::dup2(out, 1);
    std::vector<std::string> words = {"python3", file("redfish_server.py"),
                                      (tree_.root() / "answers.json").string()};
    if (wire_ == Wire::tls) {
      words.push_back(certificate());
      words.push_back(file("redfish_server_key.pem"));
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp("python3", arguments.data());
    std::_Exit(127);
  }

  MadeUpTree tree_;
  Wire wire_;
  pid_t process_ = -1;
  int port_ = 0;
};

}  // namespace parajoule::meter
