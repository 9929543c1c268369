// SPDX-License-Identifier: Apache-2.0
/// Each struct's fields in the order of the bytes. One list serves the writer and the reader, so
/// they cannot differ.
#pragma once

#include "package/Package.h"

namespace pellucid::package {

/// `archive(field…)` handles each field; `Archive` is the writer (const structs) or the reader.
template <typename Archive> struct ManifestFields {
  Archive &archive;

  void fields(auto &s, const Symbol *) {
    archive(s.name, s.min, s.max, s.divisor, s.source, s.input, s.dim);
  }
  void fields(auto &s, const Input *) {
    archive(s.name, s.dtype, s.shape, s.contiguous, s.strides, s.mutated, s.alignment);
  }
  void fields(auto &s, const Guard *) { archive(s.condition, s.text); }
  void fields(auto &s, const Output *) { archive(s.name, s.dtype, s.shape, s.aliasOfInput); }
  void fields(auto &s, const Weight *) {
    archive(s.name, s.dtype, s.shape, s.record, s.offset, s.bytes, s.crc32);
  }
  void fields(auto &s, const Buffer *) { archive(s.name, s.dtype, s.shape, s.bytes, s.slot); }
  void fields(auto &s, const KernelParameter *) {
    archive(s.name, s.pointer, s.dtype, s.offset, s.bytes, s.divisor, s.read, s.written);
  }
  void fields(auto &s, const Message *) {
    archive(s.kind, s.text, s.file, s.line, s.column, s.hex);
  }
  void fields(auto &s, const Target *) { archive(s.kind, s.cpu, s.sm); }
  void fields(auto &s, const TensorMap::Dim *) {
    archive(s.size, s.stride, s.box, s.sizeParameter, s.strideParameter);
  }
  void fields(auto &s, const TensorMap *) {
    archive(s.parameter, s.elementBytes, s.swizzleBytes, s.roundsToTf32, s.dims);
  }
  void fields(auto &s, const Executable *) {
    archive(s.target, s.format, s.record, s.entry, s.entryOffset, s.scratchBytes, s.sharedBytes,
            s.numWarps, s.numCtas, s.dependentLaunch, s.tensorMaps, s.messages);
  }
  void fields(auto &s, const FoldedConstant *) { archive(s.name, s.value); }
  void fields(auto &s, const Kernel *) {
    archive(s.name, s.parameters, s.constants, s.ordered, s.numerics, s.sourceFile, s.sourceLine,
            s.executables);
  }
  void fields(auto &s, const Place *) { archive(s.kind, s.index, s.byteOffset); }
  void fields(auto &s, const PointerArgument *) { archive(s.place); }
  void fields(auto &s, const ValueArgument *) { archive(s.value); }
  void fields(auto &s, const ImmediateArgument *) { archive(s.bits); }
  void fields(auto &s, const LaunchVariant *) {
    archive(s.guard, s.kernel, s.grid[0], s.grid[1], s.grid[2], s.arguments);
  }
  void fields(auto &s, const Launch *) { archive(s.label, s.variants, s.bytes, s.flops); }
  void fields(auto &s, const Copy *) { archive(s.destination, s.source, s.bytes); }
  void fields(auto &s, const Fill *) { archive(s.destination, s.pattern, s.patternBytes, s.bytes); }
  void fields(auto &s, const Branch *) {
    archive(s.label, s.condition, s.predicate, s.whenTrue, s.whenFalse);
  }
  void fields(auto &s, const Carry *) { archive(s.first, s.second, s.bytes); }
  void fields(auto &s, const Slice *) { archive(s.first, s.step, s.bytes); }
  void fields(auto &s, const Loop *) {
    archive(s.label, s.turns, s.predicate, s.conditionSteps, s.bodySteps, s.carries, s.slices);
  }
  void fields(auto &s, const ReadSize *) { archive(s.symbol, s.from, s.most, s.text); }
  void fields(auto &s, const CheckSizes *) { archive(s.condition, s.text); }
  void fields(auto &s, const Program *) { archive(s.device, s.buffers, s.slots, s.steps); }
  void fields(auto &s, const Manifest *) {
    archive(s.producer, s.name, s.symbols, s.inputs, s.inputsMayOverlap, s.guards, s.outputs,
            s.weights, s.kernels, s.programs, s.state);
  }
};

} // namespace pellucid::package
