// RUN: pellucid-opt %s --ttgpu-count-rounds | FileCheck %s

// Groups of four divide where the loop begins and where all groups end: four rounds or none.
// CHECK-LABEL: @groups
// CHECK:       %[[FIRST:.*]] = arith.muli
// CHECK:       %[[IS_THERE:.*]] = arith.cmpi slt, %[[FIRST]], %{{.*}} : i32
// CHECK:       scf.if %[[IS_THERE]]
// CHECK:         scf.for %[[PLACE:.*]] = %c0_i32{{.*}} to %c4_i32{{.*}} step
// CHECK-NEXT:      arith.addi %[[FIRST]], %[[PLACE]] : i32
// CHECK:         {ttgpu.few_rounds}
tt.func public @groups(%out: !tt.ptr<f32>) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %all = arith.constant 32 : i32
  %zero = arith.constant 0.0 : f32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c4 : i32
  %behind = arith.addi %first, %c4 : i32
  %end = arith.minsi %behind, %all : i32
  scf.for %i = %first to %end step %c1 : i32 {
    %p = tt.addptr %out, %i : !tt.ptr<f32>, i32
    tt.store %p, %zero : !tt.ptr<f32>
  }
  tt.return
}

// What a loop carries is what it began with where there is no group.
// CHECK-LABEL: @carried
// CHECK:       %[[SUM:.*]] = scf.if
// CHECK:         scf.yield
// CHECK:       else
// CHECK-NEXT:    scf.yield %[[ZERO:.*]] : f32
// CHECK:       tt.store %{{.*}}, %[[SUM]]
tt.func public @carried(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %all = arith.constant 32 : i32
  %zero = arith.constant 0.0 : f32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c4 : i32
  %behind = arith.addi %first, %c4 : i32
  %end = arith.minsi %all, %behind : i32
  %sum = scf.for %i = %first to %end step %c1 iter_args(%so_far = %zero) -> f32 : i32 {
    %p = tt.addptr %in, %i : !tt.ptr<f32>, i32
    %x = tt.load %p : !tt.ptr<f32>
    %next = arith.addf %so_far, %x : f32
    scf.yield %next : f32
  }
  tt.store %out, %sum : !tt.ptr<f32>
  tt.return
}

// Thirty are no groups of four: the last one may be cut off.
// CHECK-LABEL: @cut_off
// CHECK-NOT:   scf.if
// CHECK-NOT:   few_rounds
tt.func public @cut_off(%out: !tt.ptr<f32>) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %all = arith.constant 30 : i32
  %zero = arith.constant 0.0 : f32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c4 : i32
  %behind = arith.addi %first, %c4 : i32
  %end = arith.minsi %behind, %all : i32
  scf.for %i = %first to %end step %c1 : i32 {
    %p = tt.addptr %out, %i : !tt.ptr<f32>, i32
    tt.store %p, %zero : !tt.ptr<f32>
  }
  tt.return
}

// The loop may begin anywhere.
// CHECK-LABEL: @anywhere
// CHECK-NOT:   scf.if
tt.func public @anywhere(%out: !tt.ptr<f32>, %first: i32) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %all = arith.constant 32 : i32
  %zero = arith.constant 0.0 : f32
  %behind = arith.addi %first, %c4 : i32
  %end = arith.minsi %behind, %all : i32
  scf.for %i = %first to %end step %c1 : i32 {
    %p = tt.addptr %out, %i : !tt.ptr<f32>, i32
    tt.store %p, %zero : !tt.ptr<f32>
  }
  tt.return
}
