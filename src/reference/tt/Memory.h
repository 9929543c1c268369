// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/tt/AccessShadow.h"
#include "reference/tt/Interpreter.h"
#include "reference/tt/TileValue.h"

#include <optional>

namespace pellucid::reference {

enum class AccessKind : uint8_t { Load, Store, Atomic };

struct Access {
  AccessKind kind;
  uint64_t address;
  unsigned bytes;
  int32_t origin;
};

/// The memory a kernel may touch, by the argument its pointers come from.
class Memory {
public:
  explicit Memory(const InterpretOptions &options);

  /// Makes kernel argument `name` known and returns its origin.
  int32_t addOrigin(std::string name, uint64_t base);

  /// Whether the access stays within the region of its origin.
  bool allows(const Access &access) const;
  /// "x + 12" for a pointer to elements of so many bytes that was made from an argument.
  std::string pointerText(const Element &pointer, unsigned bytes) const;
  /// "element 12 of 'x', which has 8 elements".
  std::string describe(const Access &access) const;

  uint64_t read(const Access &access) const;
  void write(const Access &access, uint64_t bits);

  /// Null without `sanitize`.
  AccessShadow *shadow() { return shadows ? &*shadows : nullptr; }
  /// Index of the region that holds the access, -1 if none.
  int regionOf(const Access &access) const;
  const MemoryRegion &region(int index) const { return regions[index]; }

private:
  struct Origin {
    std::string name;
    uint64_t base;
    int region;
  };
  bool holds(int region, uint64_t address, unsigned bytes) const;

  std::vector<MemoryRegion> regions;
  std::vector<Origin> origins;
  bool checks;
  std::optional<AccessShadow> shadows;
};

} // namespace pellucid::reference
