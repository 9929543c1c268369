// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/Interpreter.h"
#include "trace/KernelLaunch.h"
#include "trace/Tracer.h"

#include <memory>
#include <optional>
#include <set>

namespace pellucid::trace {

/// Answers the evaluator's questions while something is traced: launches and operator calls are
/// recorded, branches over dynamic dims are proved, followed by the hints, or refused in a strict
/// trace.
class TraceHooks : public host::HostHooks {
public:
  explicit TraceHooks(Tracer *t = nullptr) : tracer(t), followed(t ? t->identity : 0) {}

  /// What is asked from here on belongs to `next`, which outlives its use here.
  void follow(Tracer *next);

  bool merges(const graph::Expr &condition) override;
  bool decide(host::Interpreter &interpreter, const graph::Expr &condition,
              const SourceLocation &where) override;
  /// Once for each place: a kernel is emitted for every variant of a launch.
  void warn(Diagnostic warning) override;
  bool assertsLater(host::Interpreter &interpreter, const host::Value &test,
                    const std::function<std::string()> &message) override;
  host::Value launch(host::Interpreter &interpreter, const host::Value &kernel,
                     const host::Value &grid, host::CallArgs args, bool wrapped) override;
  host::Value callOperator(host::Interpreter &interpreter,
                           const std::shared_ptr<host::Operator> &op, host::CallArgs args) override;

  void settle(host::Interpreter &interpreter) override;

  uint64_t emittedKernels() const { return kernels ? kernels->emitted() : 0; }

  /// See KernelTable::stopAt: path and line.
  std::optional<std::pair<std::string, uint32_t>> stopAt;

private:
  /// The branch that the example takes; the program is then for the sizes that take it too.
  bool followExample(host::Interpreter &interpreter, const graph::Expr &condition,
                     const SourceLocation &where);
  std::string rangesText(const graph::Expr &condition) const;

  Tracer *tracer;
  std::set<std::string> warned;
  uint64_t followed; ///< Tracer::identity of the one that `kernels` belong to
  std::unique_ptr<KernelTable> kernels;
};

} // namespace pellucid::trace
