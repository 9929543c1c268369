// SPDX-License-Identifier: Apache-2.0
#include "runtime/AvailableMemory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace pellucid::runtime {

namespace {

/// A small file of /proc or /sys, or "".
std::string contentsOf(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return {};
  std::string text(8192, 0);
  size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < text.size();) {
    got = read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      size += static_cast<size_t>(got);
  }
  close(fd);
  text.resize(size);
  return text;
}

/// The number behind `key` at the start of a line; nullopt for "max" and what is no number.
std::optional<uint64_t> numberAfter(const std::string &text, std::string_view key) {
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size()) + 1) {
    if (text.compare(at, key.size(), key) != 0)
      continue;
    char *end = nullptr;
    uint64_t value = std::strtoull(text.c_str() + at + key.size(), &end, 10);
    return end == text.c_str() + at + key.size() ? std::nullopt : std::optional(value);
  }
  return std::nullopt;
}

uint64_t machineHas() {
  std::string info = contentsOf("/proc/meminfo");
  std::optional<uint64_t> available = numberAfter(info, "MemAvailable:");
  if (!available)
    return UINT64_MAX;
  return (*available + numberAfter(info, "SwapFree:").value_or(0)) << 10;
}

/// What one group allows beyond what it holds; pages of files can be dropped.
uint64_t groupHas(const std::string &folder, const char *limitFile, const char *usageFile,
                  std::string_view fileKey) {
  std::optional<uint64_t> limit = numberAfter(contentsOf(folder + limitFile), "");
  if (!limit)
    return UINT64_MAX;
  uint64_t used = numberAfter(contentsOf(folder + usageFile), "").value_or(0);
  uint64_t files = numberAfter(contentsOf(folder + "/memory.stat"), fileKey).value_or(0);
  used -= std::min(used, files);
  return *limit - std::min(*limit, used);
}

/// The group of `line`s like "0::/user.slice/x" and every group around it.
uint64_t groupsHave() {
  std::string groups = contentsOf("/proc/self/cgroup");
  uint64_t least = UINT64_MAX;
  for (size_t at = 0; at < groups.size();) {
    size_t end = std::min(groups.find('\n', at), groups.size());
    std::string line = groups.substr(at, end - at);
    at = end + 1;
    bool isNew = line.starts_with("0::");
    size_t colon = line.find(":memory:");
    if (!isNew && colon == std::string::npos)
      continue;
    std::string path = isNew ? line.substr(3) : line.substr(colon + 8);
    for (;;) {
      std::string tail = path == "/" ? "" : path;
      least =
          std::min(least, isNew ? groupHas("/sys/fs/cgroup" + tail, "/memory.max",
                                           "/memory.current", "inactive_file ")
                                : groupHas("/sys/fs/cgroup/memory" + tail, "/memory.limit_in_bytes",
                                           "/memory.usage_in_bytes", "total_inactive_file "));
      if (tail.empty())
        break;
      path.resize(path.rfind('/'));
      if (path.empty())
        path = "/";
    }
  }
  return least;
}

} // namespace

uint64_t availableMemory() { return std::min(machineHas(), groupsHave()); }

uint64_t residentMemory() {
  // Pages: size, resident, shared (of files and of memory that processes share).
  unsigned long long size = 0, resident = 0, shared = 0;
  std::string text = contentsOf("/proc/self/statm");
  char *at = text.data();
  size = std::strtoull(at, &at, 10);
  resident = std::strtoull(at, &at, 10);
  shared = std::strtoull(at, &at, 10);
  (void)size;
  return (resident - std::min(resident, shared)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace pellucid::runtime
