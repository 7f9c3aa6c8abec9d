// SPDX-License-Identifier: Apache-2.0
#include "report/decision_table.h"

#include <fmt/format.h>

#include "report/text_table.h"
#include "report/wording.h"

namespace kagent::report {

std::string decision_table(const Decision& decision, const std::string& incumbent, const std::string& candidate) {
  const std::vector<Column> columns{{"case"},
                                    {incumbent, Alignment::right},
                                    {candidate, Alignment::right},
                                    {fmt::format("speedup [{:g} % interval]", 100 * decision.confidence)},
                                    {"verdict"}};
  std::vector<std::vector<std::string>> rows;
  for (const CaseRatio& one : decision.cases) {
    std::vector<std::string> times = times_text({one.incumbent_ns, one.candidate_ns});
    rows.push_back({one.case_name, times[0], times[1], speedup_text(one.ratio, one.low, one.high),
                    std::string(name(one.comparison))});
  }
  rows.push_back({"all", "", "", speedup_text(decision.ratio, decision.low, decision.high),
                  std::string(name(decision.comparison))});
  return text_table(columns, rows);
}

}  // namespace kagent::report
