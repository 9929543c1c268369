// SPDX-License-Identifier: Apache-2.0
/// What module constructors and files draw: the functions of torch and of tensors that give random
/// numbers there.
#pragma once

#include "host/Interpreter.h"
#include "trace/Tracer.h"

namespace pellucid::trace {

class TensorObject;

/// The tensor that torch.NAME gives; nullopt where `name` draws nothing. For constructors and
/// files; a program has operators for it.
std::optional<host::Value> drawOnHost(Tracer &tracer, host::Interpreter &interpreter,
                                      const std::string &name, const host::CallArgs &args);
/// The same for what x.NAME_() writes, by the name of the operator that gives its contents.
std::optional<host::Value> fillOnHost(TensorObject &self, host::Interpreter &interpreter,
                                      const std::string &name, const host::CallArgs &args);
/// A new tensor of torch.rand's or torch.randn's sizes.
host::Value drawSized(Tracer &tracer, host::Interpreter &interpreter, HostDraw::Kind kind,
                      std::vector<symbolic::Expr> sizes, DataType type,
                      const host::Value &generator);

/// A tensor like `of`, each element drawn from the distribution that `of` has the number of there:
/// torch._standard_gamma, torch.poisson, and for `wide` the gammas in float64. Of a script.
host::Value drawEach(TensorObject &of, host::Interpreter &interpreter, HostDraw::Kind kind,
                     bool wide, const host::Value &generator);

/// torch.bernoulli on a CUDA device, whose order is its own; None elsewhere.
host::Value drawEvents(TensorObject &probabilities, host::Interpreter &interpreter,
                       const host::Value &generator);

} // namespace pellucid::trace
