// SPDX-License-Identifier: Apache-2.0
/// Methods of tensors that have a rule of their own.
#pragma once

#include "trace/TensorCalls.h"

namespace pellucid::trace {

struct NamedMethod {
  const char *name;
  /// with the call's arguments as they are …
  host::Value (*method)(TensorObject &, host::Interpreter &, const host::CallArgs &) = nullptr;
  const char *signature = nullptr;
  /// … or as bound to it
  host::Value (*bound)(TensorObject &, host::Interpreter &, std::vector<host::Value> &) = nullptr;
};

/// A row with what is made of it once: each is asked for with every call of a method.
struct KnownMethod {
  const NamedMethod *row;
  std::shared_ptr<const host::Signature> signature;
  host::Value function; ///< takes the tensor before the arguments
};

/// The first row of that name; null where there is none.
const KnownMethod *methodNamed(std::string_view name);
/// Of the operators that are written with others: those whose list may be written out, too.
void gatherSizes(std::string_view method, host::CallArgs &args);

/// As PyTorch's classes of old are called: "torch.cuda.FloatTensor".
std::string nameOfClass(const TensorObject &tensor);
bool saysCuda(const TensorObject &tensor);
host::Value exprValue(const graph::Expr &expr);
/// torch.Size.
host::Value shapeValue(const graph::TensorType &type);

} // namespace pellucid::trace
