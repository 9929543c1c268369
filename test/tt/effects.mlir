// RUN: pellucid-opt %s --cse --loop-invariant-code-motion --canonicalize | FileCheck %s

// Nothing may be loaded that the program would not have loaded.
// CHECK-LABEL: @load_stays_in_branch
tt.func @load_stays_in_branch(%p: !tt.ptr<f32>, %c: i1, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: scf.if
    scf.if %c {
      // CHECK: tt.load
      %0 = tt.load %p : !tt.ptr<f32>
      tt.store %p, %0 : !tt.ptr<f32>
    }
  }
  tt.return
}

// Two loads of one address are one, unless something may have been stored between them.
// CHECK-LABEL: @loads_merge
tt.func @loads_merge(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  // CHECK: tt.load
  // CHECK-NOT: tt.load
  // CHECK: tt.store
  // CHECK: tt.load
  // CHECK: tt.store
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p : !tt.ptr<f32>
  %2 = arith.addf %0, %1 : f32
  tt.store %q, %2 : !tt.ptr<f32>
  %3 = tt.load %p : !tt.ptr<f32>
  tt.store %q, %3 : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: @volatile_loads_stay
tt.func @volatile_loads_stay(%p: !tt.ptr<f32>) {
  // CHECK-COUNT-2: tt.load {{.*}}isVolatile
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  %1 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: @pure_operations_move
tt.func @pure_operations_move(%p: !tt.ptr<f32>, %x: tensor<8xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: tt.reduce
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one : i32 {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<8xf32>) -> f32
    tt.store %p, %0 : !tt.ptr<f32>
  }
  tt.return
}

// Assertions, printing and impure code stay although nobody uses what they give.
// CHECK-LABEL: @effects_stay
tt.func @effects_stay(%c: i1, %x: tensor<8xi32>) {
  // CHECK: tt.assert
  // CHECK: tt.print
  // CHECK: tt.elementwise_inline_asm "impure"
  // CHECK-NOT: tt.elementwise_inline_asm "pure"
  tt.assert %c, "no" : i1
  tt.print "x" {hex = false, isSigned = array<i32>}
  %0 = tt.elementwise_inline_asm "impure" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %x : tensor<8xi32> -> tensor<8xi32>
  %1 = tt.elementwise_inline_asm "pure" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}
