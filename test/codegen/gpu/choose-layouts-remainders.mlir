// RUN: pellucid-opt %s --ttgpu-decide | FileCheck %s

// The remainder by a constant is computed by every thread that wants it.
// CHECK-LABEL: @shifts
// CHECK-NOT:   ttgpu.offset
// CHECK:       tt.return
tt.func public @shifts(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %pitch = arith.constant dense<256> : tensor<32x1xi32>
  %eight = arith.constant dense<8> : tensor<32x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %j = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %shift = arith.remsi %rows, %eight : tensor<32x1xi32>
  %r = arith.muli %rows, %pitch : tensor<32x1xi32>
  %rb = tt.broadcast %r : tensor<32x1xi32> -> tensor<32x256xi32>
  %cb = tt.broadcast %columns : tensor<1x256xi32> -> tensor<32x256xi32>
  %sb = tt.broadcast %shift : tensor<32x1xi32> -> tensor<32x256xi32>
  %place = arith.addi %rb, %cb : tensor<32x256xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<32x256x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %place : tensor<32x256x!tt.ptr<i32>>, tensor<32x256xi32>
  %x = tt.load %pp : tensor<32x256x!tt.ptr<i32>>
  %y = arith.shrsi %x, %sb : tensor<32x256xi32>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x256x!tt.ptr<i32>>
  %qp = tt.addptr %qs, %place : tensor<32x256x!tt.ptr<i32>>, tensor<32x256xi32>
  tt.store %qp, %y : tensor<32x256x!tt.ptr<i32>>
  tt.return
}
