// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/json_object.h"
#include "values/candidate.h"
#include "values/device.h"
#include "values/launch.h"

// The parts that variant.json and the record of a trial have in common. Reading throws Flaw.
namespace kagent::store {

OrderedJson write(const std::optional<Launch>& launch);  // null if there is none
OrderedJson write(const std::vector<DeviceUsage>& kernels);
OrderedJson write(const Usage& usage);

std::optional<Launch> read_launch(Object& object, const std::string& key);
std::vector<DeviceUsage> read_device_usage(Object& object, const std::string& key);
Usage read_usage(Object object);

}  // namespace kagent::store
