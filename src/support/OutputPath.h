// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <sys/stat.h>

namespace pellucid {

/// Files are written beside their name and renamed, which would replace a device, a pipe or a
/// folder of that name: why `path` must not be written, or empty.
inline std::string whyNotWritable(const std::string &path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode))
    return {};
  return S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file";
}

} // namespace pellucid
