// SPDX-License-Identifier: Apache-2.0
/// The text of a kernel in the kernel dialect.
#include "FuzzTarget.h"

#include "support/Diagnostics.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

using namespace pellucid;

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  tt::loadTtDialects(context);
  Diagnostics diagnostics;
  if (auto module = tt::parseTtir(textOf(data), &context, diagnostics))
    (void)tt::printTtir(*module);
  return 0;
}
