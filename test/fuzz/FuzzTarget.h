// SPDX-License-Identifier: Apache-2.0
/// What every fuzz target of this folder is: a function over bytes that must return, whatever they
/// are. FuzzMain.cpp hands it libFuzzer's inputs, or the files that are named.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pellucid::fuzz {

/// A crash, a leak, an exception or a run of more than some seconds is a finding.
int runOne(std::span<const uint8_t> data);

inline std::string textOf(std::span<const uint8_t> data) {
  return {reinterpret_cast<const char *>(data.data()), data.size()};
}

} // namespace pellucid::fuzz
