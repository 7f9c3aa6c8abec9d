// SPDX-License-Identifier: Apache-2.0
int scale_passes();

int ops() {
  return scale_passes();
}
