// RUN: pellucid-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @round_trip
tt.func public @round_trip(%p: tensor<64x32x!tt.ptr<bf16>>, %m: tensor<64x32xi1>, %comes: i1, %i: i32) attributes {ttgpu.target = #ttgpu.target<sm = 90, warps = 4, stages = 3, mostStages = 8, generationOnly = true>} {
  // CHECK: ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
  %b = ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
  // CHECK: ttgpu.async_copy {{.*}} if {{.*}} mask {{.*}} : tensor<64x32xi1>
  ttgpu.async_copy %p to %b[%i] if %comes mask %m : tensor<64x32xi1> : tensor<64x32x!tt.ptr<bf16>>, <3 of tensor<64x32xbf16> along 1>
  ttgpu.commit_copies
  ttgpu.await_copies 0
  ttgpu.barrier
  // CHECK: ttgpu.read_shared
  %x = ttgpu.read_shared %b[%i] : <3 of tensor<64x32xbf16> along 1> -> tensor<64x32xbf16>
  ttgpu.share %x, %b : tensor<64x32xbf16>, <3 of tensor<64x32xbf16> along 1>
  ttgpu.release_operands 1
  ttgpu.free_shared %b : !ttgpu.buffer<3 of tensor<64x32xbf16> along 1>
  tt.return
}

// -----

tt.func public @buffer_c1_no_copies() {
  // expected-error @+1 {{expects at least one copy of the tile}}
  %b = ttgpu.alloc_shared : <0 of tensor<64x32xbf16> along 1>
  tt.return
}

// -----

tt.func public @buffer_c2_three_dims() {
  // expected-error @+1 {{expects a tile of one or two dims, got 'tensor<4x64x32xbf16>'}}
  %b = ttgpu.alloc_shared : <1 of tensor<4x64x32xbf16> along 1>
  tt.return
}

// -----

tt.func public @buffer_c3_along() {
  // expected-error @+1 {{expects 'along' to be a dim of 'tensor<64xbf16>', got 1}}
  %b = ttgpu.alloc_shared : <1 of tensor<64xbf16> along 1>
  tt.return
}

// -----

tt.func public @share_c1_other_tile(%x: tensor<64x32xf16>) {
  %b = ttgpu.alloc_shared : <1 of tensor<64x32xbf16> along 1>
  // expected-error @+1 {{expects the buffer's tile 'tensor<64x32xbf16>', got 'tensor<64x32xf16>'}}
  ttgpu.share %x, %b : tensor<64x32xf16>, <1 of tensor<64x32xbf16> along 1>
  tt.return
}

// -----

tt.func public @async_copy_c1_no_pointers(%x: tensor<64xi32>, %i: i32) {
  %b = ttgpu.alloc_shared : <1 of tensor<64xi32> along 0>
  // expected-error @+1 {{expects a tile of pointers, got 'tensor<64xi32>'}}
  ttgpu.async_copy %x to %b[%i] : tensor<64xi32>, <1 of tensor<64xi32> along 0>
  tt.return
}

// -----

tt.func public @async_copy_c3_mask(%p: tensor<64x!tt.ptr<i32>>, %m: tensor<32xi1>, %i: i32) {
  %b = ttgpu.alloc_shared : <1 of tensor<64xi32> along 0>
  // expected-error @+1 {{expects a mask of type 'tensor<64xi1>', got 'tensor<32xi1>'}}
  ttgpu.async_copy %p to %b[%i] mask %m : tensor<32xi1> : tensor<64x!tt.ptr<i32>>, <1 of tensor<64xi32> along 0>
  tt.return
}

// -----

// expected-error @+1 {{expects a layout of 1 dims, got one of 2}}
tt.func private @layout_c1_rank(tensor<64xf32, #ttgpu.layout<registers = [[0, 1]], lanes = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warps = []>>)

// -----

// expected-error @+1 {{expects a layout with 5 bits of lanes, got 4}}
tt.func private @layout_c2_lanes(tensor<32xf32, #ttgpu.layout<registers = [[1]], lanes = [[2], [4], [8], [16]], warps = []>>)

// -----

// expected-error @+1 {{expects a layout that holds 64 elements along dim 0, got the bits 31}}
tt.func private @layout_c3_elements(tensor<64xf32, #ttgpu.layout<registers = [], lanes = [[1], [2], [4], [8], [16]], warps = []>>)

// -----

// CHECK-LABEL: @boxes_round_trip
// CHECK-SAME:  ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100, 70], strides = [1, 104], box = [32, 64]>]
tt.func public @boxes_round_trip(%p: !tt.ptr<bf16>, %comes: i1, %i: i32) attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100, 70], strides = [1, 104], box = [32, 64]>]} {
  %b = ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
  // CHECK: %[[BARRIERS:.*]] = ttgpu.alloc_barriers : <3>
  %barriers = ttgpu.alloc_barriers : <3>
  // CHECK: ttgpu.expect_copies 4096 at %[[BARRIERS]][%{{.*}}] if %{{.*}} : <3>
  ttgpu.expect_copies 4096 at %barriers[%i] if %comes : <3>
  // CHECK: ttgpu.tensor_copy 0 at[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}] if %{{.*}} signals %[[BARRIERS]][%{{.*}}]
  ttgpu.tensor_copy 0 at [%i, %i] to %b[%i] if %comes signals %barriers[%i] : <3 of tensor<64x32xbf16> along 1>, <3>
  // CHECK: ttgpu.await_tensor_copies %[[BARRIERS]][%{{.*}}] phase %{{.*}} : <3>
  ttgpu.await_tensor_copies %barriers[%i] phase %i : <3>
  // CHECK: ttgpu.free_barriers %[[BARRIERS]]
  ttgpu.free_barriers %barriers : !ttgpu.barriers<3>
  tt.return
}

// -----

// expected-error @+1 {{expects one to five dims, each with a size, a stride and a box}}
tt.func public @tensor_map_c1_dims() attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100], strides = [1, 104], box = [32, 64]>]} {
  tt.return
}

// -----

// expected-error @+1 {{expects rows of a box of 16, 32, 64 or 128 bytes, got 32 elements of 2 bytes}}
tt.func public @tensor_map_c2_rows() attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 128, sizes = [100], strides = [1], box = [32]>]} {
  tt.return
}

// -----

// expected-error @+1 {{expects a box of 1 to 256 elements along each dim}}
tt.func public @tensor_map_c3_box() attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100, 512], strides = [1, 104], box = [32, 512]>]} {
  tt.return
}

// -----

// CHECK-LABEL: @boxes_round
// CHECK-SAME:  box = [32, 64], rounds = true>
tt.func public @boxes_round() attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 4, swizzle = 128, sizes = [100, 70], strides = [1, 104], box = [32, 64], rounds = true>]} {
  tt.return
}

// -----

// expected-error @+1 {{expects elements of 4 bytes to round to tf32, got 2 bytes}}
tt.func public @tensor_map_c4_rounds() attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100, 70], strides = [1, 104], box = [32, 64], rounds = true>]} {
  tt.return
}

// -----

tt.func public @tensor_copy_c1_no_map(%i: i32, %comes: i1) {
  %b = ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
  %barriers = ttgpu.alloc_barriers : <3>
  // expected-error @+1 {{expects a tensor map of the function, got number 0}}
  ttgpu.tensor_copy 0 at [%i, %i] to %b[%i] if %comes signals %barriers[%i] : <3 of tensor<64x32xbf16> along 1>, <3>
  tt.return
}

// -----

tt.func public @tensor_copy_c2_place(%p: !tt.ptr<bf16>, %i: i32, %comes: i1) attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100, 70], strides = [1, 104], box = [32, 64]>]} {
  %b = ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
  %barriers = ttgpu.alloc_barriers : <3>
  // expected-error @+1 {{expects a place along each of 2 dims, got 1}}
  ttgpu.tensor_copy 0 at [%i] to %b[%i] if %comes signals %barriers[%i] : <3 of tensor<64x32xbf16> along 1>, <3>
  tt.return
}

// -----

tt.func public @tensor_copy_c3_alone(%p: !tt.ptr<bf16>, %i: i32, %comes: i1) attributes {ttgpu.tensor_maps = [#ttgpu.tensor_map<argument = 0, elementBytes = 2, swizzle = 64, sizes = [100, 70], strides = [1, 104], box = [32, 64]>]} {
  %b = ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
  %barriers = ttgpu.alloc_barriers : <3>
  // expected-error @+1 {{expects to follow directly an expect_copies and its other copies}}
  ttgpu.tensor_copy 0 at [%i, %i] to %b[%i] if %comes signals %barriers[%i] : <3 of tensor<64x32xbf16> along 1>, <3>
  tt.return
}
