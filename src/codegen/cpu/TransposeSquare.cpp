// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/TransposeSquare.h"

namespace pellucid::codegen {

using llvm::Value;

// In log2(lanes) steps, each exchanging the off-diagonal halves of squares.
void transposeSquare(CodeBuilder &b, llvm::MutableArrayRef<Value *> rows) {
  int64_t lanes = rows.size();
  assert(lanes == 1 || laneCount(rows[0]) == lanes);
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    llvm::SmallVector<int> upper, lower;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool far = lane & distance;
      upper.push_back(int(far ? lanes + lane - distance : lane));
      lower.push_back(int(far ? lanes + lane : lane + distance));
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & distance)
        continue;
      Value *x = rows[i], *y = rows[i + distance];
      rows[i] = b.CreateShuffleVector(x, y, upper);
      rows[i + distance] = b.CreateShuffleVector(x, y, lower);
    }
  }
}

} // namespace pellucid::codegen
