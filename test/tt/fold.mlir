// RUN: pellucid-opt %s --canonicalize --split-input-file | FileCheck %s

// Splats sink through everything that only moves elements.
// CHECK-LABEL: @splat_of_constant
tt.func @splat_of_constant() -> tensor<4x8xi32> {
  // CHECK: %[[C:.*]] = arith.constant dense<7> : tensor<4x8xi32>
  // CHECK-NEXT: tt.return %[[C]]
  %c = arith.constant 7 : i32
  %0 = tt.splat %c : i32 -> tensor<8xi32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %2 = tt.broadcast %1 : tensor<1x8xi32> -> tensor<4x8xi32>
  tt.return %2 : tensor<4x8xi32>
}

// CHECK-LABEL: @splat_of_scalar
// CHECK-SAME: (%[[X:.*]]: f32)
tt.func @splat_of_scalar(%x: f32) -> tensor<32xf32> {
  // CHECK-NEXT: %[[S:.*]] = tt.splat %[[X]] : f32 -> tensor<32xf32>
  // CHECK-NEXT: tt.return %[[S]]
  %0 = tt.splat %x : f32 -> tensor<8xf32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %2 = tt.broadcast %1 : tensor<1x8xf32> -> tensor<4x8xf32>
  %3 = tt.reshape %2 : tensor<4x8xf32> -> tensor<32xf32>
  tt.return %3 : tensor<32xf32>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
tt.func @reshape_of_reshape(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: tt.return %[[X]]
  %0 = tt.reshape %x : tensor<8x4xf32> -> tensor<32xf32>
  %1 = tt.reshape %0 : tensor<32xf32> -> tensor<8x4xf32>
  tt.return %1 : tensor<8x4xf32>
}

// A reordering somebody else looks at must stay one reordering.
// CHECK-LABEL: @reordered_with_two_users
tt.func @reordered_with_two_users(%x: tensor<8x4xf32>) -> (tensor<32xf32>, tensor<4x8xf32>) {
  // CHECK: %[[R:.*]] = tt.reshape %{{.*}} allow_reorder
  // CHECK: tt.reshape %[[R]] : tensor<32xf32> -> tensor<4x8xf32>
  %0 = tt.reshape %x allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
  %1 = tt.reshape %0 : tensor<32xf32> -> tensor<4x8xf32>
  tt.return %0, %1 : tensor<32xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @pointers
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
tt.func @pointers(%p: !tt.ptr<f32>, %n: i32) -> (!tt.ptr<f32>, tensor<8x!tt.ptr<f32>>) {
  // CHECK-NEXT: %[[M:.*]] = tt.addptr %[[P]], %[[N]]
  // CHECK-NEXT: %[[S:.*]] = tt.splat %[[M]]
  // CHECK-NEXT: tt.return %[[P]], %[[S]]
  %zero = arith.constant 0 : i32
  %0 = tt.addptr %p, %zero : !tt.ptr<f32>, i32
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %2 = tt.splat %n : i32 -> tensor<8xi32>
  %3 = tt.addptr %1, %2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.return %0, %3 : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>
}

// CHECK-LABEL: @masks
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[O:.*]]: f32)
tt.func @masks(%p: !tt.ptr<f32>, %o: f32) -> (f32, f32) {
  // CHECK-NEXT: %[[V:.*]] = tt.load %[[P]] : !tt.ptr<f32>
  // CHECK-NEXT: tt.store %[[P]], %[[V]] : !tt.ptr<f32>
  // CHECK-NEXT: tt.return %[[V]], %[[O]]
  %true = arith.constant true
  %false = arith.constant false
  %0 = tt.load %p, %true, %o : !tt.ptr<f32>
  %1 = tt.load %p, %false, %o : !tt.ptr<f32>
  tt.store %p, %0, %true : !tt.ptr<f32>
  tt.store %p, %0, %false : !tt.ptr<f32>
  tt.return %0, %1 : f32, f32
}

// CHECK-LABEL: @trans
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>)
tt.func @trans(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: tt.return %[[X]]
  %0 = tt.trans %x {order = array<i32: 0, 1>} : tensor<8x4xf32> -> tensor<8x4xf32>
  tt.return %0 : tensor<8x4xf32>
}
