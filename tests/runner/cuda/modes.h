// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the planted candidates do with x, y, total, n.
enum Mode : int {
  kScale,  // y = 2 x, total += n
  kIllegalAccess,
  kMisaligned,
  kTrap,
  kAssert,
  kLoop,
  kTooMuchShared,
  kTooManyThreads,
  kOutOfMemory,
  kWritesBeyond,  // y[n]
  kWritesBefore,  // y[-1]
  kReadsBeyond,   // x[n]
  kChangesInput,
  kWritesNothing,
  kOtherStream,    // as kScale, but late and in a stream of its own
  kDefaultStream,  // as kScale, in the default stream
  kWaits,          // as kScale, and waits for the device
  kAllocates,      // as kScale, with memory of its own
  kTakesTime,      // as kScale, and n nanoseconds
  kCrashes,
  kAborts,
  kExits,
  kConnects,
  kForks,
};
