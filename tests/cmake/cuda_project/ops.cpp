// SPDX-License-Identifier: Apache-2.0
int scale_block();

int ops() {
  return scale_block();
}
