// SPDX-License-Identifier: Apache-2.0
/// How a node of an archive is replayed, by its target.
#pragma once

#include "archive/Archive.h"
#include "graph/ControlFlow.h"
#include "host/Interpreter.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

enum class ArchiveRoute : uint8_t {
  Registered,
  Composite,
  InPlace,
  InPlaceComposite,
  Number,
  User,
  Complex, ///< makes complex numbers
  Own
};

/// Nullopt: nothing is known of the target.
std::optional<ArchiveRoute> routeOf(const Tracer &tracer, host::Interpreter &interpreter,
                                    const std::string &target);
/// Every operator of the archive that has none, in one error.
void refuseMissing(const archive::Archive &archive, const Tracer &tracer,
                   host::Interpreter &interpreter);

/// `aten.add.Tensor` of `aten.add_.Tensor`; empty where it writes nothing.
std::string functionalTarget(const std::string &target);
/// `copy_`, `fill_` and `zero_`, which write what they are given.
bool isWrite(const std::string &target);
/// `t_`, `squeeze_` and their kin, after which the tensor has another shape.
bool turnsInPlace(const std::string &target);
/// `mylib::op` of `mylib.op.default`.
std::string userName(const std::string &target);
/// x.item()
bool isItem(const std::string &target);
/// What holds by the ranges, or is said of sizes that values decide.
bool isAssertion(const std::string &target);
/// The control flow of exported programs, and what it is here.
std::optional<graph::ControlKind> controlKindOf(const std::string &target);

} // namespace pellucid::trace
