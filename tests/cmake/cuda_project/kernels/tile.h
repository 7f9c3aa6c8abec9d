// SPDX-License-Identifier: Apache-2.0
#pragma once

constexpr float kFactor = 3;
