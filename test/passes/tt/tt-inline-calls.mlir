// RUN: pellucid-opt %s --tt-lift-control-flow --tt-inline-calls --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Calls inside of combining regions are inlined, too, and helpers disappear.
// CHECK-LABEL: tt.func public @sum
// CHECK-NOT: tt.call
// CHECK: arith.addf
// CHECK-NOT: tt.func private
tt.func public @sum(%x: tensor<8xf32>, %p: !tt.ptr<f32>) {
  %0 = tt.call @reduce_it(%x) : (tensor<8xf32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}
tt.func private @reduce_it(%x: tensor<8xf32>) -> f32 attributes {noinline = false} {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = tt.call @combine(%a, %b) : (f32, f32) -> f32
    tt.reduce.return %1 : f32
  }) : (tensor<8xf32>) -> f32
  tt.return %0 : f32
^bb1:  // no predecessors
  %2 = ub.poison : f32
  tt.return %2 : f32
}
tt.func private @combine(%a: f32, %b: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  tt.return %0 : f32
}

// -----

// A helper with an early return, called inside a loop.
// CHECK-LABEL: tt.func public @early_return
// CHECK-NOT: {{[^s]cf\.}}
// CHECK: scf.for
// CHECK: arith.select
tt.func public @early_return(%p: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %zero) -> i32 : i32 {
    %0 = tt.call @clip(%a, %i) : (i32, i32) -> i32
    scf.yield %0 : i32
  }
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}
tt.func private @clip(%a: i32, %i: i32) -> i32 {
  %0 = arith.cmpi slt, %a, %i : i32
  cf.cond_br %0, ^bb1, ^bb2
^bb1:
  tt.return %i : i32
^bb2:
  tt.return %a : i32
}

// -----

tt.func public @recursive(%n: i32) {
  // expected-error @+1 {{'tt.call' op calls 'recursive' recursively, which a kernel cannot}}
  tt.call @recursive(%n) : (i32) -> ()
  tt.return
}

// -----

tt.func private @elsewhere(i32)
tt.func public @external(%n: i32) {
  // expected-error @+1 {{'tt.call' op calls 'elsewhere', which has no body}}
  tt.call @elsewhere(%n) : (i32) -> ()
  tt.return
}
