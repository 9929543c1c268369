// RUN: pellucid-opt %s --tt-rewrite-block-pointers --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @masked_row
// CHECK-SAME: (%[[X:.*]]: !tt.ptr<f32>, %[[SIZE:.*]]: i64, %[[AT:.*]]: i32)
tt.func public @masked_row(%x: !tt.ptr<f32>, %size: i64, %at: i32) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : tensor<32xi64>
  // CHECK-DAG: %[[PAD:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
  // CHECK-DAG: %[[AT64:.*]] = arith.extsi %[[AT]]
  // CHECK-DAG: %[[START:.*]] = tt.addptr %[[X]], %[[AT64]]
  // CHECK-DAG: %[[RANGE:.*]] = tt.make_range
  // CHECK-DAG: %[[LANES:.*]] = arith.extsi %[[RANGE]]
  // CHECK-DAG: %[[BASES:.*]] = tt.splat %[[START]]
  // CHECK-DAG: %[[PTRS:.*]] = tt.addptr %[[BASES]], %[[LANES]]
  // CHECK-DAG: %[[SPLAT:.*]] = tt.splat %[[AT64]]
  // CHECK-DAG: %[[INDEX:.*]] = arith.addi %[[SPLAT]], %[[LANES]]
  // CHECK-DAG: %[[ABOVE:.*]] = arith.cmpi sge, %[[INDEX]], %[[ZERO]]
  // CHECK-DAG: %[[SIZES:.*]] = tt.splat %[[SIZE]]
  // CHECK-DAG: %[[BELOW:.*]] = arith.cmpi slt, %[[INDEX]], %[[SIZES]]
  // CHECK-DAG: %[[MASK:.*]] = arith.andi %[[ABOVE]], %[[BELOW]]
  // CHECK: %[[V:.*]] = tt.load %[[PTRS]], %[[MASK]], %[[PAD]] cacheModifier = cg : tensor<32x!tt.ptr<f32>>
  // CHECK: tt.store %[[PTRS]], %[[V]] : tensor<32x!tt.ptr<f32>>
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%size], [%one], [%at] {order = array<i32: 0>} : <tensor<32xf32>>
  %v = tt.load %p cacheModifier = cg {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<32xf32>>
  tt.store %p, %v : !tt.ptr<tensor<32xf32>>
  tt.return
}

// Only dims named in boundaryCheck are masked; without padding there is no other.
// CHECK-LABEL: @one_checked_dim
tt.func public @one_checked_dim(%x: !tt.ptr<f32>, %size: i64, %at: i32) {
  // CHECK: %[[MASK:.*]] = tt.broadcast %{{.*}} : tensor<1x32xi1> -> tensor<16x32xi1>
  // CHECK: tt.load %{{.*}}, %[[MASK]] : tensor<16x32x!tt.ptr<f32>>
  %p = tt.make_tensor_ptr %x, [%size, %size], [%size, %size], [%at, %at] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
  %v = tt.load %p {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<16x32xf32>>
  tt.store %p, %v : !tt.ptr<tensor<16x32xf32>>
  tt.return
}

// A loop carries the offset that moves and nothing else.
// CHECK-LABEL: @advanced_in_for
tt.func public @advanced_in_for(%x: !tt.ptr<f32>, %size: i64, %n: i32) {
  // CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (i64)
  // CHECK: %[[NEXT:.*]] = arith.addi %[[O]], %{{.*}} : i64
  // CHECK: scf.yield %[[NEXT]] : i64
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%size, %size], [%size, %one], [%zero, %zero] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
  %r = scf.for %i = %zero to %n step %step iter_args(%q = %p) -> (!tt.ptr<tensor<16x32xf32>>) : i32 {
    %v = tt.load %q : !tt.ptr<tensor<16x32xf32>>
    tt.store %q, %v : !tt.ptr<tensor<16x32xf32>>
    %next = tt.advance %q, [%zero, %step] : <tensor<16x32xf32>>
    scf.yield %next : !tt.ptr<tensor<16x32xf32>>
  }
  tt.return
}

// Through scf.if, scf.while and arith.select.
// CHECK-LABEL: @all_control_flow
// CHECK-NOT: !tt.ptr<tensor
tt.func public @all_control_flow(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %size: i64, %n: i32, %c: i1) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i32
  %p = tt.make_tensor_ptr %x, [%size], [%one], [%zero] {order = array<i32: 0>} : <tensor<32xf32>>
  %q = tt.make_tensor_ptr %y, [%size], [%one], [%n] {order = array<i32: 0>} : <tensor<32xf32>>
  %s = arith.select %c, %p, %q : !tt.ptr<tensor<32xf32>>
  %i = scf.if %c -> !tt.ptr<tensor<32xf32>> {
    %a = tt.advance %s, [%n] : <tensor<32xf32>>
    scf.yield %a : !tt.ptr<tensor<32xf32>>
  } else {
    scf.yield %q : !tt.ptr<tensor<32xf32>>
  }
  %w = scf.while (%a = %i) : (!tt.ptr<tensor<32xf32>>) -> !tt.ptr<tensor<32xf32>> {
    %v = tt.load %a : !tt.ptr<tensor<32xf32>>
    tt.store %a, %v : !tt.ptr<tensor<32xf32>>
    scf.condition(%c) %a : !tt.ptr<tensor<32xf32>>
  } do {
  ^bb0(%a: !tt.ptr<tensor<32xf32>>):
    %b = tt.advance %a, [%n] : <tensor<32xf32>>
    scf.yield %b : !tt.ptr<tensor<32xf32>>
  }
  %v = tt.load %w {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<32xf32>>
  tt.store %w, %v : !tt.ptr<tensor<32xf32>>
  tt.return
}
