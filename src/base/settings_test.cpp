#include "base/settings.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

using Kind = Option::Kind;
using Given = std::map<std::string, Value>;
using Wholes = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

const std::vector<Option> options{
    {.name = "period", .kind = Kind::whole, .fallback = "8", .help = "steps, H", .least = 1},
    {.name = "pull",
     .kind = Kind::number,
     .fallback = "0.9",
     .help = "rho",
     .least = 0.0,
     .most = 1.0},
    {.name = "topology",
     .kind = Kind::word,
     .fallback = "ring",
     .help = "",
     .choices = {"ring", "exponential"}},
    {.name = "file", .kind = Kind::word, .fallback = "", .help = ""},
    {.name = "weighted", .kind = Kind::flag, .fallback = "false", .help = ""},
    {.name = "epochs", .kind = Kind::wholes, .fallback = "[30, 60]", .help = "", .least = 0.0},
    {.name = "rates", .kind = Kind::numbers, .fallback = "[0.1, 1]", .help = ""},
};

Settings with(const Given& given) { return {"easgd", options, given}; }

/// The one line of the Error{usage} that `act` throws.
std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault, Fault::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "accepted";
}

std::string refusal(const Given& given) {
  return refusal([&] { with(given); });
}

TEST(Settings, FallBackToWhatIsDeclared) {
  const Settings settings = with({});
  EXPECT_EQ(settings.whole("period"), 8);
  EXPECT_EQ(settings.number("pull"), 0.9);
  EXPECT_EQ(settings.word("topology"), "ring");
  EXPECT_EQ(settings.word("file"), "");
  EXPECT_FALSE(settings.flag("weighted"));
  EXPECT_EQ(settings.wholes("epochs"), (Wholes{30, 60}));
  EXPECT_EQ(settings.numbers("rates"), (Numbers{0.1, 1}));
  for (const auto& [name, entry] : settings.entries()) EXPECT_FALSE(entry.given) << name;
}

TEST(Settings, TakeWhatIsGivenAndRememberIt) {
  const Settings settings = with({{"period", std::int64_t{2}},
                                  {"pull", std::int64_t{1}},
                                  {"topology", "exponential"},
                                  {"weighted", true},
                                  {"epochs", Wholes{}}});
  EXPECT_EQ(settings.whole("period"), 2);
  EXPECT_EQ(settings.number("pull"), 1.0);
  EXPECT_EQ(settings.word("topology"), "exponential");
  EXPECT_TRUE(settings.flag("weighted"));
  EXPECT_TRUE(settings.wholes("epochs").empty());
  EXPECT_TRUE(settings.entries().at("period").given);
  EXPECT_FALSE(settings.entries().at("file").given);
}

TEST(Settings, WholeNumbersWillDoForNumbers) {
  EXPECT_EQ(with({{"rates", Wholes{1, 2}}}).numbers("rates"), (Numbers{1, 2}));
  EXPECT_EQ(with({{"rates", Wholes{}}}).numbers("rates"), Numbers{});
  EXPECT_EQ(with({{"epochs", Numbers{}}}).wholes("epochs"), Wholes{});
  EXPECT_EQ(refusal({{"epochs", Numbers{0.5}}}),
            "easgd.epochs = [0.5]: must be a list of whole numbers such as [30, 60]");
}

TEST(Settings, UnknownKeysAreNamedWithTheNearest) {
  EXPECT_EQ(refusal({{"peroid", std::int64_t{2}}}),
            "easgd.peroid = 2: no such option; did you mean 'period'?");
  EXPECT_EQ(refusal({{"elephants", "x"}}),
            "easgd.elephants = x: no such option; known: period, pull, topology, file, weighted, "
            "epochs, rates");
}

TEST(Settings, WrongTypesAreNamed) {
  EXPECT_EQ(refusal({{"period", "often"}}), "easgd.period = often: must be a whole number");
  EXPECT_EQ(refusal({{"period", 2.5}}), "easgd.period = 2.5: must be a whole number");
  EXPECT_EQ(refusal({{"pull", "much"}}), "easgd.pull = much: must be a number");
  EXPECT_EQ(refusal({{"pull", "0.1"}}),
            "easgd.pull = \"0.1\": must be a number: leave out the quotes");
  EXPECT_EQ(refusal({{"weighted", std::int64_t{1}}}), "easgd.weighted = 1: must be true or false");
  EXPECT_EQ(refusal({{"topology", true}}), "easgd.topology = true: must be a word");
  EXPECT_EQ(refusal({{"epochs", std::int64_t{3}}}),
            "easgd.epochs = 3: must be a list of whole numbers such as [30, 60]");
}

TEST(Settings, RangesAreNamed) {
  EXPECT_EQ(refusal({{"period", std::int64_t{0}}}), "easgd.period = 0: must be at least 1");
  EXPECT_EQ(refusal({{"pull", 1.5}}), "easgd.pull = 1.5: must lie in 0 to 1");
  EXPECT_EQ(refusal({{"epochs", Wholes{3, -1}}}), "easgd.epochs = [3, -1]: must be at least 0");
  EXPECT_EQ(refusal({{"pull", std::numeric_limits<double>::quiet_NaN()}}),
            "easgd.pull = nan: must be finite");
}

TEST(Settings, ChoicesAreNamed) {
  EXPECT_EQ(refusal({{"topology", "rings"}}),
            "easgd.topology = rings: must be one of ring, exponential; did you mean 'ring'?");
  EXPECT_EQ(refusal({{"topology", "star"}}),
            "easgd.topology = star: must be one of ring, exponential");
}

TEST(Settings, AZeroByteEndsNoWord) {
  EXPECT_EQ(refusal({{"file", std::string("a\0b", 3)}}),
            "easgd.file = a: a zero byte follows; leave it out");
}

TEST(Settings, ATopLevelKeyHasNoTable) {
  EXPECT_EQ(refusal([] {
              Settings("", options, {{"period", "x"}});
            }),
            "period = x: must be a whole number");
}

TEST(Settings, WhatIsNotDeclaredIsABug) {
  EXPECT_THROW(with({}).whole("perod"), Error);
  EXPECT_THROW(with({}).number("period"), Error);
  const std::vector<Option> twice{options[0], options[0]};
  EXPECT_THROW(Settings("t", twice, {}), Error);
  const std::vector<Option> odd{{.name = "a", .kind = Kind::whole, .fallback = "many", .help = ""}};
  EXPECT_THROW(Settings("t", odd, {}), Error);
}

TEST(Parse, ReadsWhatWrittenWrites) {
  const std::vector<std::pair<int, Value>> values{{0, std::int64_t{7}},
                                                  {1, 0.1},
                                                  {1, 1e-3},
                                                  {2, "exponential"},
                                                  {3, "a b"},
                                                  {4, true},
                                                  {4, false},
                                                  {5, Wholes{1, 2, 3}},
                                                  {5, Wholes{}},
                                                  {6, Numbers{0.5, 2}}};
  for (const auto& [option, value] : values)
    EXPECT_EQ(parse(options[std::size_t(option)], "easgd", written(value)), value)
        << written(value);
}

TEST(Parse, IsKindToSpacesQuotesAndMissingBrackets) {
  EXPECT_EQ(parse(options[0], "", " 7 "), Value(std::int64_t{7}));
  EXPECT_EQ(parse(options[0], "", "+7"), Value(std::int64_t{7}));
  EXPECT_EQ(parse(options[1], "", "1"), Value(1.0));
  EXPECT_EQ(parse(options[2], "", "\"ring\""), Value("ring"));
  EXPECT_EQ(parse(options[5], "", "1,2"), Value(Wholes{1, 2}));
  EXPECT_EQ(parse(options[5], "", "[ 1 , 2 ]"), Value(Wholes{1, 2}));
}

TEST(Parse, RefusesWhatIsLeftOver) {
  for (std::string_view text : {"7x", "", "7.5", "0x7", "+", "99999999999999999999"})
    EXPECT_EQ(refusal([&] { parse(options[0], "easgd", text); }),
              "easgd.period = " + std::string(text) + ": must be a whole number");
  for (std::string_view text : {"", "[1", "1]", "1,,2", "1,", "[1.5]", ",", "[", "]"})
    EXPECT_EQ(refusal([&] { parse(options[5], "easgd", text); }),
              "easgd.epochs = " + std::string(text) +
                  ": must be a list of whole numbers such as [30, 60]");
  EXPECT_EQ(refusal([&] { parse(options[0], "easgd", "0"); }),
            "easgd.period = 0: must be at least 1");
  EXPECT_EQ(refusal([&] { parse(options[1], "easgd", "inf"); }),
            "easgd.pull = inf: must be finite");
  EXPECT_EQ(refusal([&] { parse(options[4], "easgd", "yes"); }),
            "easgd.weighted = yes: must be true or false");
}

}  // namespace
}  // namespace parajoule::base
