// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runner/cuda_runtime/device_slots.h"

namespace kagent::runner::cuda {

// The device code of style kernel that kagent-cuda-runner holds: one module at a time. A program of launcher style has
// none, and all of this does nothing there.

// One part of it, which lies in the area; the last part loads it. Fails with bad_module.
void load_module(const protocol::Module& part, const protocol::Constant* constants);
void unload_module();
// How the slot's calls launch it. Fails with a device error where the device or the kernel cannot have that.
void set_geometry(Slot& slot, const protocol::Geometry& geometry);
// Puts the slot's inputs that are __constant__ where the kernel finds them, in the stream.
void copy_constants(const Slot& slot);
// Into the stream; CUDA's error number.
int launch_kernel(const Slot& slot);

}  // namespace kagent::runner::cuda
