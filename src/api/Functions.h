// SPDX-License-Identifier: Apache-2.0
/// Functions of C++ with a derivative, as the session's evaluator calls them.
#pragma once

#include "api/Session.h"

namespace pellucid::autograd {

/// While it lives, `context` stands for the evaluator's `value`; None: there is none.
class BoundContext {
public:
  BoundContext(AutogradContext &context, host::Value value);
  ~BoundContext();
  BoundContext(const BoundContext &) = delete;
  BoundContext &operator=(const BoundContext &) = delete;

private:
  AutogradContext &context;
};

/// (ctx, *gradients) -> tuple of gradients.
host::Value backwardFunction(api::Session &session, std::shared_ptr<AutogradContext> context,
                             detail::Backward backward);

} // namespace pellucid::autograd
