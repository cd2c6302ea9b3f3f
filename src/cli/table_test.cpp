#include "cli/table.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

TEST(Table, AlignsByWhatATerminalShows) {
  Table table({{.heading = "name"}, {.heading = "Wh", .align = Table::Align::right}});
  table.add({"é", "1"});
  table.add({"日本", "12.5"});
  EXPECT_EQ(table.text(Look::plain),
            "name    Wh\n"
            "──────────\n"
            "é        1\n"
            "日本  12.5\n");
}

TEST(Table, HasNoSpacesAtTheEndOfLines) {
  Table table({{}, {}});
  table.add({"a", ""});
  table.add({"long", "b"});
  EXPECT_EQ(table.text(Look::plain), "a\nlong  b\n");
}

TEST(Table, RulesCarryTitles) {
  Table table({{}, {}});
  table.add({"abcdef", "ghijkl"});
  table.rule("energy");
  EXPECT_EQ(table.text(Look::plain), "abcdef  ghijkl\nenergy ───────\n");
}

TEST(Table, ShowsControlCharactersOnlyToATerminalAndOnlyItsOwn) {
  Table table({{.heading = "name"}});
  table.add({"\x1b[31mred\a"});
  const std::string plain = table.text(Look::plain);
  EXPECT_TRUE(std::ranges::none_of(plain, [](char c) { return (c >= 0 && c < ' ' && c != '\n'); }));
  EXPECT_NE(table.text(Look::terminal).find("\x1b[1mname\x1b[0m"), std::string::npos);
  EXPECT_EQ(table.text(Look::terminal).find("\x1b[31m"), std::string::npos);
}

TEST(Text, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(shown("a\xff\xfe z"), "a\uFFFD\uFFFD z");
  EXPECT_EQ(shown("€\u202Eabc"), "€\uFFFDabc");  // text turned around
}

TEST(Text, IsCutToAWidthThatCountsSigns) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 5), "abcd…");
  EXPECT_EQ(cut("日本語", 5), "日本…");
  EXPECT_EQ(cut("日本語", 4), "日…");
  for (std::size_t columns = 0; columns < 8; ++columns)
    EXPECT_LE(columns_of(cut("日a本b語", columns)), columns);
}

TEST(Text, IsWrappedAtSpacesAndNeverWider) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefghij kl", 4), (std::vector<std::string>{"abcd", "efgh", "ij", "kl"}));
  EXPECT_EQ(wrapped("日本語", 4), (std::vector<std::string>{"日本", "語"}));
  EXPECT_EQ(wrapped("", 4), (std::vector<std::string>{""}));
}

TEST(Text, CombiningAccentsTakeNoColumn) { EXPECT_EQ(columns_of("e\u0301"), 1u); }

}  // namespace
}  // namespace parajoule::cli
