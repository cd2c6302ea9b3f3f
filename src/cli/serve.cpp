// parajoule serve: the meters of this machine for Prometheus.

#include <array>
#include <iostream>
#include <memory>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/other_meters.h"
#include "cli/prometheus.h"
#include "cli/responder.h"
#include "cli/signals.h"
#include "meter/open.h"
#include "meter/sampler.h"
#include "store/process.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  std::string listen = "127.0.0.1:9109";
  double hertz = 10;
  OtherMeters meters;
};

std::string page_of(const meter::Sampler& sampler, const std::string& node) {
  const auto descriptions = sampler.descriptions();
  const auto live = sampler.snapshot();
  std::vector<Exposed> exposed;
  for (std::size_t i = 0; i < live.size(); ++i) {
    exposed.push_back({.description = descriptions[i],
                       .node = node,
                       .energy = live[i].energy,
                       .power = live[i].power,
                       .value = live[i].value,
                       .failed = live[i].gap.has_value()});
  }
  return prometheus_text(exposed);
}

/// Until somebody asks for an end.
int serve(const Arguments& arguments) {
  const Address address = address_in(arguments.listen);
  Signals signals;
  meter::Sampler sampler(meter::open_sources(named_meters(arguments.meters).sources).sources,
                         {.hertz = arguments.hertz});
  const std::string node = store::host_name();
  Responder responder(address, [&] { return page_of(sampler, node); });
  std::cerr << fmt::format("parajoule: serving http://{}/metrics\n", responder.where())
            << std::flush;
  while (true) {
    pollfd waited[] = {{.fd = signals.file(), .events = POLLIN, .revents = 0},
                       {.fd = responder.file(), .events = POLLIN, .revents = 0}};
    ::poll(waited, 2, responder.patience());
    if (signals.asked_to_stop()) break;
    responder.answer();
  }
  sampler.stop();
  return done;
}

}  // namespace

void add_serve(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("serve", "the meters of this machine for Prometheus");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("--listen", arguments->listen,
                   "where (default: 127.0.0.1:9109, which other machines do not reach)")
      ->type_name("ADDRESS:PORT");
  command->add_option("--rate", arguments->hertz, "readings a second (default: 10)")
      ->check(CLI::Range(0.01, 1000.0).description(""))
      ->type_name("HERTZ");
  add_other_meters(*command, arguments->meters, WallFiles::none);
  command->footer(
      "Prometheus finds counters in joules at http://ADDRESS:PORT/metrics, one for each device "
      "and\n"
      "label. INT, TERM and HUP end it.");
  command->callback([&chosen, arguments] { chosen = [arguments] { return serve(*arguments); }; });
}

}  // namespace parajoule::cli
