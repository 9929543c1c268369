// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products --ttgpu-depend-on-launches | FileCheck %s
// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="sm=80" --ttgpu-depend-on-launches | FileCheck %s --check-prefix=OLD

// The next launch may be placed, and this one waits, before anything is computed or read.
// CHECK-LABEL: @loops
// CHECK-SAME:  ttgpu.dependent_launch
// CHECK-NEXT:  tt.grid_dependency_launch_dependents
// CHECK-NEXT:  tt.grid_dependency_wait
// CHECK-NEXT:  tt.load
// OLD-LABEL:   @loops
// OLD-NOT:     ttgpu.dependent_launch
// OLD-NOT:     tt.grid_dependency
tt.func public @loops(%x: !tt.ptr<f32>, %y: tensor<512x!tt.ptr<f32>>, %from: i32, %to: i32, %step: i32) {
  %a = tt.load %x : !tt.ptr<f32>
  %b = tt.splat %a : f32 -> tensor<512xf32>
  scf.for %i = %from to %to step %step : i32 {
    tt.store %y, %b : tensor<512x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// A kernel's own wait comes too late for what is read before it, and has nothing left to wait for.
// CHECK-LABEL: @waits_itself
// CHECK-NEXT:  tt.grid_dependency_launch_dependents
// CHECK-NEXT:  tt.grid_dependency_wait
// CHECK-NEXT:  tt.load
// CHECK-NOT:   tt.grid_dependency
// CHECK:       tt.return
// OLD-LABEL:   @waits_itself
// OLD-NOT:     tt.grid_dependency
// OLD:         tt.return
tt.func public @waits_itself(%x: !tt.ptr<f32>, %y: tensor<512x!tt.ptr<f32>>, %from: i32, %to: i32, %step: i32) {
  %a = tt.load %x : !tt.ptr<f32>
  tt.grid_dependency_wait
  %b = tt.splat %a : f32 -> tensor<512xf32>
  scf.for %i = %from to %to step %step : i32 {
    tt.store %y, %b : tensor<512x!tt.ptr<f32>>
  }
  tt.grid_dependency_launch_dependents
  tt.return
}

// -----

// Blocks that are over at once would feel the wait, so the launch is queued in its turn.
// CHECK-LABEL: @straight
// CHECK-NOT:   ttgpu.dependent_launch
// CHECK-NOT:   tt.grid_dependency
// CHECK:       tt.return
tt.func public @straight(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  tt.grid_dependency_wait
  %a = tt.load %x : !tt.ptr<f32>
  tt.store %y, %a : !tt.ptr<f32>
  tt.return
}

// -----

// A row of 16 KiB takes longer than the wait.
// CHECK-LABEL: @long_row
// CHECK-SAME:  ttgpu.dependent_launch
// CHECK:       tt.return
// OLD-LABEL:   @long_row
tt.func public @long_row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 4096 : i32} : tensor<4096xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
  %a = tt.load %xp : tensor<4096x!tt.ptr<f32>>
  %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %q : f32
    tt.reduce.return %sum : f32
  }) : (tensor<4096xf32>) -> f32
  tt.store %y, %s : !tt.ptr<f32>
  tt.return
}

// -----

// A row of 2 KiB does not.
// CHECK-LABEL: @short_row
// CHECK-NOT:   tt.grid_dependency
// CHECK:       tt.return
// OLD-LABEL:   @short_row
tt.func public @short_row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %a = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %q : f32
    tt.reduce.return %sum : f32
  }) : (tensor<512xf32>) -> f32
  tt.store %y, %s : !tt.ptr<f32>
  tt.return
}

// -----

// A loop that moves little in each round is over as soon, if it is not known to be a long one.
// CHECK-LABEL: @short_rounds
// CHECK-NOT:   tt.grid_dependency
// CHECK:       tt.return
// CHECK-LABEL: @many_rounds
// CHECK-SAME:  ttgpu.dependent_launch
// OLD-LABEL:   @short_rounds
tt.func public @short_rounds(%y: tensor<32x!tt.ptr<f32>>, %b: tensor<32xf32>, %from: i32, %to: i32, %step: i32) {
  scf.for %i = %from to %to step %step : i32 {
    tt.store %y, %b : tensor<32x!tt.ptr<f32>>
  }
  tt.return
}
tt.func public @many_rounds(%y: tensor<32x!tt.ptr<f32>>, %b: tensor<32xf32>) {
  %from = arith.constant 0 : i32
  %to = arith.constant 4096 : i32
  %step = arith.constant 1 : i32
  scf.for %i = %from to %to step %step : i32 {
    tt.store %y, %b : tensor<32x!tt.ptr<f32>>
  }
  tt.return
}
