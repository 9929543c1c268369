// RUN: pellucid-opt %s --tt-lift-control-flow --canonicalize | FileCheck %s

// CHECK-LABEL: tt.func public @two_exits
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<i32>, %[[N:.*]]: i32)
tt.func public @two_exits(%p: !tt.ptr<i32>, %n: i32) {
  // CHECK-NOT: {{[^s]cf\.}}
  // CHECK: scf.if
  // CHECK: tt.store %[[P]], %[[N]]
  // CHECK: tt.return
  %zero = arith.constant 0 : i32
  %0 = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %0, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.store %p, %n : !tt.ptr<i32>
  tt.return
}

// Three ways out nest; no index_switch is needed.
// CHECK-LABEL: tt.func public @three_exits
tt.func public @three_exits(%p: !tt.ptr<i32>, %n: i32) -> i32 {
  // CHECK-NOT: {{[^s]cf\.}}
  // CHECK-NOT: scf.index_switch
  // CHECK: tt.return
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %0, ^bb1, ^bb2
^bb1:
  tt.return %zero : i32
^bb2:
  tt.store %p, %n : !tt.ptr<i32>
  %1 = arith.cmpi eq, %n, %one : i32
  cf.cond_br %1, ^bb3, ^bb4
^bb3:
  tt.return %one : i32
^bb4:
  tt.store %p, %one : !tt.ptr<i32>
  tt.return %n : i32
}
