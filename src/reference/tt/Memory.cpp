// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/Memory.h"

#include <cstring>

namespace pellucid::reference {

Memory::Memory(const InterpretOptions &options)
    : regions(options.regions), checks(options.checkBounds) {
  if (options.sanitize && options.checkBounds)
    shadows.emplace(regions);
}

bool Memory::holds(int region, uint64_t address, unsigned bytes) const {
  uint64_t base = reinterpret_cast<uint64_t>(regions[region].base);
  return address >= base && bytes <= regions[region].bytes &&
         address - base <= regions[region].bytes - bytes;
}

int32_t Memory::addOrigin(std::string name, uint64_t base) {
  Origin origin{std::move(name), base, -1};
  for (size_t region = 0; region < regions.size(); ++region)
    if (holds(static_cast<int>(region), base, 1))
      origin.region = static_cast<int>(region);
  origins.push_back(std::move(origin));
  return static_cast<int32_t>(origins.size()) - 1;
}

int Memory::regionOf(const Access &access) const {
  if (access.origin >= 0) {
    int region = origins[access.origin].region;
    return region >= 0 && holds(region, access.address, access.bytes) ? region : -1;
  }
  for (size_t region = 0; region < regions.size(); ++region)
    if (holds(static_cast<int>(region), access.address, access.bytes))
      return static_cast<int>(region);
  return -1;
}

bool Memory::allows(const Access &access) const { return !checks || regionOf(access) >= 0; }

std::string Memory::describe(const Access &access) const {
  char address[32];
  snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(access.address));
  if (access.origin < 0)
    return std::string("address ") + address + ", which is in no array of the launch";
  const Origin &origin = origins[access.origin];
  int64_t distance = static_cast<int64_t>(access.address - origin.base);
  int64_t size = static_cast<int64_t>(access.bytes);
  std::string place = distance % size == 0 ? "element " + std::to_string(distance / size)
                                           : "byte " + std::to_string(distance);
  place += " of '" + origin.name + "'";
  if (origin.region < 0)
    return place + ", which points to no array of the launch";
  const MemoryRegion &region = regions[origin.region];
  uint64_t behind = region.bytes - (origin.base - reinterpret_cast<uint64_t>(region.base));
  return place + ", which has " + std::to_string(behind / access.bytes) + " elements";
}

std::string Memory::pointerText(const Element &pointer, unsigned bytes) const {
  if (pointer.origin < 0) {
    char address[32];
    snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(pointer.bits));
    return address;
  }
  const Origin &origin = origins[pointer.origin];
  int64_t distance = static_cast<int64_t>(pointer.bits - origin.base) / int64_t(bytes);
  return origin.name + (distance < 0 ? " - " : " + ") + std::to_string(std::abs(distance));
}

uint64_t Memory::read(const Access &access) const {
  uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void *>(access.address), access.bytes);
  return bits;
}

void Memory::write(const Access &access, uint64_t bits) {
  std::memcpy(reinterpret_cast<void *>(access.address), &bits, access.bytes);
}

} // namespace pellucid::reference
