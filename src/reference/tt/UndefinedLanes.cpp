// SPDX-License-Identifier: Apache-2.0
#include "reference/tt/UndefinedLanes.h"

#include "reference/tt/FloatFormat.h"
#include "reference/tt/Machine.h"

#include "tt/Tt.h"
#include "tt/TtOps.h"

#include <algorithm>

using namespace mlir;

namespace pellucid::reference {

uint64_t LaneProbe::laneOf(Operation &load, Type elementType) {
  loads.insert(&load);
  if (fill == Fill::Zero || (only && only != &load))
    return 0;
  // Of both signs, so that neither a maximum nor a minimum hides it; small enough for a loop over
  // as many turns.
  constexpr double number = 12347;
  bool isNegative = fill == Fill::Negative;
  if (isa<FloatType>(elementType))
    return encodeFloat(isNegative ? -number : number, formatOf(elementType));
  if (!isa<IntegerType>(elementType))
    return 0; // an address
  unsigned width = widthOf(elementType);
  int64_t integer = width == 1 ? 1 : width == 8 ? 101 : static_cast<int64_t>(number);
  return wrap(static_cast<uint64_t>(isNegative && width > 1 ? -integer : integer), width);
}

void LaneProbe::onWrite(Operation &op, const Access &access, uint64_t bits) {
  if (!expected) {
    writes.push_back({&op, access, bits});
    return;
  }
  const Write *same = next < expected->size() ? &(*expected)[next] : nullptr;
  if (!same || same->op != &op || same->access.address != access.address || same->bits != bits)
    throw Differs{&op, access};
  ++next;
}

void LaneProbe::finish() const {
  if (expected && next < expected->size())
    throw Differs{(*expected)[next].op, (*expected)[next].access};
}

bool mayLeaveLanesUndefined(ModuleOp module) {
  return module
      ->walk([](tt::LoadOp load) {
        bool isBlock = tt::isBlockPointer(load.getPtr().getType());
        return load.getMask() && !load.getOther() && !isBlock ? WalkResult::interrupt()
                                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

//===--- repetitions -----------------------------------------------------------------------===//

RegionContents::RegionContents(std::span<const MemoryRegion> given) : regions(given) {
  for (const MemoryRegion &region : regions) {
    auto *bytes = static_cast<const unsigned char *>(region.base);
    saved.emplace_back(bytes, bytes + region.bytes);
  }
}

void RegionContents::restore() const {
  for (size_t i = 0; i < regions.size(); ++i)
    std::copy(saved[i].begin(), saved[i].end(), static_cast<unsigned char *>(regions[i].base));
}

namespace {

/// Repeats a launch that had no errors, with other numbers in the lanes that its masked loads left
/// undefined.
class LaneCheck {
public:
  LaneCheck(ModuleOp module, Operation &kernel, std::span<const Argument> arguments,
            const InterpretOptions &given, const RegionContents &before, const LaneProbe &first,
            uint64_t steps)
      : module(module), kernel(kernel), arguments(arguments), options(given), before(before),
        first(first) {
    options.sanitize = false;
    options.touched = nullptr;
    options.maxErrors = 1;
    // A loop over an undefined number of turns may be long.
    options.stepLimit = 4 * steps + 1000000;
  }

  /// Whether nothing depends on those lanes; reports the first thing that does.
  bool run(Diagnostics &diagnostics) {
    for (LaneProbe::Fill fill : {LaneProbe::Fill::Large, LaneProbe::Fill::Negative}) {
      std::optional<Diagnostic> found = repeat(fill, nullptr);
      if (!found)
        continue;
      Diagnostic &error = diagnostics.error(found->location, found->message);
      Diagnostics none;
      Machine places(module, options, none, nullptr);
      for (Operation *load : first.loads)
        if (first.loads.size() == 1 || repeat(fill, load))
          error.note(places.locate(*load),
                     "its mask leaves lanes without a value; give them one: other=0");
      return false;
    }
    return true;
  }

private:
  std::optional<Diagnostic> repeat(LaneProbe::Fill fill, Operation *only) {
    const std::string why = " lanes that a masked load without 'other' leaves undefined";
    before.restore();
    Diagnostics own;
    std::string ignored;
    Machine machine(module, options, own, &ignored);
    LaneProbe probe(first.writes, fill, only);
    machine.probe = &probe;
    auto whatElse = [&]() -> std::optional<Diagnostic> {
      for (const Diagnostic &diagnostic : own.all())
        if (diagnostic.severity == Severity::Error)
          return Diagnostic(Severity::Error, diagnostic.location,
                            "depends on" + why + "; were they other than 0: " + diagnostic.message);
      return std::nullopt;
    };
    try {
      machine.run(kernel, arguments);
      probe.finish();
    } catch (const LaneProbe::Differs &write) {
      std::string place = machine.memory.describe(write.access);
      return Diagnostic(Severity::Error, machine.locate(*write.op),
                        "writes to " + place.substr(0, place.find(", which")) + " what depends on" +
                            why + ", in " + machine.programText());
    } catch (const Stopped &) {
    }
    return whatElse();
  }

  ModuleOp module;
  Operation &kernel;
  std::span<const Argument> arguments;
  InterpretOptions options;
  const RegionContents &before;
  const LaneProbe &first;
};

} // namespace

bool checkUndefinedLanes(ModuleOp module, Operation &kernel, std::span<const Argument> arguments,
                         const InterpretOptions &options, const RegionContents &before,
                         const LaneProbe &first, uint64_t steps, Diagnostics &diagnostics) {
  return LaneCheck(module, kernel, arguments, options, before, first, steps).run(diagnostics);
}

} // namespace pellucid::reference
