// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

int ops();

int main() { std::printf("%d passes\n", ops()); }
