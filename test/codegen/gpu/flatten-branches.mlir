// RUN: pellucid-opt %s --ttgpu-choose-products="warps=4" --ttgpu-flatten-branches | FileCheck %s

// Both sides of a branch store to the same places: one store of what the condition chooses. The other
// branch's store is under its condition.
// CHECK-LABEL: @rows
// CHECK:       scf.for
// CHECK-NOT:     scf.if
// CHECK:         %[[MASK:.*]] = arith.andi %[[FIRST:.*]], %{{.*}} : i1
// CHECK:         tt.store %{{.*}}, %{{.*}}, %[[MASK]]
// CHECK:         %[[EMPTY:.*]] = tt.splat %{{.*}} : i1 -> tensor<64xi1>
// CHECK:         %[[VALUE:.*]] = arith.select %[[EMPTY]], %{{.*}}, %{{.*}} : tensor<64xi1>, tensor<64xf32>
// CHECK:         tt.store %{{.*}}, %[[VALUE]] :
// CHECK-NOT:     tt.store
tt.func public @rows(%out: !tt.ptr<f32>, %n: i32, %first: i1, %some: i1, %x: tensor<64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %p = tt.addptr %out, %i : !tt.ptr<f32>, i32
    scf.if %first {
      tt.store %p, %none, %some : !tt.ptr<f32>
    }
    %empty = arith.cmpi eq, %i, %c1 : i32
    scf.if %empty {
      %row = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %q = tt.addptr %row, %lanes : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      tt.store %q, %zero : tensor<64x!tt.ptr<f32>>
    } else {
      %row = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
      %q = tt.addptr %row, %lanes : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      tt.store %q, %x : tensor<64x!tt.ptr<f32>>
    }
  }
  tt.return
}

// Sides that store to different places: each under its own condition.
// CHECK-LABEL: @different_places
// CHECK:         %[[C:.*]] = arith.cmpi eq
// CHECK:         tt.store %{{.*}}, %{{.*}}, %[[C]]
// CHECK:         %[[NOT:.*]] = arith.xori %[[C]], %{{.*}}
// CHECK:         tt.store %{{.*}}, %{{.*}}, %[[NOT]]
// CHECK-NOT:     scf.if
// CHECK:         tt.return
tt.func public @different_places(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %c = arith.cmpi eq, %i, %c1 : i32
    scf.if %c {
      tt.store %a, %v : !tt.ptr<f32>
    } else {
      tt.store %b, %v : !tt.ptr<f32>
    }
  }
  tt.return
}

// What a side loads it may have no right to, a large tile is work, and outside of a loop there is
// nothing to unroll.
// CHECK-LABEL: @kept
// CHECK-COUNT-3: scf.if
tt.func public @kept(%a: !tt.ptr<f32>, %n: i32, %c: i1, %p: tensor<1024x!tt.ptr<f32>>, %x: tensor<1024xf32>, %zero: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.if %c {
      %v = tt.load %a : !tt.ptr<f32>
      tt.store %a, %v : !tt.ptr<f32>
    }
    scf.if %c {
      tt.store %p, %x : tensor<1024x!tt.ptr<f32>>
    }
  }
  scf.if %c {
    tt.store %a, %zero : !tt.ptr<f32>
  }
  tt.return
}
