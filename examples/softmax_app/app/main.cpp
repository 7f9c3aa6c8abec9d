// SPDX-License-Identifier: Apache-2.0
// Turns the scores of a language model into probabilities and says how long that took. The kernel is called like any
// other function: nothing here knows whether kagent chose its source.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "softmax.h"

namespace {

struct Shape {
  const char* name;
  int rows, cols;
};

std::vector<float> random_scores(const Shape& shape) {
  std::mt19937 random(1);
  std::normal_distribution<float> scores(0.0f, 3.0f);
  std::vector<float> x(std::size_t(shape.rows) * std::size_t(shape.cols));
  for (float& value : x) value = scores(random);
  return x;
}

double fastest_call_us(const Shape& shape, const std::vector<float>& x, std::vector<float>& y) {
  double fastest = 0;
  for (int call = 0; call < 30; ++call) {
    const auto start = std::chrono::steady_clock::now();
    softmax_forward(x.data(), y.data(), shape.rows, shape.cols);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    fastest = call == 0 ? time.count() : std::min(fastest, time.count());
  }
  return fastest;
}

double largest_error_of_a_row_sum(const Shape& shape, const std::vector<float>& y) {
  double largest = 0;
  for (auto row = y.begin(); row != y.end(); row += shape.cols) {
    double sum = 0;
    for (auto value = row; value != row + shape.cols; ++value) sum += *value;
    largest = std::max(largest, std::abs(sum - 1));
  }
  return largest;
}

}  // namespace

int main() {
  const Shape shapes[] = {{"attention, short", 512, 128}, {"attention, long", 32, 2048}, {"vocabulary", 16, 50257}};
  bool sums_are_one = true;
  for (const Shape& shape : shapes) {
    const std::vector<float> x = random_scores(shape);
    std::vector<float> y(x.size());
    const double time = fastest_call_us(shape, x, y);
    const double error = largest_error_of_a_row_sum(shape, y);
    sums_are_one = sums_are_one && error < 1e-4;
    std::printf("%-17s %4d x %5d  %9.1f us a call, rows sum to 1 within %.0e\n", shape.name, shape.rows, shape.cols,
                time, error);
  }
  return sums_are_one ? 0 : 1;
}
