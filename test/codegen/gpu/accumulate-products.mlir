// RUN: pellucid-opt %s --ttgpu-choose-products --ttgpu-accumulate-products | FileCheck %s

// What is added to may be computed behind the product.
// CHECK-LABEL: @added_to_a_scaled_sum
// CHECK-SAME:  (%[[A:[a-z0-9]+]]: tensor<16x16xf16>, %[[B:[a-z0-9]+]]: tensor<16x16xf16>, %[[ACC:[a-z0-9]+]]: tensor<16x16xf32>
// CHECK:       %[[SCALED:.*]] = arith.mulf %[[ACC]]
// CHECK:       %[[D:.*]] = tt.dot %[[A]], %[[B]], %[[SCALED]]
// CHECK-NOT:   arith.addf
// CHECK:       tt.return %[[D]]
tt.func public @added_to_a_scaled_sum(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %acc: tensor<16x16xf32>, %s: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %scaled = arith.mulf %acc, %s : tensor<16x16xf32>
  %sum = arith.addf %scaled, %d : tensor<16x16xf32>
  tt.return %sum : tensor<16x16xf32>
}

// CHECK-LABEL: @integers
// CHECK:       tt.dot %{{.*}}, %{{.*}}, %arg2
// CHECK-NOT:   arith.addi
tt.func public @integers(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %acc: tensor<16x16xi32>) -> tensor<16x16xi32> {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %d = tt.dot %a, %b, %zero : tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xi32>
  %sum = arith.addi %d, %acc : tensor<16x16xi32>
  tt.return %sum : tensor<16x16xi32>
}

// A product that is read elsewhere, or that starts from something, stays.
// CHECK-LABEL: @read_twice
// CHECK:       arith.addf
tt.func public @read_twice(%a: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %sum = arith.addf %acc, %d : tensor<16x16xf32>
  tt.return %sum, %d : tensor<16x16xf32>, tensor<16x16xf32>
}

// Products without matrix units keep their order: it is documented.
// CHECK-LABEL: @without_a_unit
// CHECK:       arith.addf
tt.func public @without_a_unit(%a: tensor<16x16xf32>, %acc: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %sum = arith.addf %acc, %d : tensor<16x16xf32>
  tt.return %sum : tensor<16x16xf32>
}

// Rounded and widened again at once: the units' own f32 sums are taken as they are, and added to.
// CHECK-LABEL: @rounded_and_widened
// CHECK:       tt.dot {{.*}}, %arg1 {{.*}} -> tensor<16x16xf32>
// CHECK-NOT:   arith.extf
// CHECK:       tt.return
tt.func public @rounded_and_widened(%a: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf16>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  %wide = arith.extf %d : tensor<16x16xf16> to tensor<16x16xf32>
  %sum = arith.addf %acc, %wide : tensor<16x16xf32>
  tt.return %sum : tensor<16x16xf32>
}

// What others read as f16 keeps its rounding.
// CHECK-LABEL: @read_as_rounded
// CHECK:       arith.extf
tt.func public @read_as_rounded(%a: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf16>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf16>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf16>
  %wide = arith.extf %d : tensor<16x16xf16> to tensor<16x16xf32>
  %sum = arith.addf %acc, %wide : tensor<16x16xf32>
  tt.return %sum, %d : tensor<16x16xf32>, tensor<16x16xf16>
}
