// SPDX-License-Identifier: Apache-2.0
/// Calls of the evaluator's built-ins: two bytes name the built-in, the rest its arguments.
#include "FuzzTarget.h"

#include "host/HostileCalls.h"

using namespace pellucid;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  // Built-ins change the values that they are called with: after some calls, new ones.
  static std::unique_ptr<host::HostileCalls> calls;
  static unsigned count = 0;
  if (!calls || ++count % 500 == 0)
    calls = std::make_unique<host::HostileCalls>();
  auto choose = [&](size_t n) -> size_t {
    if (data.empty() || n == 0)
      return 0;
    size_t value = data[0];
    data = data.subspan(1);
    return value % n;
  };
  const auto &all = calls->callables();
  size_t which = choose(256) * 256;
  which += choose(256);
  host::Value callee = all[which % all.size()].second;
  calls->call(callee, choose);
  return 0;
}
