#include "store/export.h"

#include <locale>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "store/test_record.h"
#include "store/utf8.h"

namespace parajoule::store {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class Export : public testing::Test {
 protected:
  Reader record(const Example& example = {}) const {
    Record record(options_in(folder_));
    example.add_to(record);
    record.finish(State::done);
    return Reader(record.path());
  }
  std::string csv(const Reader& reader, std::string_view table) const {
    std::ostringstream out;
    export_csv(reader, table, out);
    return out.str();
  }
  json as_json(const Reader& reader) const {
    std::ostringstream out;
    export_json(reader, out);
    return json::parse(out.str());
  }
  const TemporaryFolder folder_;
};

TEST_F(Export, WritesCsvWithTheColumnsOfTheTable) {
  EXPECT_EQ(csv(record(), "reading"),
            "source,seconds,value,gap\n"
            "0,0.1,17.25,\n"
            "1,0.1,,failed: the device said no\n");
  EXPECT_EQ(csv(record(), "step"),
            "rank,step,seconds,samples,loss,sent_bytes,waited_seconds\n"
            "1,0,2.5,64,2.302585092994046,5000000000,0.25\n");
}

TEST_F(Export, QuotesAsRfc4180Says) {
  EXPECT_THAT(csv(record(), "note"),
              HasSubstr("\n3.5,1,warning,\"schön, \"\"quoted\"\"\nand a second line\"\n"));
  Example example;
  example.setting = {"empty", "", "a\rb"};
  EXPECT_THAT(csv(record(example), "setting"), HasSubstr("\nempty,\"\",\"a\rb\"\n"));
}

TEST_F(Export, GivesASpreadsheetNoFormulaToCarryOut) {
  Example example;
  for (const auto& [text, cell] :
       std::map<std::string, std::string>{{"=HYPERLINK(A1)", "'=HYPERLINK(A1)"},
                                          {"=1,\"2\"", "\"'=1,\"\"2\"\"\""},
                                          {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
                                          {"-flag", "'-flag"},
                                          {"@SUM(A1)", "'@SUM(A1)"},
                                          {"\tx", "'\tx"},
                                          {"-3.25", "-3.25"},
                                          {"a=1", "a=1"}}) {
    example.setting = {"key", text, "file"};
    EXPECT_THAT(csv(record(example), "setting"), HasSubstr("\nkey," + cell + ",file\n"));
  }
}

TEST_F(Export, WritesJsonWithEveryRowAsAnObject) {
  const json all = as_json(record());
  EXPECT_EQ(all["format"], "parajoule record");
  EXPECT_EQ(all["version"], 1);
  EXPECT_EQ(all["run"]["state"], "done");
  EXPECT_EQ(all["reading"],
            json::parse(R"([{"source": 0, "seconds": 0.1, "value": 17.25, "gap": null},
                            {"source": 1, "seconds": 0.1, "value": null,
                             "gap": "failed: the device said no"}])"));
  EXPECT_EQ(all["source"][1]["label"], "modelled");
  EXPECT_EQ(all["source"][1]["bias_relative"], 0.5);
  EXPECT_EQ(all["source"][0]["part_of"], nullptr);
  EXPECT_EQ(all["note"][0]["text"], "schön, \"quoted\"\nand a second line");
  for (const std::string_view table : tables()) EXPECT_TRUE(all.contains(table)) << table;
}

TEST_F(Export, KeepsEveryDigit) {
  Example example;
  example.step.loss = 0.1 + 0.2;
  example.step.seconds = base::Seconds(1e-300);
  const Reader reader = record(example);
  EXPECT_THAT(csv(reader, "step"), HasSubstr("1,0,1e-300,64,0.30000000000000004,"));
  EXPECT_EQ(as_json(reader)["step"][0]["loss"], 0.1 + 0.2);
}

TEST_F(Export, LeavesOutWhatIsNoNumber) {
  Example example;
  example.step.loss = std::numeric_limits<double>::quiet_NaN();
  const Reader reader = record(example);
  EXPECT_THAT(csv(reader, "step"), HasSubstr("1,0,2.5,64,,5000000000,0.25"));
  EXPECT_EQ(as_json(reader)["step"][0]["loss"], nullptr);
}

TEST_F(Export, IsUtf8WhateverTheRecordHolds) {
  Example example;
  example.setting = {"file", "caf\xe9.toml", "command line"};
  const Reader reader = record(example);
  EXPECT_THAT(csv(reader, "setting"), HasSubstr("file,caf\uFFFD.toml,command line"));
  EXPECT_EQ(as_json(reader)["setting"][1]["value"], "caf\uFFFD.toml");
}

/// Numbers as Germans write them: a comma before the fraction, points between the thousands.
class German : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(Export, IsTheSameInEveryLocale) {
  const Reader reader = record();
  const std::string plain_csv = csv(reader, "step");
  const json plain_json = as_json(reader);
  const std::locale before = std::locale::global(std::locale(std::locale(), new German));
  EXPECT_EQ(csv(reader, "step"), plain_csv);
  EXPECT_EQ(as_json(reader), plain_json);
  Record record(options_in(folder_));
  Example().add_to(record);
  record.finish(State::done);
  EXPECT_THAT(Reader(record.path()).rows<Step>(), ElementsAre(Example().step));
  std::ostringstream version;
  export_json(reader, version);
  EXPECT_THAT(version.str(), HasSubstr("\"version\": 1,"));
  std::locale::global(before);
}

TEST_F(Export, NamesTheTablesThereAre) {
  const Reader reader = record();
  std::ostringstream out;
  try {
    export_csv(reader, "steps", out);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("no table 'steps'; did you mean 'step'?"));
  }
}

TEST_F(Export, SaysWhenThereIsNoRoom) {
  const Reader reader = record();
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(export_csv(reader, "step", out), base::Error);
  EXPECT_THROW(export_json(reader, out), base::Error);
}

TEST(Utf8, KeepsWhatIsValidAndReplacesTheRestByteByByte) {
  EXPECT_EQ(valid_utf8("aé€😀"), "aé€😀");
  EXPECT_EQ(valid_utf8("a\xff\xfe z"), "a\uFFFD\uFFFD z");
  EXPECT_EQ(valid_utf8("\xc0\x80"), "\uFFFD\uFFFD");                      // an overlong zero
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\uFFFD\uFFFD");                      // cut off in the middle
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond the last code
}

}  // namespace
}  // namespace parajoule::store
