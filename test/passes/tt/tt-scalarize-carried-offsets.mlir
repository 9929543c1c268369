// RUN: pellucid-opt %s --tt-scalarize-carried-offsets --canonicalize | FileCheck %s

// CHECK-LABEL: @moving_pointers
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
tt.func public @moving_pointers(%x: !tt.ptr<f32>, %n: i32) {
  // CHECK: %[[R:.*]] = tt.make_range
  // CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (i64)
  // CHECK: %[[B:.*]] = tt.addptr %[[X]], %[[O]] : !tt.ptr<f32>, i64
  // CHECK: %[[S:.*]] = tt.splat %[[B]]
  // CHECK: %[[P:.*]] = tt.addptr %[[S]], %[[R]]
  // CHECK: tt.load %[[P]]
  // CHECK: %[[W:.*]] = arith.extsi %[[N]] : i32 to i64
  // CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %[[W]] : i64
  // CHECK: scf.yield %[[NEXT]]
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %p = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %step = tt.splat %n : i32 -> tensor<64xi32>
  %q = scf.for %i = %zero to %n step %one iter_args(%a = %p) -> (tensor<64x!tt.ptr<f32>>) : i32 {
    %v = tt.load %a : tensor<64x!tt.ptr<f32>>
    tt.store %a, %v : tensor<64x!tt.ptr<f32>>
    %b = tt.addptr %a, %step : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %b : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// Integers wrap in their own width, so the scalar keeps it. Two steps add up; a step may change from turn to turn.
// CHECK-LABEL: @moving_indices
tt.func public @moving_indices(%y: tensor<64x!tt.ptr<i32>>, %n: i32) {
  // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (i32)
  // CHECK: arith.addi %{{.*}} : tensor<64xi32>
  // CHECK-DAG: arith.addi %[[O]]
  // CHECK: scf.yield %{{.*}} : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant dense<4> : tensor<64xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %q = scf.for %i = %zero to %n step %one iter_args(%a = %r) -> (tensor<64xi32>) : i32 {
    tt.store %y, %a : tensor<64x!tt.ptr<i32>>
    %step = tt.splat %i : i32 -> tensor<64xi32>
    %b = arith.addi %step, %a : tensor<64xi32>
    %c = arith.addi %b, %four : tensor<64xi32>
    scf.yield %c : tensor<64xi32>
  }
  tt.store %y, %q : tensor<64x!tt.ptr<i32>>
  tt.return
}

// A step that differs between lanes stays a tile.
// CHECK-LABEL: @lanes_move_apart
tt.func public @lanes_move_apart(%y: tensor<64x!tt.ptr<i32>>, %n: i32) {
  // CHECK: scf.for {{.*}} -> (tensor<64xi32>)
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %q = scf.for %i = %zero to %n step %one iter_args(%a = %r) -> (tensor<64xi32>) : i32 {
    tt.store %y, %a : tensor<64x!tt.ptr<i32>>
    %b = arith.addi %a, %r : tensor<64xi32>
    scf.yield %b : tensor<64xi32>
  }
  tt.return
}
