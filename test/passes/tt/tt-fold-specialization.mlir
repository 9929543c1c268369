// RUN: pellucid-opt %s --tt-fold-specialization --canonicalize | FileCheck %s

// CHECK-LABEL: @specialized
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<i32>, %[[N:[a-z0-9]*]]: i32 {tt.divisibility = 16 : i32}, %{{.*}}: i32 {pellucid.constant = 1 : i32})
tt.func public @specialized(%p: !tt.ptr<i32>, %n: i32 {tt.divisibility = 16 : i32}, %s: i32 {pellucid.constant = 1 : i32}) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 32 : i32
  // CHECK: tt.store %[[P]], %[[ZERO]]
  // CHECK: tt.store %[[P]], %[[ZERO]]
  // CHECK: %[[REST:.*]] = arith.remsi %[[N]], %[[THREE]]
  // CHECK: tt.store %[[P]], %[[REST]]
  // CHECK: tt.store %[[P]], %[[N]]
  %c8 = arith.constant 8 : i32
  %c15 = arith.constant 15 : i32
  %c32 = arith.constant 32 : i32
  %0 = arith.remsi %n, %c8 : i32
  tt.store %p, %0 : !tt.ptr<i32>
  %1 = arith.andi %n, %c15 : i32
  tt.store %p, %1 : !tt.ptr<i32>
  %2 = arith.remsi %n, %c32 : i32
  tt.store %p, %2 : !tt.ptr<i32>
  %3 = arith.muli %n, %s : i32
  tt.store %p, %3 : !tt.ptr<i32>
  tt.return
}
