// SPDX-License-Identifier: Apache-2.0
#include "counted/CountedWork.h"

static uint64_t blocks = 0;

// Called at every basic block of code compiled with -fsanitize-coverage=trace-pc.
extern "C" void __sanitizer_cov_trace_pc() { ++blocks; }

uint64_t pellucid::test::blocksRun() { return blocks; }
