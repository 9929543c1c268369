// SPDX-License-Identifier: Apache-2.0
/// Complex numbers of archives, models and scripts: `_Complex` of torch/aten_complex.py, which has
/// the tensor of their pairs. No tensor of a program is complex.
#pragma once

#include "archive/Archive.h"
#include "host/Interpreter.h"
#include "trace/ArchiveValues.h"

namespace pellucid::trace {

class TensorObject;

bool isComplex(host::Interpreter &interpreter, const host::Value &value);
/// The numbers whose pairs a tensor holds.
host::Value complexOf(host::Interpreter &interpreter, const host::Value &pairs);
/// The tensor of the pairs; the value itself where it is not complex.
host::Value pairsOf(host::Interpreter &interpreter, const host::Value &value);
/// Whether an input of the node is complex, or its result by the dtype it is given.
bool takesComplex(host::Interpreter &interpreter, const archive::Node &node,
                  const ArchiveScope &values);
/// The call of torch's `name` where one of its arguments is complex, lists of them too; nullopt
/// where none is, and where there is no such operator on them and `isRequired` does not ask for
/// one.
std::optional<host::Value> calledOnComplex(host::Interpreter &interpreter, const std::string &name,
                                           const host::CallArgs &args, bool isRequired);
/// Null where no complex numbers come from the operator or go into it.
const host::Value *complexOperator(host::Interpreter &interpreter, const std::string &target);

} // namespace pellucid::trace
