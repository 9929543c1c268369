// SPDX-License-Identifier: Apache-2.0
/// What kernels that order elements have in common.
#pragma once

#include "passes/graph/KernelWriter.h"
#include "passes/graph/LineText.h"

namespace pellucid::passes {

/// Keys are int32 whose order is that of the elements: NaN largest, both zeros equal, negated where
/// the order descends. Beside the element's place in the line they make one int64, in the order in
/// which a stable sort leaves the elements. Elements of 64 bits take two rounds: the low halves
/// first.
enum class KeyHalf : uint8_t { Whole, Low, High };

bool isWide(DataType type);

/// Of what a key and a place are packed into one number: 32 bits of each into an int64, or 16 of
/// each into an int32, which a device compares in one instruction instead of two.
struct Packing {
  bool narrow = false;
  DataType type() const { return narrow ? DataType::Int32 : DataType::Int64; }
  std::string smallest() const {
    return narrow ? "(-2147483647 - 1)" : "(-9223372036854775807 - 1)";
  }
  std::string largest() const { return narrow ? "2147483647" : "9223372036854775807"; }
  std::string placeMask() const { return narrow ? "65535" : "4294967295"; }
};
/// Of elements of 16 bits and less in lines of at most 65536 of them: the narrow one.
Packing packingOf(const LineSpec &spec, const symbolic::SymbolTable &symbols);

/// Statements that make `packed` of the element `x` and of the place that `place` names, both in
/// tiles or both scalars.
void emitPacked(KernelWriter &writer, const LineSpec &spec, KeyHalf half, const std::string &place,
                const Packing &packing = {});

/// The address of an element of a line, `p0 + …`; `repeated` where the line has one address.
std::string elementAddress(KernelWriter &writer, const TextOperand &operand,
                           const std::vector<std::string> &lines, const std::string &position);

/// A line's elements in places that fit beside a key.
void checkLength(KernelWriter &writer, const LineSpec &spec, const symbolic::SymbolTable &symbols);

/// Tiles sorted by a program each, merged until a run is a line.
void appendMergeSort(KernelSequence &sequence, const LineSpec &spec,
                     const symbolic::SymbolTable &symbols);

/// One program per line; scalar code that distributes elements by their digits.
void appendRadixSort(KernelSequence &sequence, const LineSpec &spec,
                     const symbolic::SymbolTable &symbols);
/// One program per line: finds the last key that is chosen, bit by bit, and sorts what is.
void appendSelection(KernelSequence &sequence, const LineSpec &spec,
                     const symbolic::SymbolTable &symbols);

} // namespace pellucid::passes
