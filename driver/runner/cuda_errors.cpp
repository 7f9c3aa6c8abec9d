// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_errors.h"

namespace kagent::runner {

Outcome outcome_of_device_error(int code) {
  switch (code) {
    case 2:  // out of memory
      return Outcome::memory_exceeded;
    case 9:    // cudaErrorInvalidConfiguration: too many threads, or blocks beyond the grid's limits
    case 701:  // too many registers, or too much shared memory
    case 720:  // cooperative launch too large
    case 912:  // invalid cluster size
      return Outcome::limits_exceeded;
    case 700:
      return Outcome::illegal_access;
    case 716:
      return Outcome::misaligned_access;
    case 702:  // the display's watchdog
      return Outcome::timed_out;
    case 214:  // the memory's own error correction gave up
    case 220:
    case 226:  // contained by the hardware
    case 710:  // assert
    case 714:  // stack
    case 715:  // illegal instruction
    case 717:  // address space
    case 718:  // program counter
    case 719:  // unspecified launch failure
    case 721:  // tensor memory
      return Outcome::device_fault;
    default:  // refused before it ran
      return Outcome::launch_failed;
  }
}

bool speaks_of_lost_device(int code) {
  switch (code) {
    case 3:    // not initialised
    case 46:   // device unavailable
    case 100:  // no device
    case 101:
    case 214:
    case 220:
    case 226:
    case 304:  // the operating system
    case 802:  // system not ready
    case 803:  // libraries of different drivers
    case 804:
    case 999:  // unknown
    case -1:   // no driver's library
      return true;
    default:
      return false;
  }
}

std::string device_error_fix(int code) {
  switch (code) {
    case -1:
      return "install the NVIDIA driver, or add the folder of libcuda.so.1 to LD_LIBRARY_PATH";
    case 2:
      return "end other programs on the GPU (nvidia-smi lists them)";
    case 34:
      return "take the toolkit's stubs folder out of LD_LIBRARY_PATH";
    case 35:  // cudaErrorInsufficientDriver
    case 36:
    case 222:
      return "install an NVIDIA driver that supports the CUDA toolkit which kagent was built with, or an older toolkit";
    case 46:
      return "the GPU is held exclusively by another program, or in need of a reset: see 'nvidia-smi -q' and 'dmesg'";
    case 100:
    case 101:
      return "check that /dev/nvidia* exist and may be opened by this user, and CUDA_VISIBLE_DEVICES";
    case 802:
    case 803:
    case 804:
      return "the driver and its libraries do not fit together: restart the machine, or reinstall the driver";
    default:
      return "look for 'Xid' in 'dmesg', and reset the GPU ('nvidia-smi --gpu-reset') or restart the machine";
  }
}

}  // namespace kagent::runner
