// RUN: pellucid-opt %s --tt-rewrite-descriptors --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @load_store
// CHECK-NOT: tensordesc
// CHECK: tt.load %[[P:.*]], %[[M:.*]], %{{.*}} : tensor<16x32x!tt.ptr<f32>>
// CHECK: tt.store %[[P]], %{{.*}}, %[[M]] : tensor<16x32x!tt.ptr<f32>>
// CHECK: tt.atomic_rmw fadd, relaxed, gpu, %[[P]], %{{.*}}, %[[M]]
tt.func public @load_store(%x: !tt.ptr<f32>, %n: i32, %s: i64) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%s, %one] : <f32>, <tensor<16x32xf32>>
  %v = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<16x32xf32>> -> tensor<16x32xf32>
  tt.descriptor_store %d[%n, %n], %v : !tt.tensordesc<tensor<16x32xf32>>, tensor<16x32xf32>
  tt.descriptor_reduce add, %d[%n, %n], %v : !tt.tensordesc<tensor<16x32xf32>>, tensor<16x32xf32>
  tt.return
}

// -----

// CHECK-LABEL: @pads_with_nan
// CHECK: %[[NAN:.*]] = arith.constant dense<0x7E00> : tensor<32xf16>
// CHECK: tt.load %{{.*}}, %{{.*}}, %[[NAN]]
tt.func public @pads_with_nan(%x: !tt.ptr<f16>, %y: tensor<32x!tt.ptr<f16>>, %n: i32) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n], [%one] {padding = 2 : i32} : <f16>, <tensor<32xf16>>
  %v = tt.descriptor_load %d[%n] : !tt.tensordesc<tensor<32xf16>> -> tensor<32xf16>
  tt.store %y, %v : tensor<32x!tt.ptr<f16>>
  tt.return
}

// -----

// Signedness is the descriptor's.
// CHECK-LABEL: @unsigned_maximum
// CHECK: tt.atomic_rmw umax
tt.func public @unsigned_maximum(%x: !tt.ptr<i32>, %v: tensor<8xi32>, %n: i32) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n], [%one] : <i32>, <tensor<8xui32>>
  tt.descriptor_reduce max, %d[%n], %v : !tt.tensordesc<tensor<8xui32>>, tensor<8xi32>
  tt.return
}

// -----

// CHECK-LABEL: @rows
// CHECK: tt.load %[[P:.*]], %[[M:.*]], %{{.*}} : tensor<8x32x!tt.ptr<f32>>
// CHECK: tt.store %[[P]], %{{.*}}, %[[M]] : tensor<8x32x!tt.ptr<f32>>
tt.func public @rows(%x: !tt.ptr<f32>, %n: i32, %s: i64, %which: tensor<8xi32>) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %x, [%n, %n], [%s, %one] : <f32>, <tensor<1x32xf32>>
  %v = tt.descriptor_gather %d[%which, %n] : (!tt.tensordesc<tensor<1x32xf32>>, tensor<8xi32>, i32) -> tensor<8x32xf32>
  tt.descriptor_scatter %d[%which, %n], %v : !tt.tensordesc<tensor<1x32xf32>>, tensor<8xi32>, i32, tensor<8x32xf32>
  tt.return
}

// -----

// A descriptor made by the host arrives as its parts.
// CHECK-LABEL: @host_descriptor
// CHECK-SAME: (%[[N:[a-z0-9]+]]: i32,
// CHECK-SAME: !tt.ptr<f32> {pellucid.descriptor = {argument = 1 : i32, part = "base"}},
// CHECK-SAME: i64 {pellucid.descriptor = {argument = 1 : i32, dim = 0 : i32, part = "size"}},
// CHECK-SAME: i64 {pellucid.descriptor = {argument = 1 : i32, dim = 0 : i32, part = "stride"}},
// CHECK-SAME: i1 {pellucid.descriptor = {argument = 1 : i32, part = "pads_with_nan"}},
// CHECK-SAME: !tt.ptr<f32>)
tt.func public @host_descriptor(%n: i32, %d: !tt.tensordesc<tensor<32xf32>>, %y: !tt.ptr<f32>) {
  %v = tt.descriptor_load %d[%n] : !tt.tensordesc<tensor<32xf32>> -> tensor<32xf32>
  tt.descriptor_store %d[%n], %v : !tt.tensordesc<tensor<32xf32>>, tensor<32xf32>
  tt.return
}

// -----

tt.func public @float_maximum(%d: !tt.tensordesc<tensor<8xf32>>, %v: tensor<8xf32>, %n: i32) {
  // expected-error @+2 {{'tt.descriptor_reduce' op 'max' on 'f32' is not supported outside of TMA hardware}}
  // expected-error @+1 {{failed to legalize operation 'tt.descriptor_reduce'}}
  tt.descriptor_reduce max, %d[%n], %v : !tt.tensordesc<tensor<8xf32>>, tensor<8xf32>
  tt.return
}
