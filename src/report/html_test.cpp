#include "report/html.h"

#include <sstream>

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

TEST(Csv, HasOneColumnForAValueAndOneForItsSpread) {
  const Table table{.id = "t",
                    .title = "T",
                    .columns = {{"what", "what"}, {"energy, kWh", "energy_kwh", true}},
                    .rows = {{{"a, \"b\""}, {"1.50", "0.20"}}, {{"1 †"}, {"-"}}}};
  std::ostringstream out;
  write_csv(table, out);
  EXPECT_EQ(out.str(),
            "what,energy_kwh,energy_kwh_half_width_95\n\"a, \"\"b\"\"\",1.50,0.20\n1,,\n");
}

TEST(Html, EscapesWhatSteers) { EXPECT_EQ(escaped("a<b>&\"\n"), "a&lt;b&gt;&amp;&quot; "); }

}  // namespace
}  // namespace parajoule::report
