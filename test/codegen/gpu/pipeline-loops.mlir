// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-pipeline-loops | FileCheck %s

// The sum only grows, so its product runs into the next round: its operands are released, not it.
// CHECK-LABEL: @only_adds
// CHECK-SAME:  ttgpu.target = #ttgpu.target<sm = 90, warps = 4, stages = 3, mostStages = 8, generationOnly = true>
// CHECK:       %[[A:.*]] = ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
// CHECK:       %[[B:.*]] = ttgpu.alloc_shared : <3 of tensor<32x64xbf16> along 1>
// Two rounds ahead of the loop.
// CHECK:       ttgpu.async_copy {{.*}} to %[[A]]
// CHECK:       ttgpu.commit_copies
// CHECK:       ttgpu.async_copy {{.*}} to %[[A]]
// CHECK:       ttgpu.commit_copies
// CHECK-NOT:   ttgpu.commit_copies
// CHECK:       %[[LOOP:.*]]:{{.*}} = scf.for
// CHECK:         ttgpu.await_copies 1
// CHECK-NEXT:    ttgpu.barrier
// CHECK:         %[[X:.*]] = ttgpu.read_shared %[[A]]
// CHECK:         %[[Y:.*]] = ttgpu.read_shared %[[B]]
// CHECK:         tt.dot %[[X]], %[[Y]], {{.*}}ttgpu.runs, ttgpu.unit = #ttgpu.unit<warpgroup>
// CHECK-NOT:     ttgpu.async_copy
// CHECK:         ttgpu.release_operands
// CHECK-NEXT:    ttgpu.barrier
// CHECK:         ttgpu.async_copy
// CHECK:         ttgpu.commit_copies
// CHECK-NOT:     tt.load
// CHECK:       ttgpu.await_products %[[LOOP]]#0, 0
// CHECK:       ttgpu.await_copies 0
// CHECK:       ttgpu.free_shared %[[A]], %[[B]]
tt.func public @only_adds(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2048 = arith.constant 2048 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s32 = arith.constant dense<32> : tensor<64x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %offA = arith.addi %r3, %k2 : tensor<64x32xi32>
  %kr = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s64 = arith.constant dense<64> : tensor<32x1xi32>
  %kr1 = arith.muli %kr, %s64 : tensor<32x1xi32>
  %kr2 = tt.broadcast %kr1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %c = tt.expand_dims %row {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c3 = tt.broadcast %c : tensor<1x64xi32> -> tensor<32x64xi32>
  %offB = arith.addi %kr2, %c3 : tensor<32x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c2048 : i32
    %pa = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %pas = tt.splat %pa : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
    %pat = tt.addptr %pas, %offA : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %x = tt.load %pat : tensor<64x32x!tt.ptr<bf16>>
    %pb = tt.addptr %b, %at : !tt.ptr<bf16>, i32
    %pbs = tt.splat %pb : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
    %pbt = tt.addptr %pbs, %offB : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
    %y = tt.load %pbt : tensor<32x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %y, %acc : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r4 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %r4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Two products that only add, each to its own sum, run into the next round together: its copies wait
// until those of the round before have read what they write over.
// CHECK-LABEL: @two_sums
// CHECK:       %[[LOOP:.*]]:{{.*}} = scf.for
// CHECK:         ttgpu.await_copies 1
// CHECK:         tt.dot {{.*}}ttgpu.runs
// CHECK-NOT:     ttgpu.await_products
// CHECK:         tt.dot {{.*}}ttgpu.runs
// CHECK-NOT:     ttgpu.async_copy
// CHECK:         ttgpu.release_operands 2
// CHECK-NEXT:    ttgpu.barrier
// CHECK:         ttgpu.async_copy
// CHECK-NOT:     ttgpu.await_products
// CHECK:         scf.yield
// CHECK-DAG:   ttgpu.await_products %[[LOOP]]#0, 0
// CHECK-DAG:   ttgpu.await_products %[[LOOP]]#1, 0
tt.func public @two_sums(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %off2 = arith.constant dense<128> : tensor<32x64xi32>
  %c1 = arith.constant 1 : i32
  %c2048 = arith.constant 2048 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s32 = arith.constant dense<32> : tensor<64x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %offA = arith.addi %r3, %k2 : tensor<64x32xi32>
  %kr = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s64 = arith.constant dense<64> : tensor<32x1xi32>
  %kr1 = arith.muli %kr, %s64 : tensor<32x1xi32>
  %kr2 = tt.broadcast %kr1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %c = tt.expand_dims %row {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c3 = tt.broadcast %c : tensor<1x64xi32> -> tensor<32x64xi32>
  %offB = arith.addi %kr2, %c3 : tensor<32x64xi32>
  %sum:2 = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero, %other = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c2048 : i32
    %pa = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %pas = tt.splat %pa : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
    %pat = tt.addptr %pas, %offA : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %x = tt.load %pat : tensor<64x32x!tt.ptr<bf16>>
    %pb = tt.addptr %b, %at : !tt.ptr<bf16>, i32
    %pbs = tt.splat %pb : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
    %pbt = tt.addptr %pbs, %offB : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
    %y = tt.load %pbt : tensor<32x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %y, %acc : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
    %pct = tt.addptr %pbt, %off2 : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
    %z = tt.load %pct : tensor<32x64x!tt.ptr<bf16>>
    %e = tt.dot %x, %z, %other : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %r4 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %r4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %both = arith.addf %sum#0, %sum#1 : tensor<64x64xf32>
  tt.store %op, %both : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// The address of a round comes out of a branch, and the right operand is made by arithmetic from
// what is loaded (with a scale per column): the branch is cloned, and all three loads are copies.
// CHECK-LABEL: @branch_and_scale
// CHECK:       ttgpu.alloc_shared : <3 of tensor<64x32xbf16> along 1>
// CHECK:       ttgpu.alloc_shared : <3 of tensor<32x64xi8> along 1>
// CHECK:       ttgpu.alloc_shared : <3 of tensor<64xbf16> along 0>
// CHECK:       scf.if
// CHECK:       ttgpu.async_copy
// CHECK:       scf.if
// CHECK:       ttgpu.async_copy
// CHECK:       scf.for
// CHECK-NOT:     tt.load
// CHECK:         ttgpu.read_shared {{.*}} -> tensor<64x32xbf16>
// CHECK:         ttgpu.read_shared {{.*}} -> tensor<32x64xi8>
// CHECK:         ttgpu.read_shared {{.*}} -> tensor<64xbf16>
// CHECK:         tt.dot {{.*}}ttgpu.runs
// CHECK:         scf.if
// CHECK:         ttgpu.async_copy
// CHECK:         ttgpu.await_products
tt.func public @branch_and_scale(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %s: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2048 = arith.constant 2048 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s32 = arith.constant dense<32> : tensor<64x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %offA = arith.addi %r3, %k2 : tensor<64x32xi32>
  %kr = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s64 = arith.constant dense<64> : tensor<32x1xi32>
  %kr1 = arith.muli %kr, %s64 : tensor<32x1xi32>
  %kr2 = tt.broadcast %kr1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %c = tt.expand_dims %row {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c3 = tt.broadcast %c : tensor<1x64xi32> -> tensor<32x64xi32>
  %offB = arith.addi %kr2, %c3 : tensor<32x64xi32>
  %sum:2 = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero, %tile = %c0) -> (tensor<64x64xf32>, i32) : i32 {
    %first = arith.cmpi eq, %i, %c0 : i32
    %next = scf.if %first -> (i32) {
      %more = arith.addi %tile, %c2048 : i32
      scf.yield %more : i32
    } else {
      scf.yield %tile : i32
    }
    %pa = tt.addptr %a, %next : !tt.ptr<bf16>, i32
    %pas = tt.splat %pa : !tt.ptr<bf16> -> tensor<64x32x!tt.ptr<bf16>>
    %pat = tt.addptr %pas, %offA : tensor<64x32x!tt.ptr<bf16>>, tensor<64x32xi32>
    %x = tt.load %pat : tensor<64x32x!tt.ptr<bf16>>
    %pb = tt.addptr %b, %next : !tt.ptr<i8>, i32
    %pbs = tt.splat %pb : !tt.ptr<i8> -> tensor<32x64x!tt.ptr<i8>>
    %pbt = tt.addptr %pbs, %offB : tensor<32x64x!tt.ptr<i8>>, tensor<32x64xi32>
    %codes = tt.load %pbt : tensor<32x64x!tt.ptr<i8>>
    %ps = tt.addptr %s, %next : !tt.ptr<bf16>, i32
    %pss = tt.splat %ps : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %pst = tt.addptr %pss, %row : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %scale = tt.load %pst : tensor<64x!tt.ptr<bf16>>
    %scale1 = tt.expand_dims %scale {axis = 0 : i32} : tensor<64xbf16> -> tensor<1x64xbf16>
    %scale2 = tt.broadcast %scale1 : tensor<1x64xbf16> -> tensor<32x64xbf16>
    %y0 = arith.sitofp %codes : tensor<32x64xi8> to tensor<32x64xbf16>
    %y = arith.mulf %y0, %scale2 : tensor<32x64xbf16>
    %d = tt.dot %x, %y, %acc : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %d, %next : tensor<64x64xf32>, i32
  }
  %r4 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %r4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %sum#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// What the loop writes through the pointer that it reads, carried or not, must not be read early.
// CHECK-LABEL: @written_meanwhile
// CHECK-NOT:   ttgpu.async_copy
tt.func public @written_meanwhile(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %k = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %s32 = arith.constant dense<32> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %s32 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x32xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %k2 = tt.broadcast %k1 : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %r3, %k2 : tensor<32x32xi32>
  %all = tt.splat %a : !tt.ptr<bf16> -> tensor<32x32x!tt.ptr<bf16>>
  %to = tt.addptr %all, %off : tensor<32x32x!tt.ptr<bf16>>, tensor<32x32xi32>
  %sum:2 = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero, %p = %a) -> (tensor<32x32xf32>, !tt.ptr<bf16>) : i32 {
    %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<32x32x!tt.ptr<bf16>>
    %pt = tt.addptr %ps, %off : tensor<32x32x!tt.ptr<bf16>>, tensor<32x32xi32>
    %x = tt.load %pt : tensor<32x32x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
    %w = arith.truncf %d : tensor<32x32xf32> to tensor<32x32xbf16>
    tt.store %to, %w : tensor<32x32x!tt.ptr<bf16>>
    %q = tt.addptr %p, %c1024 : !tt.ptr<bf16>, i32
    scf.yield %d, %q : tensor<32x32xf32>, !tt.ptr<bf16>
  }
  tt.return
}

// -----

// A loop that copies nothing ahead, for its loads are in a branch: what its products take from before it is put
// down once all the same.
// CHECK-LABEL: @in_a_branch
// CHECK:       %[[B:.*]] = ttgpu.alloc_shared
// CHECK:       ttgpu.share {{.*}}, %[[B]]
// CHECK:       %[[X:.*]] = ttgpu.read_shared %[[B]]
// CHECK:       scf.for
// CHECK:         scf.if
// CHECK:           tt.dot %[[X]],
// CHECK:       ttgpu.free_shared %[[B]]
tt.func public @in_a_branch(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %where: !tt.ptr<i32>, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s64 = arith.constant dense<64> : tensor<64x1xi32>
  %r2 = arith.muli %r1, %s64 : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %k1 = tt.expand_dims %row {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tt.broadcast %k1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %r3, %k2 : tensor<64x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  %xp = tt.addptr %xs, %off : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  %a = tt.load %xp : tensor<64x64x!tt.ptr<bf16>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %wp = tt.addptr %where, %i : !tt.ptr<i32>, i32
    %w = tt.load %wp : !tt.ptr<i32>
    %takes = arith.cmpi sge, %w, %c0 : i32
    %next = scf.if %takes -> (tensor<64x64xf32>) {
      %p = tt.addptr %x, %w : !tt.ptr<bf16>, i32
      %ps = tt.splat %p : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
      %pt = tt.addptr %ps, %off : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
      %y = tt.load %pt : tensor<64x64x!tt.ptr<bf16>>
      %d = tt.dot %a, %y, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %acc : tensor<64x64xf32>
    }
    scf.yield %next : tensor<64x64xf32>
  }
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %off : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %op, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
