// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products --ttgpu-pipeline-loops --ttgpu-choose-layouts | FileCheck %s

// A window moves by single elements: its neighbours are spread over lanes, so that the thread's
// registers share a row and its mask, and nothing is copied ahead, which takes aligned words. What
// moves by whole vectors is copied.
// CHECK-DAG:   #[[SPREAD:.*]] = #ttgpu.layout<registers = {{\[}}[0, 2], [0, 4], [0, 8]], lanes = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warps = {{\[}}[32, 0], [0, 1]]>
// CHECK-LABEL: @window
// CHECK-NOT:   async_copy
// CHECK:       tt.load {{.*}} : tensor<64x16x!tt.ptr<f16>, #[[SPREAD]]>
tt.func public @window(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %w = arith.constant dense<2.0> : tensor<16x16xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = arith.constant dense<4096> : tensor<16xi32>
  %cs = arith.muli %c, %s : tensor<16xi32>
  %c2 = tt.expand_dims %cs {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %c2 : tensor<1x16xi32> -> tensor<64x16xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>>
  %xc = tt.addptr %xs, %cb : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
  %d = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> (tensor<64x16xf32>) : i32 {
    %shift = arith.subi %i, %c1 : i32
    %is = tt.splat %shift : i32 -> tensor<64xi32>
    %at = arith.addi %r, %is : tensor<64xi32>
    %a1 = tt.expand_dims %at {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %a2 = tt.broadcast %a1 : tensor<64x1xi32> -> tensor<64x16xi32>
    %p = tt.addptr %xc, %a2 : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
    %a = tt.load %p : tensor<64x16x!tt.ptr<f16>>
    %next = tt.dot %a, %w, %sum : tensor<64x16xf16> * tensor<16x16xf16> -> tensor<64x16xf32>
    scf.yield %next : tensor<64x16xf32>
  }
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %cb : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  tt.store %yp, %d : tensor<64x16x!tt.ptr<f32>>
  tt.return
}

// -----

// CHECK-LABEL: @steps
// CHECK:       async_copy
tt.func public @steps(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %w = arith.constant dense<2.0> : tensor<16x16xf16>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c512 = arith.constant 512 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %c = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = arith.constant dense<4096> : tensor<16xi32>
  %cs = arith.muli %c, %s : tensor<16xi32>
  %c2 = tt.expand_dims %cs {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cb = tt.broadcast %c2 : tensor<1x16xi32> -> tensor<64x16xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>>
  %xc = tt.addptr %xs, %cb : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
  %d = scf.for %i = %c0 to %c512 step %c64 iter_args(%sum = %zero) -> (tensor<64x16xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %at = arith.addi %r, %is : tensor<64xi32>
    %a1 = tt.expand_dims %at {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %a2 = tt.broadcast %a1 : tensor<64x1xi32> -> tensor<64x16xi32>
    %p = tt.addptr %xc, %a2 : tensor<64x16x!tt.ptr<f16>>, tensor<64x16xi32>
    %a = tt.load %p : tensor<64x16x!tt.ptr<f16>>
    %next = tt.dot %a, %w, %sum : tensor<64x16xf16> * tensor<16x16xf16> -> tensor<64x16xf32>
    scf.yield %next : tensor<64x16xf32>
  }
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %cb : tensor<64x16x!tt.ptr<f32>>, tensor<64x16xi32>
  tt.store %yp, %d : tensor<64x16x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows of 4095: those of most programs are not aligned, so lanes move neighbours one by one. Rows of
// 4096 move by 16 bytes.
// CHECK-DAG:   #[[SINGLE:.*]] = #ttgpu.layout<registers = {{\[}}[128], [256]], lanes = {{\[}}[1], [2], [4], [8], [16]], warps = {{\[}}[32], [64]]>
// CHECK-LABEL: @odd_rows
// CHECK:       tt.load {{.*}} : tensor<512x!tt.ptr<f16>, #[[SINGLE]]>
tt.func public @odd_rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %row = tt.get_program_id x : i32
  %n = arith.constant 4095 : i32
  %at = arith.muli %row, %n : i32
  %p = tt.addptr %x, %at : !tt.ptr<f16>, i32
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %q = tt.addptr %ps, %i : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
  %a = tt.load %q : tensor<512x!tt.ptr<f16>>
  tt.store %q, %a : tensor<512x!tt.ptr<f16>>
  tt.return
}

// -----

// CHECK-DAG:   #[[VECTORS:.*]] = #ttgpu.layout<registers = {{\[}}[1], [2]], lanes
// CHECK-LABEL: @even_rows
// CHECK:       tt.load {{.*}} : tensor<512x!tt.ptr<f16>, #[[VECTORS]]>
tt.func public @even_rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %row = tt.get_program_id x : i32
  %n = arith.constant 4096 : i32
  %at = arith.muli %row, %n : i32
  %p = tt.addptr %x, %at : !tt.ptr<f16>, i32
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %q = tt.addptr %ps, %i : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
  %a = tt.load %q : tensor<512x!tt.ptr<f16>>
  tt.store %q, %a : tensor<512x!tt.ptr<f16>>
  tt.return
}
