// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products --ttgpu-choose-layouts --verify-diagnostics | FileCheck %s

// What only computes is there once per layout that asks for it: the pointers of a row as the row
// lies, four neighbours to a thread. The unused range is gone.
// CHECK:       #[[ROW:.*]] = #ttgpu.layout<registers = {{\[}}[1], [2]], lanes = {{\[}}[4], [8], [16], [32], [64]], warps = {{\[}}[128], [256]]>
// CHECK-LABEL: @row
// CHECK:       tt.splat {{.*}} -> tensor<512x!tt.ptr<f32>, #[[ROW]]>
// CHECK-NEXT:  tt.make_range {{.*}} : tensor<512xi32, #[[ROW]]>
// CHECK-NEXT:  tt.addptr {{.*}} : tensor<512x!tt.ptr<f32>, #[[ROW]]>, tensor<512xi32, #[[ROW]]>
// CHECK-NEXT:  tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[ROW]]>
// CHECK:       tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[ROW]]>
// CHECK-NEXT:  tt.return
tt.func public @row(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %unused = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %a = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %b = arith.addf %a, %a : tensor<512xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %yp, %b : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

// The sums of mma.sync are four registers of 16x8 elements; a product's operands come as they are
// loaded, along their own rows. The store moves vectors of four, which lanes exchange for it.
// CHECK-DAG:   #[[SUMS:.*]] = #ttgpu.layout<registers = {{\[}}[0, 1], [8, 0], [0, 16]], lanes = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = {{\[}}[16, 0], [0, 8]]>
// CHECK-DAG:   #[[ROWS:.*]] = #ttgpu.layout<registers = {{\[}}[0, 1], [0, 2], [0, 4]], lanes = {{\[}}[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warps = {{\[}}[8, 0], [16, 0]]>
// CHECK-LABEL: @product
// CHECK:       %[[A:.*]] = tt.load {{.*}} : tensor<32x32x!tt.ptr<f16>, #[[ROWS]]>
// CHECK:       arith.constant dense<0.000000e+00> : tensor<32x32xf32, #[[SUMS]]>
// CHECK:       tt.dot %[[A]], %[[A]], {{.*}} : tensor<32x32xf16, #[[ROWS]]> * tensor<32x32xf16, #[[ROWS]]> -> tensor<32x32xf32, #[[SUMS]]>
// CHECK:       %[[WIDE:.*]] = ttgpu.convert_layout {{.*}} : tensor<32x32xf32, #[[SUMS]]> -> tensor<32x32xf32, #[[VECTORS:.*]]>
// CHECK:       tt.store {{.*}}, %[[WIDE]] : tensor<32x32x!tt.ptr<f32>, #[[VECTORS]]>
tt.func public @product(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %d = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %off : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %yp, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// -----

// What loops carry for the rows of a product lies as the product's rows do, though the quotient that
// says so stands behind the second loop: no round changes a layout.
// CHECK-LABEL: @sums_of_rows
// CHECK:       scf.for
// CHECK-NOT:   ttgpu.convert_layout {{.*}} : tensor<32xf32,
// CHECK:       arith.divf
tt.func public @sums_of_rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %start = arith.constant dense<0.0> : tensor<32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %d = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %first = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> (tensor<32xf32>) : i32 {
    %s = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tt.reduce.return %sum : f32
    }) : (tensor<32x32xf32>) -> tensor<32xf32>
    %u = arith.addf %t, %s : tensor<32xf32>
    scf.yield %u : tensor<32xf32>
  }
  %second = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (tensor<32xf32>) : i32 {
    %u = arith.mulf %t, %t : tensor<32xf32>
    scf.yield %u : tensor<32xf32>
  }
  %e = tt.expand_dims %second {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %f = tt.broadcast %e : tensor<32x1xf32> -> tensor<32x32xf32>
  %quotient = arith.divf %d, %f : tensor<32x32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %off : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %yp, %quotient : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @too_large(%x: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 131072 : i32} : tensor<131072xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<131072x!tt.ptr<f32>>
  // expected-error @+1 {{'tt.addptr' has a tile of 131072 elements, more than 512 for each of 128 threads}}
  %xp = tt.addptr %xs, %i : tensor<131072x!tt.ptr<f32>>, tensor<131072xi32>
  %a = tt.load %xp : tensor<131072x!tt.ptr<f32>>
  tt.store %xp, %a : tensor<131072x!tt.ptr<f32>>
  tt.return
}

// -----

// A thread's part of the row is one store of 16 bytes; the narrow load follows it.
// CHECK:       #[[FOUR:.*]] = #ttgpu.layout<registers = {{\[}}[1], [2], [512]], lanes = {{\[}}[4], [8], [16], [32], [64]], warps = {{\[}}[128], [256]]>
// CHECK-LABEL: @widened
// CHECK:       tt.load {{.*}} : tensor<1024x!tt.ptr<bf16>, #[[FOUR]]>
// CHECK:       tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[FOUR]]>
tt.func public @widened(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
  %a = tt.load %xp : tensor<1024x!tt.ptr<bf16>>
  %b = arith.extf %a : tensor<1024xbf16> to tensor<1024xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %yp, %b : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Eight exchanges of a sort: the inner dims of the cube are held by registers, then by lanes; the result alone is moved to where
// the store wants it, not each exchange.
// CHECK:       #[[CUBE:.*]] = #ttgpu.layout<registers = {{\[}}[0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0]], lanes = {{\[}}[0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
// CHECK-LABEL: @exchanges
// CHECK-COUNT-8: "tt.reduce"
// CHECK-NOT:   "tt.reduce"
// CHECK:       ttgpu.convert_layout
// CHECK-NOT:   ttgpu.convert_layout
// CHECK:       tt.store
tt.func public @exchanges(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  %a = tt.load %xp : tensor<1024x!tt.ptr<i32>>
  %c0 = tt.reshape %a : tensor<1024xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s0 = "tt.reduce"(%c0) <{axis = 9 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e0 = tt.expand_dims %s0 {axis = 9 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x1xi32>
  %b0 = tt.broadcast %e0 : tensor<2x2x2x2x2x2x2x2x2x1xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p0 = arith.xori %c0, %b0 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c1 = arith.minsi %c0, %p0 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s1 = "tt.reduce"(%c1) <{axis = 8 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e1 = tt.expand_dims %s1 {axis = 8 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x1x2xi32>
  %b1 = tt.broadcast %e1 : tensor<2x2x2x2x2x2x2x2x1x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p1 = arith.xori %c1, %b1 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c2 = arith.minsi %c1, %p1 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s2 = "tt.reduce"(%c2) <{axis = 7 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e2 = tt.expand_dims %s2 {axis = 7 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x1x2x2xi32>
  %b2 = tt.broadcast %e2 : tensor<2x2x2x2x2x2x2x1x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p2 = arith.xori %c2, %b2 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c3 = arith.minsi %c2, %p2 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s3 = "tt.reduce"(%c3) <{axis = 6 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e3 = tt.expand_dims %s3 {axis = 6 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x1x2x2x2xi32>
  %b3 = tt.broadcast %e3 : tensor<2x2x2x2x2x2x1x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p3 = arith.xori %c3, %b3 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c4 = arith.minsi %c3, %p3 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s4 = "tt.reduce"(%c4) <{axis = 5 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e4 = tt.expand_dims %s4 {axis = 5 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x1x2x2x2x2xi32>
  %b4 = tt.broadcast %e4 : tensor<2x2x2x2x2x1x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p4 = arith.xori %c4, %b4 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c5 = arith.minsi %c4, %p4 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s5 = "tt.reduce"(%c5) <{axis = 4 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e5 = tt.expand_dims %s5 {axis = 4 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x1x2x2x2x2x2xi32>
  %b5 = tt.broadcast %e5 : tensor<2x2x2x2x1x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p5 = arith.xori %c5, %b5 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c6 = arith.minsi %c5, %p5 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s6 = "tt.reduce"(%c6) <{axis = 3 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e6 = tt.expand_dims %s6 {axis = 3 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x1x2x2x2x2x2x2xi32>
  %b6 = tt.broadcast %e6 : tensor<2x2x2x1x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p6 = arith.xori %c6, %b6 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c7 = arith.minsi %c6, %p6 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %s7 = "tt.reduce"(%c7) <{axis = 2 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %s = arith.xori %l, %r : i32
    tt.reduce.return %s : i32
  }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
  %e7 = tt.expand_dims %s7 {axis = 2 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x1x2x2x2x2x2x2x2xi32>
  %b7 = tt.broadcast %e7 : tensor<2x2x1x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %p7 = arith.xori %c7, %b7 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %c8 = arith.minsi %c7, %p7 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
  %o = tt.reshape %c8 : tensor<2x2x2x2x2x2x2x2x2x2xi32> -> tensor<1024xi32>
  tt.store %xp, %o : tensor<1024x!tt.ptr<i32>>
  tt.return
}

// -----

// All elements of a tile of two dims are combined where they lie: nothing moves in front.
// CHECK-DAG:   #[[LINE:.*]] = #ttgpu.layout<registers = {{\[}}[1], [2]], lanes = {{\[}}[4], [8], [16], [32], [64]], warps = {{\[}}[128], [256]]>
// CHECK-LABEL: @whole
// CHECK-NOT:   convert_layout {{.*}}xf32
// CHECK:       "tt.reduce"
// CHECK:       (tensor<512xf32, #[[LINE]]>) -> f32
tt.func public @whole(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %w = arith.constant dense<64> : tensor<8x1xi32>
  %r2 = arith.muli %r1, %w : tensor<8x1xi32>
  %r3 = tt.broadcast %r2 : tensor<8x1xi32> -> tensor<8x64xi32>
  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c2 = tt.broadcast %c1 : tensor<1x64xi32> -> tensor<8x64xi32>
  %at = arith.addi %r3, %c2 : tensor<8x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>>
  %p = tt.addptr %xs, %at : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
  %a = tt.load %p : tensor<8x64x!tt.ptr<f32>>
  %b = math.absf %a : tensor<8x64xf32>
  %line = tt.reshape %b : tensor<8x64xf32> -> tensor<512xf32>
  %m = "tt.reduce"(%line) <{axis = 0 : i32}> ({
  ^bb0(%u: f32, %v: f32):
    %s = arith.maxnumf %u, %v : f32
    tt.reduce.return %s : f32
  }) : (tensor<512xf32>) -> f32
  tt.store %x, %m : !tt.ptr<f32>
  tt.return
}

// -----

// Scores that a loaded mask chooses from stay where the product left them: the mask moves, a byte an
// element, and what becomes of them is computed once.
// CHECK-DAG:   #[[SUMS:.*]] = #ttgpu.layout<registers = {{\[}}[0, 1], [8, 0], [0, 16]], lanes = {{\[}}[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warps = {{\[}}[16, 0], [0, 8]]>
// CHECK-LABEL: @masked_scores
// CHECK:       %[[D:.*]] = tt.dot
// CHECK-NOT:   ttgpu.convert_layout %[[D]]
// CHECK:       math.exp2 {{.*}} : tensor<32x32xf32, #[[SUMS]]>
// CHECK-NOT:   math.exp2
// CHECK:       tt.dot {{.*}} : tensor<32x32xf16, #[[SUMS]]> * tensor<32x32xf16,
tt.func public @masked_scores(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %none = arith.constant dense<0> : tensor<32x32xi8>
  %low = arith.constant dense<0xFF800000> : tensor<32x32xf32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %ms = tt.splat %m : !tt.ptr<i8> -> tensor<32x32x!tt.ptr<i8>>
  %mp = tt.addptr %ms, %off : tensor<32x32x!tt.ptr<i8>>, tensor<32x32xi32>
  %mask = tt.load %mp : tensor<32x32x!tt.ptr<i8>>
  %d = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %keep = arith.cmpi ne, %mask, %none : tensor<32x32xi8>
  %scores = arith.select %keep, %d, %low : tensor<32x32xi1>, tensor<32x32xf32>
  %e = math.exp2 %scores : tensor<32x32xf32>
  %p = arith.truncf %e : tensor<32x32xf32> to tensor<32x32xf16>
  %o = tt.dot %p, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %off : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %yp, %o : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// -----

// Rows of an odd number of 16-bit elements: no two of them move at once, so lanes are neighbours, and
// what is stored goes there through shared memory.
// CHECK-DAG:   #[[LANES:.*]] = #ttgpu.layout<registers = {{.*}}, lanes = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warps =
// CHECK-LABEL: @odd_rows
// CHECK:       tt.dot
// CHECK:       %[[NARROW:.*]] = arith.truncf
// CHECK:       %[[MOVED:.*]] = ttgpu.convert_layout %[[NARROW]] {{.*}} -> tensor<32x32xf16, #[[LANES]]>
// CHECK:       tt.store {{.*}}, %[[MOVED]]
tt.func public @odd_rows(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %s33 = arith.constant dense<33> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %o2 = arith.muli %r1, %s33 : tensor<32x1xi32>
  %o3 = tt.broadcast %o2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %odd = arith.addi %o3, %k2 : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %d = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %h = arith.truncf %d : tensor<32x32xf32> to tensor<32x32xf16>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %yp = tt.addptr %ys, %odd : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  tt.store %yp, %h : tensor<32x32x!tt.ptr<f16>>
  tt.return
}

// -----

// Four loads of every second element and one store: lanes are neighbours, so that a load touches few
// lines of memory.
// CHECK:       #[[LANES:.*]] = #ttgpu.layout<registers = {{\[}}[128], [256]], lanes = {{\[}}[1], [2], [4], [8], [16]], warps = {{\[}}[32], [64]]>
// CHECK-LABEL: @every_second
// CHECK-COUNT-4: tt.load {{.*}} : tensor<512x!tt.ptr<f32>, #[[LANES]]>
// CHECK:       tt.store {{.*}} : tensor<512x!tt.ptr<f32>, #[[LANES]]>
tt.func public @every_second(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %two = arith.constant dense<2> : tensor<512xi32>
  %j = arith.muli %i, %two : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %j : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %c1 = arith.constant dense<1> : tensor<512xi32>
  %x1 = tt.addptr %xp, %c1 : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %x2 = tt.addptr %x1, %c1 : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %x3 = tt.addptr %x2, %c1 : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %a = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %b = tt.load %x1 : tensor<512x!tt.ptr<f32>>
  %c = tt.load %x2 : tensor<512x!tt.ptr<f32>>
  %d = tt.load %x3 : tensor<512x!tt.ptr<f32>>
  %ab = arith.maxnumf %a, %b : tensor<512xf32>
  %cd = arith.maxnumf %c, %d : tensor<512xf32>
  %all = arith.maxnumf %ab, %cd : tensor<512xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %yp, %all : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

// Sums that are rounded, stored and multiplied once more are rounded where they lie: no f32 moves.
// CHECK-LABEL: @stored_and_multiplied
// CHECK:       %[[D:.*]] = tt.dot
// CHECK-NOT:   ttgpu.convert_layout {{.*}} tensor<32x32xf32
// CHECK:       tt.store {{.*}} : tensor<32x32x!tt.ptr<f16>
tt.func public @stored_and_multiplied(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %d = tt.dot %a, %a, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %h = arith.truncf %d : tensor<32x32xf32> to tensor<32x32xf16>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %yp = tt.addptr %ys, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  tt.store %yp, %h : tensor<32x32x!tt.ptr<f16>>
  %e = tt.dot %a, %h, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %zp = tt.addptr %zs, %off : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %zp, %e : tensor<32x32x!tt.ptr<f32>>
  tt.return
}

// -----

// f32 that is stored once behind a loop does not halve the vectors of bf16 that the loop loads and stores.
// CHECK:       #[[EIGHT:.*]] = #ttgpu.layout<registers = {{\[}}[1], [2], [4]], lanes = {{\[}}[8], [16], [32], [64], [128]], warps = {{\[}}[256], [512]]>
// CHECK-LABEL: @stored_behind_a_loop
// CHECK:       scf.for
// CHECK:         tt.load {{.*}} : tensor<1024x!tt.ptr<bf16>, #[[EIGHT]]>
// CHECK:         tt.store {{.*}} : tensor<1024x!tt.ptr<bf16>, #[[EIGHT]]>
tt.func public @stored_behind_a_loop(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<1024xf32>) : i32 {
    %at = arith.muli %k, %c1024 : i32
    %a = tt.splat %at : i32 -> tensor<1024xi32>
    %o = arith.addi %a, %i : tensor<1024xi32>
    %xp = tt.addptr %xs, %o : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %v = tt.load %xp : tensor<1024x!tt.ptr<bf16>>
    %w = arith.extf %v : tensor<1024xbf16> to tensor<1024xf32>
    %t = arith.addf %s, %w : tensor<1024xf32>
    %b = arith.truncf %t : tensor<1024xf32> to tensor<1024xbf16>
    tt.store %xp, %b : tensor<1024x!tt.ptr<bf16>>
    scf.yield %t : tensor<1024xf32>
  }
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %yp, %sum : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// -----

// Bytes that the matrix units take along the inner dim, and that lie across it, are loaded by four
// neighbours along it to a thread: each quadruple is a register of the instruction's.
// CHECK-DAG:   #[[ACROSS:.*]] = #ttgpu.layout<registers = {{\[}}[1, 0], [2, 0], [4, 0], [0, 1], [0, 2]], lanes = {{\[}}[8, 0], [16, 0], [32, 0], [0, 4], [0, 8]], warps = {{\[}}[0, 16], [0, 32]]>
// CHECK-DAG:   #[[OTHER:.*]] = #ttgpu.layout<registers = {{\[}}[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], lanes = {{\[}}[0, 8], [0, 16], [0, 32], [4, 0], [8, 0]], warps = {{\[}}[16, 0], [32, 0]]>
// CHECK-LABEL: @bytes_crosswise
// CHECK:       tt.load {{.*}} : tensor<64x64x!tt.ptr<i8>, #[[ACROSS]]>
// CHECK:       tt.load {{.*}} : tensor<64x64x!tt.ptr<i8>, #[[OTHER]]>
tt.func public @bytes_crosswise(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %ai = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ar = tt.expand_dims %ai {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ac = tt.expand_dims %ai {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %as = arith.constant dense<64> : tensor<1x64xi32>
  %am = arith.muli %ac, %as : tensor<1x64xi32>
  %aR = tt.broadcast %ar : tensor<64x1xi32> -> tensor<64x64xi32>
  %aC = tt.broadcast %am : tensor<1x64xi32> -> tensor<64x64xi32>
  %ao = arith.addi %aR, %aC : tensor<64x64xi32>
  %ab = tt.splat %a : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %ap = tt.addptr %ab, %ao : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %av = tt.load %ap : tensor<64x64x!tt.ptr<i8>>
  %bi = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %br = tt.expand_dims %bi {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %bc = tt.expand_dims %bi {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %bs = arith.constant dense<64> : tensor<64x1xi32>
  %bm = arith.muli %br, %bs : tensor<64x1xi32>
  %bR = tt.broadcast %bm : tensor<64x1xi32> -> tensor<64x64xi32>
  %bC = tt.broadcast %bc : tensor<1x64xi32> -> tensor<64x64xi32>
  %bo = arith.addi %bR, %bC : tensor<64x64xi32>
  %bb = tt.splat %b : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %bp = tt.addptr %bb, %bo : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %bv = tt.load %bp : tensor<64x64x!tt.ptr<i8>>
  %d = tt.dot %av, %bv, %zero : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %bo : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
  tt.store %yp, %d : tensor<64x64x!tt.ptr<i32>>
  tt.return
}

// -----

// Along it they come as they lie, sixteen to a thread.
// CHECK-DAG:   #[[ROWS:.*]] = #ttgpu.layout<registers = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [32, 0]], lanes = {{\[}}[0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], warps = {{\[}}[8, 0], [16, 0]]>
// CHECK-DAG:   #[[COLUMNS:.*]] = #ttgpu.layout<registers = {{\[}}[1, 0], [2, 0], [4, 0], [8, 0], [0, 32]], lanes = {{\[}}[16, 0], [32, 0], [0, 1], [0, 2], [0, 4]], warps = {{\[}}[0, 8], [0, 16]]>
// CHECK-LABEL: @bytes_inner
// CHECK:       tt.load {{.*}} : tensor<64x64x!tt.ptr<i8>, #[[ROWS]]>
// CHECK:       tt.load {{.*}} : tensor<64x64x!tt.ptr<i8>, #[[COLUMNS]]>
tt.func public @bytes_inner(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %ai = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ar = tt.expand_dims %ai {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ac = tt.expand_dims %ai {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %as = arith.constant dense<64> : tensor<64x1xi32>
  %am = arith.muli %ar, %as : tensor<64x1xi32>
  %aR = tt.broadcast %am : tensor<64x1xi32> -> tensor<64x64xi32>
  %aC = tt.broadcast %ac : tensor<1x64xi32> -> tensor<64x64xi32>
  %ao = arith.addi %aR, %aC : tensor<64x64xi32>
  %ab = tt.splat %a : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %ap = tt.addptr %ab, %ao : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %av = tt.load %ap : tensor<64x64x!tt.ptr<i8>>
  %bi = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %br = tt.expand_dims %bi {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %bc = tt.expand_dims %bi {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %bs = arith.constant dense<64> : tensor<1x64xi32>
  %bm = arith.muli %bc, %bs : tensor<1x64xi32>
  %bR = tt.broadcast %br : tensor<64x1xi32> -> tensor<64x64xi32>
  %bC = tt.broadcast %bm : tensor<1x64xi32> -> tensor<64x64xi32>
  %bo = arith.addi %bR, %bC : tensor<64x64xi32>
  %bb = tt.splat %b : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %bp = tt.addptr %bb, %bo : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %bv = tt.load %bp : tensor<64x64x!tt.ptr<i8>>
  %d = tt.dot %av, %bv, %zero : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %bo : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
  tt.store %yp, %d : tensor<64x64x!tt.ptr<i32>>
  tt.return
}

// -----

// Tiles that lie element by element in turn, as unpacked weights do: each thread has one of either for every
// place, so that a join is no choice at run time.
// CHECK:       #[[PAIRS:.*]] = #ttgpu.layout<registers = {{\[}}[0, 1], {{.*}}lanes = {{\[}}[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]]
// CHECK-LABEL: @interleaved
// CHECK:       tt.dot {{.*}} * tensor<32x32xf16, #[[PAIRS]]>
tt.func public @interleaved(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %h = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %h3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x16xi32>
  %h1 = tt.expand_dims %h {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %h2 = tt.broadcast %h1 : tensor<1x16xi32> -> tensor<32x16xi32>
  %half = arith.addi %h3, %h2 : tensor<32x16xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %off : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %a = tt.load %xp : tensor<32x32x!tt.ptr<f16>>
  %ws = tt.splat %x : !tt.ptr<f16> -> tensor<32x16x!tt.ptr<f16>>
  %wp = tt.addptr %ws, %half : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>
  %w = tt.load %wp : tensor<32x16x!tt.ptr<f16>>
  %v = arith.negf %w : tensor<32x16xf16>
  %both = tt.join %w, %v : tensor<32x16xf16> -> tensor<32x16x2xf16>
  %b = tt.reshape %both : tensor<32x16x2xf16> -> tensor<32x32xf16>
  %m = arith.mulf %b, %b : tensor<32x32xf16>
  %d = tt.dot %a, %m, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %off : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %yp, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
