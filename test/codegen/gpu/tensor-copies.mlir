// RUN: pellucid-opt %S/../differential/boxes.ttir --tt-kernel-pipeline --ttgpu-choose-products="generation-only=true stages=3 tensor-copies=true" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s
// RUN: pellucid-opt %S/../differential/boxes_across.ttir --tt-kernel-pipeline --ttgpu-choose-products="generation-only=true stages=3 tensor-copies=true" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s --check-prefix=ACROSS
// RUN: pellucid-opt %S/../differential/boxes_described.ttir --tt-kernel-pipeline --ttgpu-choose-products="generation-only=true stages=3 tensor-copies=true" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s --check-prefix=DESCRIBED
// RUN: pellucid-opt %S/../differential/tf32_rounded.ttir --tt-kernel-pipeline --ttgpu-choose-products="generation-only=true stages=3 tensor-copies=true" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s --check-prefix=ROUNDED
// RUN: pellucid-opt %S/../differential/tf32_rounded.ttir --tt-kernel-pipeline --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s --check-prefix=UNBOXED
// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="generation-only=true stages=3 tensor-copies=true" --ttgpu-pipeline-loops | FileCheck %s --check-prefix=SAFE
// RUN: pellucid-opt %S/../differential/boxes.ttir --tt-kernel-pipeline --ttgpu-decide="generation-only=true stages=3 tensor-copies=true" | FileCheck %s --check-prefix=DECIDED
// RUN: pellucid-opt %S/../differential/boxes.ttir --tt-kernel-pipeline --ttgpu-decide="generation-only=false stages=3 tensor-copies=true" | FileCheck %s --check-prefix=OTHERS

// Masks at the tensor's ends are what the hardware does by itself; the batch is one more dim.
// CHECK-LABEL: @boxes
// CHECK-SAME:  ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 128, sizes = [136, 200, 2], strides = [1, 136, 27200], box = [64, 128, 1]>, #ttgpu.tensor_map<argument = 1, elementBytes = 2, swizzle = 128, sizes = [152, 136, 2], strides = [1, 152, 20672], box = [64, 64, 1]>]
// CHECK:       %[[A:.*]] = ttgpu.alloc_shared : <3 of tensor<128x64xbf16> along 1>
// CHECK:       %[[B:.*]] = ttgpu.alloc_shared : <3 of tensor<64x128xbf16> along 1>
// CHECK:       %[[BARRIERS:.*]] = ttgpu.alloc_barriers : <3>
// CHECK-NOT:   ttgpu.async_copy
// CHECK:       ttgpu.expect_copies 32768 at %[[BARRIERS]]
// CHECK:       ttgpu.tensor_copy 0 {{.*}} to %[[A]]
// CHECK:       ttgpu.tensor_copy 1 {{.*}} to %[[B]]
// CHECK:       %[[LOOP:.*]]:{{.*}} = scf.for {{.*}} iter_args({{.*}}%[[PHASE:[^ ]*]] = %{{[^ ]*}}) ->
// CHECK-NEXT:    ttgpu.await_tensor_copies %[[BARRIERS]][%{{.*}}] phase %[[PHASE]]
// The one barrier of a round is that before what the round ahead has read is written over.
// CHECK-NOT:     ttgpu.barrier
// CHECK:         tt.dot {{.*}}ttgpu.runs
// CHECK:         ttgpu.release_operands 1
// CHECK-NEXT:    ttgpu.barrier
// CHECK-NEXT:    ttgpu.expect_copies
// CHECK-NEXT:    ttgpu.tensor_copy 0
// CHECK-NEXT:    ttgpu.tensor_copy 1
// CHECK-NOT:     ttgpu.commit_copies
// CHECK:       ttgpu.await_products %[[LOOP]]#0, 0
// CHECK-NOT:   ttgpu.await_copies
// CHECK:       ttgpu.free_barriers %[[BARRIERS]]
// CHECK-NEXT:  ttgpu.free_shared %[[A]], %[[B]]

// Whole tiles end where it is assumed that programs do; what runs across k lies in panels.
// ACROSS-LABEL: @boxes_across
// ACROSS-SAME:  ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 128, sizes = [128, {{[0-9]+}}], strides = [1, 128], box = [64, 32]>, #ttgpu.tensor_map<argument = 1, elementBytes = 2, swizzle = 64, sizes = [256, 64], strides = [1, 256], box = [32, 64]>]
// ACROSS:       ttgpu.tensor_copy 0
// ACROSS:       ttgpu.tensor_copy 1

// A descriptor's sizes and strides may be the launch's numbers.
// DESCRIBED-LABEL: @boxes_described
// DESCRIBED-SAME:  ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 128, sizes = [argument 5, argument 3], strides = [1, argument 5], box = [64, 128]>, #ttgpu.tensor_map<argument = 1, elementBytes = 2, swizzle = 128, sizes = [argument 4, argument 5], strides = [1, argument 4], box = [64, 64]>]

// What a product alone reads of them, rounded to tf32, the copies round themselves. Threads round what they copy.
// ROUNDED-LABEL: @tf32_rounded
// ROUNDED-SAME:  elementBytes = 4, swizzle = 128, sizes = [60, 100], strides = [1, 60], box = [32, 128], rounds = true>
// ROUNDED-SAME:  box = [32, 64], rounds = true>
// ROUNDED:       scf.for
// ROUNDED-NOT:     arith.cmpf
// ROUNDED:         %[[X:.*]] = ttgpu.read_shared
// ROUNDED:         %[[Y:.*]] = ttgpu.read_shared
// ROUNDED:         tt.dot %[[X]], %[[Y]], {{.*}}ttgpu.runs
// UNBOXED-LABEL: @tf32_rounded
// UNBOXED-NOT:   rounds
// UNBOXED:       ttgpu.async_copy
// UNBOXED:       arith.cmpf oeq
// UNBOXED:       tt.dot

// DECIDED-LABEL: @boxes
// DECIDED:       ttgpu.alloc_barriers {ttgpu.offset = {{[0-9]+}} : i32}
// OTHERS-LABEL: @boxes
// OTHERS-NOT:   ttgpu.tensor_copy
// OTHERS:       ttgpu.async_copy

// What is not proved stays with the copies of vectors: a tensor that is not known to begin at 16 bytes,
// SAFE-LABEL: @unaligned
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @unaligned(%a: !tt.ptr<bf16>, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.subi %size, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi slt, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// a mask at the tensor's end is taken, as a control,
// SAFE-LABEL: @taken
// SAFE-SAME:  sizes = [1000, 64]
// SAFE-NOT:   ttgpu.async_copy
// SAFE:       ttgpu.tensor_copy
tt.func public @taken(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.subi %size, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi slt, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// rows that are not a multiple of 16 bytes,
// SAFE-LABEL: @odd_rows
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @odd_rows(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1004> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.subi %size, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi slt, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// an end that is elsewhere in every round,
// SAFE-LABEL: @other_end
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @other_end(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.addi %size, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi slt, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// a comparison that is none of an end,
// SAFE-LABEL: @no_end
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @no_end(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.subi %size, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi ne, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// a place that may be before the tensor,
// SAFE-LABEL: @before
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @before(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32, %first: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %moved = arith.addi %at, %first : i32
    %p = tt.addptr %a, %moved : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.subi %size, %moved : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi slt, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// an end along one dim that nothing says,
// SAFE-LABEL: @open_end
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @open_end(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %x = tt.load %pt : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// and a tensor that the kernel writes.
// SAFE-LABEL: @written
// SAFE-NOT:   ttgpu.tensor_copy
// SAFE:       ttgpu.async_copy
tt.func public @written(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xbf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %pitch = arith.constant dense<1024> : tensor<64x1xi32>
  %r1 = arith.muli %r, %pitch : tensor<64x1xi32>
  %r2 = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %c2 = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
  %tile = arith.addi %r2, %c2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c64 : i32
    %size = arith.constant 1000 : i32
    %p = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %tile : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %left = arith.subi %size, %at : i32
    %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
    %in = arith.cmpi slt, %c, %lefts : tensor<1x64xi32>
    %m = tt.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
    %x = tt.load %pt, %m, %zeros : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %op = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %ot = tt.addptr %op, %tile : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %ot, %sum : tensor<64x64x!tt.ptr<f32>>
  %zeros16 = arith.constant dense<0.0> : tensor<64x64xbf16>
  %wp = tt.splat %a : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  tt.store %wp, %zeros16 : tensor<64x64x!tt.ptr<bf16>>
  tt.return
}
