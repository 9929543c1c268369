// SPDX-License-Identifier: Apache-2.0
// Runs passes on IR text, for lit tests.
#include "tt/Tt.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int pellucidOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pellucid::tt::registerTtDialects(registry);
  mlir::registerTransformsPasses();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Pellucid pass driver\n", registry));
}
