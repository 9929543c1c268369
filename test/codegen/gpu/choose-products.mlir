// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="generation-only=true" | FileCheck %s

// Floats of 16 bits that are widened before a product of tf32 are multiplied as they are; behind a
// transposition as well. What asks for all digits of f32, and what mixes types, stays.
// CHECK-LABEL: @widened
// CHECK:       tt.dot {{.*}} tensor<64x64xbf16> * tensor<64x32xbf16> -> tensor<64x32xf32>
// CHECK:       %[[T:.*]] = tt.trans %arg0 {{.*}} tensor<64x64xbf16>
// CHECK:       tt.dot %[[T]], {{.*}} tensor<64x64xbf16> * tensor<64x32xbf16> -> tensor<64x32xf32>
// CHECK:       tt.dot {{.*}} tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
// CHECK:       tt.dot {{.*}} tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
tt.func public @widened(%a: tensor<64x64xbf16>, %b: tensor<64x32xbf16>, %h: tensor<64x32xf16>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %x = arith.extf %a : tensor<64x64xbf16> to tensor<64x64xf32>
  %y = arith.extf %b : tensor<64x32xbf16> to tensor<64x32xf32>
  %z = arith.extf %h : tensor<64x32xf16> to tensor<64x32xf32>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>
  %p = tt.dot %x, %y, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  %q = tt.dot %t, %y, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  %r = tt.dot %x, %y, %zero : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  %s = tt.dot %x, %z, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  tt.return %p, %q, %r, %s : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// tf32 that is computed lies along the inner dim where it is put down, so a warpgroup multiplies it;
// what is loaded across is read by warps.
// CHECK-LABEL: @computed
// CHECK:       tt.dot {{.*}}#ttgpu.unit<warpgroup>
// CHECK:       tt.dot {{.*}}#ttgpu.unit<warp>
tt.func public @computed(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %a: tensor<64x64xf32>, %b: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %x = arith.mulf %a, %a : tensor<64x64xf32>
  %y = arith.mulf %b, %b : tensor<64x32xf32>
  %d = tt.dot %x, %y, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c32 = arith.constant dense<32> : tensor<64x1xi32>
  %i2 = arith.muli %i1, %c32 : tensor<64x1xi32>
  %i3 = tt.broadcast %i2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %j2 = tt.broadcast %j1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %o = arith.addi %i3, %j2 : tensor<64x32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
  %z = tt.load %pp : tensor<64x32x!tt.ptr<f32>>
  %e = tt.dot %x, %z, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  tt.return %d, %e : tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// f64 has matrix units on sm_90: tiles of 16 by 8 over 8 and more. Smaller ones are added up in a loop.
// CHECK-LABEL: @doubles
// CHECK:       tt.dot {{.*}}#ttgpu.unit<warp>{{.*}} tensor<64x16xf64>
// CHECK:       tt.dot {{.*}}#ttgpu.unit<none>{{.*}} tensor<64x4xf64>
tt.func public @doubles(%a: tensor<64x16xf64>, %b: tensor<16x32xf64>, %c: tensor<64x4xf64>, %d: tensor<4x32xf64>) -> (tensor<64x32xf64>, tensor<64x32xf64>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf64>
  %x = tt.dot %a, %b, %zero : tensor<64x16xf64> * tensor<16x32xf64> -> tensor<64x32xf64>
  %y = tt.dot %c, %d, %zero : tensor<64x4xf64> * tensor<4x32xf64> -> tensor<64x32xf64>
  tt.return %x, %y : tensor<64x32xf64>, tensor<64x32xf64>
}
