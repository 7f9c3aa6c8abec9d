// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/interval_chart.h"
#include "report/sample_events.h"

namespace kagent::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kAttack = "</code><script>alert('1')</script>\" onload=\"x & y\x1b[31m";

CaseRatio one_case(const std::string& name, double ratio) {
  CaseRatio made;
  made.case_name = name;
  made.incumbent_ns = 2e6, made.candidate_ns = 2e6 * ratio;
  made.ratio = ratio, made.low = ratio / 1.01, made.high = ratio * 1.01;
  made.comparison = ratio < 1 ? Comparison::faster : Comparison::slower;
  return made;
}

KernelReport kernel(const std::string& text) {
  Variant variant;
  variant.reference = text;
  Evidence& evidence = variant.evidence;
  evidence.generation = 1;
  evidence.hypothesis = evidence.device = evidence.created = text;
  evidence.tunables = {{text, 64}};
  evidence.against_baseline = evidence.against_incumbent = decision(0.5, 0.49, 0.51);
  evidence.against_baseline.cases = {one_case(text, 0.5), one_case("small", 1.25)};
  KernelReport made;
  made.kernel = made.target = made.architecture = text;
  made.choice.variant = variant;
  made.choice.considered = {{text, true, text}, {"old", false, "stale: header tile.h changed"}};
  made.generations = {variant};
  made.outcomes = {{Outcome::ok, 12}, {Outcome::wrong_result, 3}};
  made.usage[text] = {.input_tokens = 1200, .cached_tokens = 700, .output_tokens = 340, .cost = 0.25, .seconds = 61};
  return made;
}

TEST(HtmlPage, TellsEverythingOfAKernel) {
  const std::string page = html_page("demo", {kernel("softmax")});
  EXPECT_THAT(page, HasSubstr("<title>Kernels of demo</title>"));
  EXPECT_THAT(page, HasSubstr("<h2>softmax (softmax, softmax)</h2>"));
  EXPECT_THAT(page, HasSubstr("<td>softmax</td><td class=\"number\">2.00 ms</td><td class=\"number\">1.00 ms</td>"
                              "<td>2.00x [1.98x, 2.02x]</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">1</td><td><code>softmax</code></td><td>2.00x [1.96x, 2.04x]</td>"));
  EXPECT_THAT(page, HasSubstr("<td><code>softmax=64</code></td>"));
  EXPECT_THAT(page, HasSubstr("<td><code>old</code></td><td>no</td><td>stale: header tile.h changed</td>"));
  EXPECT_THAT(page, HasSubstr("<td>wrong_result</td><td class=\"number\">3</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">1200</td><td class=\"number\">700</td><td class=\"number\">340</td>"
                              "<td class=\"number\">0.25</td><td class=\"number\">61 s</td>"));
}

TEST(HtmlPage, SaysThatTheBaselineIsTakenAndThatThereAreNoKernels) {
  KernelReport plain;
  plain.kernel = "softmax";
  EXPECT_THAT(html_page("demo", {plain}), HasSubstr("<p>A build takes the baseline.</p>"));
  EXPECT_THAT(html_page("demo", {}), HasSubstr("<p>There are no kernels.</p>"));
}

TEST(HtmlPage, EscapesHostileTextEverywhere) {
  const std::string page = html_page(kAttack, {kernel(kAttack)});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\" onload")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot; onload=&quot;x &amp; y"));
}

TEST(HtmlPage, LoadsNothingAndForbidsIt) {
  const std::string page = html_page("demo", {kernel("softmax")});
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
  for (const char* loading : {"src=", "href=", "url(", "@import", "http://", "https://"})
    EXPECT_THAT(page, Not(HasSubstr(loading)));
}

TEST(IntervalSvg, PutsSpeedupsOnALogarithmicAxis) {
  CaseRatio one = one_case("a", 0.5);
  one.low = 0.25, one.high = 1;  // speedups 1 to 4, and 2 between them: the ends and the middle
  EXPECT_EQ(interval_svg(one, {1, 4}),
            "<svg width=\"260\" height=\"18\" role=\"img\" aria-label=\"2.00x [1.00x, 4.00x]\">"
            "<line class=\"one\" x1=\"0.0\" y1=\"0\" x2=\"0.0\" y2=\"18\"/>"
            "<line class=\"faster\" x1=\"0.0\" y1=\"9\" x2=\"260.0\" y2=\"9\"/>"
            "<circle class=\"faster\" cx=\"130.0\" cy=\"9\" r=\"4\"/></svg>");
}

TEST(IntervalSvg, FitsEveryCaseAndDrawsNoImpossibleNumbers) {
  const SpeedupRange range = range_of({one_case("a", 0.1), one_case("b", 4)});
  EXPECT_LT(range.least, 0.25);
  EXPECT_GT(range.most, 10);
  CaseRatio broken = one_case("c", 1);
  broken.low = std::nan(""), broken.high = INFINITY;
  EXPECT_EQ(range_of({broken}).most, SpeedupRange{}.most);
  EXPECT_THAT(interval_svg(broken, range), Not(HasSubstr("circle")));
  EXPECT_THAT(interval_svg(broken, range), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace kagent::report
