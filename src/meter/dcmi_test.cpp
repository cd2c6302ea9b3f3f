#include "meter/dcmi.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_tree.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using base::Watts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Bytes = std::vector<std::uint8_t>;

/// 330 W now, 180 to 720 W, 301 W on average over 10,824 s, taken 1,689,999,744 s after 1970.
const Bytes example = {0x00, 0xdc, 0x4a, 0x01, 0xb4, 0x00, 0xd0, 0x02, 0x2d, 0x01,
                       0x80, 0x59, 0xbb, 0x64, 0x40, 0x29, 0xa5, 0x00, 0x40};

Bytes with(std::size_t place, std::uint8_t byte) {
  Bytes bytes = example;
  bytes[place] = byte;
  return bytes;
}

std::string failure_of(const Bytes& answer) {
  const auto power = dcmi_power(answer);
  return std::holds_alternative<Failure>(power) ? std::get<Failure>(power).text : "";
}

TEST(Dcmi, AnAnswerInWords) {
  const auto power = dcmi_power(example);
  ASSERT_TRUE(std::holds_alternative<DcmiPower>(power));
  EXPECT_EQ(std::get<DcmiPower>(power), (DcmiPower{.now = Watts{330},
                                                   .lowest = Watts{180},
                                                   .highest = Watts{720},
                                                   .mean = Watts{301},
                                                   .seconds = 1689999744,
                                                   .statistics = Seconds(10824),
                                                   .measuring = true}));
}

TEST(Dcmi, TheStateBitSaysWhetherItMeansAnything) {
  EXPECT_FALSE(std::get<DcmiPower>(dcmi_power(with(18, 0x00))).measuring);
  EXPECT_FALSE(std::get<DcmiPower>(dcmi_power(with(18, 0xbf))).measuring);
  EXPECT_TRUE(std::get<DcmiPower>(dcmi_power(with(18, 0xff))).measuring);
}

TEST(Dcmi, WhatIsNoAnswerIsSaid) {
  EXPECT_THAT(failure_of({}), HasSubstr("without bytes"));
  EXPECT_THAT(failure_of({0xc1}), HasSubstr("knows no DCMI"));
  EXPECT_THAT(failure_of({0xd4}), HasSubstr("not allowed"));
  EXPECT_THAT(failure_of({0xc0}), HasSubstr("busy"));
  EXPECT_THAT(failure_of({0x7f}), HasSubstr("0x7f"));
  EXPECT_THAT(failure_of(with(1, 0xdd)), HasSubstr("not an answer of DCMI"));
  for (std::size_t length = 1; length < example.size(); ++length)
    EXPECT_THAT(failure_of(Bytes(example.begin(), example.begin() + long(length))),
                HasSubstr("bytes"));
}

/// A controller that answers what it is told to, and notes what it was asked.
struct Controller {
  std::vector<Bytes> answers;  ///< one after the other; the last repeats
  std::vector<Bytes> asked = {};
  std::promise<void> done = {};

  struct Transport final : IpmiTransport {
    explicit Transport(Controller& of) : of(of) {}
    std::variant<Bytes, Failure> ask(std::uint8_t net_function, std::uint8_t command,
                                     std::span<const std::uint8_t> data,
                                     const std::function<bool()>&) override {
      Bytes question = {net_function, command};
      question.insert(question.end(), data.begin(), data.end());
      of.asked.push_back(question);
      const std::size_t place = std::min(of.asked.size(), of.answers.size()) - 1;
      if (of.asked.size() == 2) of.done.set_value();
      if (of.answers[place].empty()) return Failure{ETIMEDOUT, "no answer"};
      return of.answers[place];
    }
    Controller& of;
  };

  Opened open(const MadeUpTree& tree) {
    Options options = tree.options();
    options.ipmi = [this](const auto&) -> OpenedIpmi { return std::make_unique<Transport>(*this); };
    return open_dcmi(options);
  }

  /// The first reading of the source, once the thread has asked.
  Reading first(Source& source) {
    source.ready();
    done.get_future().wait();
    while (!source.ready()) std::this_thread::yield();
    return source.read(Seconds(0));
  }
};

TEST(Dcmi, AsksForTheStatisticsOfTheSystem) {
  const MadeUpTree tree;
  Controller controller{.answers = {example, with(2, 0x4b)}};
  Opened opened = controller.open(tree);
  ASSERT_THAT(opened.sources, SizeIs(1));
  EXPECT_EQ(opened.sources[0]->description().device_kind, "node");
  EXPECT_THAT(opened.sources[0]->description().covers, HasSubstr("never seen on real hardware"));
  const Reading power = controller.first(*opened.sources[0]);
  EXPECT_EQ(std::get<double>(power), 331);
  opened.sources.clear();  // ends the thread that asks
  EXPECT_THAT(controller.asked.at(0), ElementsAre(0x2c, 0x02, 0xdc, 0x01, 0x00, 0x00));
}

TEST(Dcmi, NoMeasurementIsAGapAndNever0) {
  const std::pair<Bytes, const char*> answers[] = {
      {with(18, 0), "no measurement available"}, {{}, "no answer"}, {{0xc3}, "took too long"}};
  for (const auto& [answer, words] : answers) {
    const MadeUpTree tree;
    Controller controller{.answers = {example, answer}};
    const Opened opened = controller.open(tree);
    const Reading none = controller.first(*opened.sources.at(0));
    ASSERT_TRUE(std::holds_alternative<Gap>(none));
    EXPECT_EQ(std::get<Gap>(none).cause, Gap::Cause::failed);
    EXPECT_THAT(std::get<Gap>(none).detail, HasSubstr(words));
  }
  const MadeUpTree tree;
  Bytes nothing = with(2, 0);
  nothing[3] = 0;
  Controller controller{.answers = {example, nothing}};
  const Opened opened = controller.open(tree);
  const Reading zero = controller.first(*opened.sources.at(0));
  ASSERT_TRUE(std::holds_alternative<Gap>(zero));
  EXPECT_EQ(std::get<Gap>(zero).cause, Gap::Cause::implausible);
}

TEST(Dcmi, AControllerWithoutItIsSaid) {
  const MadeUpTree tree;
  Controller controller{.answers = {{0xc1}}};
  const Opened opened = controller.open(tree);
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("knows no DCMI"));
  EXPECT_EQ(opened.unavailable[0].state, Unavailable::State::absent);
}

TEST(Dcmi, AReadingWithNothingBehindItIsDead) {
  const MadeUpTree tree;
  Bytes nothing = with(18, 0);
  nothing[2] = nothing[3] = 0;
  Controller controller{.answers = {nothing}};
  const Opened opened = controller.open(tree);
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_EQ(opened.unavailable[0].state, Unavailable::State::dead);
}

TEST(Dcmi, ADeviceThatMayNotBeOpenedIsSaidWithItsRemedyAndNoneIsNothing) {
  const MadeUpTree tree;
  Options options = tree.options();
  EXPECT_THAT(open_dcmi(options).unavailable, IsEmpty());  // no such file
  options.ipmi = [](const auto&) -> OpenedIpmi { return Failure{EACCES, "Permission denied"}; };
  const Opened opened = open_dcmi(options);
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("dev/ipmi0: Permission denied"));
  EXPECT_THAT(opened.unavailable[0].remedy, HasSubstr("sudo setfacl"));
  EXPECT_EQ(opened.unavailable[0].state, Unavailable::State::unreadable);
  options.ipmi = [](const auto&) -> OpenedIpmi { return Failure{ENODEV, "No such device"}; };
  EXPECT_EQ(open_dcmi(options).unavailable.at(0).state, Unavailable::State::absent);
}

TEST(Dcmi, AFileThatIsNoControllerIsAFailureNotACrash) {
  const MadeUpTree tree;
  tree.write("dev/ipmi0", "");
  const Opened opened = open_dcmi(tree.options());
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("ioctl"));
}

}  // namespace
}  // namespace parajoule::meter
