// RUN: pellucid-opt %s --tt-decompose-scaled-dots | FileCheck %s

// fp4 pairs along K are taken apart and interleaved; a scale is repeated over its group of 32.
// CHECK-LABEL: @fp4_times_fp8
// CHECK-SAME: (%[[A:.*]]: tensor<16x32xi8>, %[[AS:.*]]: tensor<16x2xi8>, %[[B:.*]]: tensor<64x16xf8E4M3FN>, %[[BS:.*]]: tensor<16x2xi8>
tt.func public @fp4_times_fp8(%a: tensor<16x32xi8>, %as: tensor<16x2xi8>, %b: tensor<64x16xf8E4M3FN>,
                              %bs: tensor<16x2xi8>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[WIDE:.*]] = arith.extui %[[A]]
  // CHECK: arith.shrui %[[WIDE]]
  // CHECK: %[[PAIRS:.*]] = tt.join {{.*}} -> tensor<16x32x2xf32>
  // CHECK: %[[LHS:.*]] = tt.reshape %[[PAIRS]] : tensor<16x32x2xf32> -> tensor<16x64xf32>
  // CHECK: %[[RHS:.*]] = tt.fp_to_fp %[[B]]
  // CHECK: arith.extui %[[AS]]
  // CHECK: tt.broadcast {{.*}} -> tensor<16x2x32xf32>
  // CHECK: %[[LEFT:.*]] = arith.mulf %[[LHS]]
  // CHECK: arith.extui %[[BS]]
  // CHECK: tt.trans {{.*}} : tensor<16x64xf32> -> tensor<64x16xf32>
  // CHECK: %[[RIGHT:.*]] = arith.mulf %[[RHS]]
  // CHECK: tt.dot %[[LEFT]], %[[RIGHT]]
  // CHECK-NOT: tt.dot_scaled
  %d = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e2m1 rhs = e4m3 {fastMath = false}
      : tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf8E4M3FN>, tensor<16x2xi8> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// Pairs along the other dimension: rows of A.
// CHECK-LABEL: @pairs_along_rows
tt.func public @pairs_along_rows(%a: tensor<8x64xi8>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: tt.trans {{.*}} : tensor<8x64x2xf32> -> tensor<8x2x64xf32>
  // CHECK: tt.reshape {{.*}} : tensor<8x2x64xf32> -> tensor<16x64xf32>
  // CHECK: arith.extf {{.*}} : tensor<64x16xbf16> to tensor<64x16xf32>
  // CHECK: tt.dot
  %d = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false, lhs_k_pack = false}
      : tensor<8x64xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}
