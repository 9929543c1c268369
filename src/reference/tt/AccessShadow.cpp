// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/AccessShadow.h"

#include "reference/tt/Interpreter.h"

#include <algorithm>

namespace pellucid::reference {

AccessShadow::AccessShadow(const std::vector<MemoryRegion> &memory) {
  for (const MemoryRegion &region : memory) {
    Byte fresh;
    fresh.initialized = region.initialized;
    regions.emplace_back(region.bytes, fresh);
  }
}

void AccessShadow::beginProgram(uint64_t program) {
  running = static_cast<uint32_t>(program) + 1;
  seen.clear();
}

bool AccessShadow::orderedBefore(uint32_t program, Step step) const {
  auto known = seen.find(program);
  return known != seen.end() && step <= known->second;
}

std::optional<AccessShadow::Finding> AccessShadow::onRead(int region, uint64_t offset,
                                                          unsigned bytes, bool atomic) {
  std::optional<Finding> finding;
  ++now;
  for (unsigned i = 0; i < bytes; ++i) {
    Byte &byte = regions[region][offset + i];
    bool foreign = byte.writer && byte.writer != running;
    if (!byte.initialized)
      finding = Finding{Finding::Uninitialized, 0};
    else if (foreign && !(atomic && byte.atomicWrite) &&
             !orderedBefore(byte.writer, byte.writeStep) && !finding)
      finding = Finding{Finding::ReadOfForeignWrite, uint64_t(byte.writer) - 1};
    byte.reader = running;
    byte.readStep = now;
    byte.atomicRead = atomic;
    // One report per place is enough.
    byte.initialized = true;
  }
  return finding;
}

std::optional<AccessShadow::Finding>
AccessShadow::onWrite(int region, uint64_t offset, unsigned bytes, bool atomic, bool changes) {
  std::optional<Finding> finding;
  ++now;
  for (unsigned i = 0; i < bytes; ++i) {
    Byte &byte = regions[region][offset + i];
    bool read = byte.reader && byte.reader != running && !(atomic && byte.atomicRead) &&
                !orderedBefore(byte.reader, byte.readStep);
    bool written = byte.writer && byte.writer != running && !(atomic && byte.atomicWrite) &&
                   !orderedBefore(byte.writer, byte.writeStep);
    // Writing what is there already can be seen by nobody.
    if (changes && written && !finding)
      finding = Finding{Finding::ForeignWrite, uint64_t(byte.writer) - 1};
    else if (changes && read && !finding)
      finding = Finding{Finding::WriteAfterForeignRead, uint64_t(byte.reader) - 1};
    byte.writer = running;
    byte.writeStep = now;
    byte.atomicWrite = atomic;
    byte.initialized = true;
  }
  return finding;
}

void AccessShadow::summarise(int region, TouchedRegion &touched) const {
  for (const Byte &byte : regions[region]) {
    touched.read.push_back(byte.reader != 0);
    touched.written.push_back(byte.writer != 0);
  }
}

void AccessShadow::onRelease(uint64_t address) { releases[address][running] = now; }

void AccessShadow::onAcquire(uint64_t address) {
  auto released = releases.find(address);
  if (released == releases.end())
    return;
  for (auto [program, step] : released->second)
    seen[program] = std::max(seen[program], step);
}

} // namespace pellucid::reference
