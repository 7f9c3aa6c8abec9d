// SPDX-License-Identifier: Apache-2.0
#include "report/interval_chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/wording.h"

namespace kagent::report {
namespace {

constexpr double kWidth = 260, kHeight = 18, kMiddle = kHeight / 2;
constexpr double kMargin = 1.05;

bool drawable(const CaseRatio& one) {
  const auto positive = [](double number) { return std::isfinite(number) && number > 1e-9 && number < 1e9; };
  return positive(one.ratio) && positive(one.low) && positive(one.high);
}

double place(double speedup, const SpeedupRange& range) {
  const double share = std::log(speedup / range.least) / std::log(range.most / range.least);
  return kWidth * std::clamp(share, 0.0, 1.0);
}

}  // namespace

SpeedupRange range_of(const std::vector<CaseRatio>& cases) {
  SpeedupRange range;
  for (const CaseRatio& one : cases) {
    if (!drawable(one)) continue;
    range.least = std::min(range.least, 1 / one.high / kMargin);
    range.most = std::max(range.most, 1 / one.low * kMargin);
  }
  return range;
}

std::string interval_svg(const CaseRatio& one, const SpeedupRange& range) {
  std::string svg = fmt::format("<svg width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" aria-label=\"{}\">", kWidth,
                                kHeight, speedup_text(one.ratio, one.low, one.high));
  svg += fmt::format("<line class=\"one\" x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1:.0f}\"/>", place(1, range),
                     kHeight);
  if (drawable(one)) {
    svg += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.0f}\" x2=\"{:.1f}\" y2=\"{:.0f}\"/>",
                       name(one.comparison), place(1 / one.high, range), kMiddle, place(1 / one.low, range), kMiddle);
    svg += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"4\"/>", name(one.comparison),
                       place(1 / one.ratio, range), kMiddle);
  }
  return svg + "</svg>";
}

}  // namespace kagent::report
