// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="generation-only=true tensor-copies=true" --ttgpu-unwrap-ranges | FileCheck %s
// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="generation-only=true" --ttgpu-unwrap-ranges | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: @whole_tiles_wrap
// CHECK:       %[[START:.*]] = arith.muli
// CHECK:       %[[FIRST:.*]] = arith.remsi %[[START]], %c4096_i32 : i32
// CHECK:       %[[TILE:.*]] = tt.splat %[[FIRST]]
// CHECK:       %[[ROWS:.*]] = arith.addi %[[TILE]], %{{.*}} : tensor<128xi32>
// CHECK-NOT:   arith.remsi {{.*}} : tensor
// CHECK:       tt.store %{{.*}}, %[[ROWS]]
// OFF-LABEL:   @whole_tiles_wrap
// OFF:         arith.remsi {{.*}} : tensor<128xi32>
tt.func public @whole_tiles_wrap(%out: tensor<128x!tt.ptr<i32>>) {
  %size = arith.constant dense<4096> : tensor<128xi32>
  %c128 = arith.constant 128 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c128 : i32
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %tile = tt.splat %start : i32 -> tensor<128xi32>
  %at = arith.addi %tile, %range : tensor<128xi32>
  %rows = arith.remsi %at, %size : tensor<128xi32>
  tt.store %out, %rows : tensor<128x!tt.ptr<i32>>
  tt.return
}

// -----

// The last tile is cut.
// CHECK-LABEL: @cut
// CHECK:       arith.remsi {{.*}} : tensor<128xi32>
tt.func public @cut(%out: tensor<128x!tt.ptr<i32>>) {
  %size = arith.constant dense<4000> : tensor<128xi32>
  %c128 = arith.constant 128 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c128 : i32
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %tile = tt.splat %start : i32 -> tensor<128xi32>
  %at = arith.addi %tile, %range : tensor<128xi32>
  %rows = arith.remsi %at, %size : tensor<128xi32>
  tt.store %out, %rows : tensor<128x!tt.ptr<i32>>
  tt.return
}

// -----

// A tile may begin in the middle of one.
// CHECK-LABEL: @shifted
// CHECK:       arith.remsi {{.*}} : tensor<128xi32>
tt.func public @shifted(%out: tensor<128x!tt.ptr<i32>>) {
  %size = arith.constant dense<4096> : tensor<128xi32>
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c64 : i32
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %tile = tt.splat %start : i32 -> tensor<128xi32>
  %at = arith.addi %tile, %range : tensor<128xi32>
  %rows = arith.remsi %at, %size : tensor<128xi32>
  tt.store %out, %rows : tensor<128x!tt.ptr<i32>>
  tt.return
}

// -----

// What may be negative rounds towards zero.
// CHECK-LABEL: @negative
// CHECK:       arith.remsi {{.*}} : tensor<128xi32>
tt.func public @negative(%out: tensor<128x!tt.ptr<i32>>, %n: i32) {
  %size = arith.constant dense<4096> : tensor<128xi32>
  %c128 = arith.constant 128 : i32
  %start = arith.muli %n, %c128 : i32
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %tile = tt.splat %start : i32 -> tensor<128xi32>
  %at = arith.addi %tile, %range : tensor<128xi32>
  %rows = arith.remsi %at, %size : tensor<128xi32>
  tt.store %out, %rows : tensor<128x!tt.ptr<i32>>
  tt.return
}
