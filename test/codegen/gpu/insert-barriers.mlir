// RUN: pellucid-opt %s --split-input-file --ttgpu-choose-products="generation-only=true" --ttgpu-pipeline-loops --ttgpu-choose-layouts --ttgpu-allocate-shared --ttgpu-insert-barriers | FileCheck %s

// Two reductions over the warps take turns in shared memory, so their own barriers are enough.
// CHECK-LABEL: @take_turns
// CHECK-SAME:  ttgpu.shared_bytes = 32 : i32
// CHECK-NOT:   ttgpu.barrier
// CHECK:       "tt.reduce"{{.*}}
// CHECK:       ttgpu.offset = 0 : i32
// CHECK-NOT:   ttgpu.barrier
// CHECK:       ttgpu.offset = 16 : i32
// CHECK-NOT:   ttgpu.barrier
// CHECK:       tt.return
tt.func public @take_turns(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %a = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %q : f32
    tt.reduce.return %sum : f32
  }) : (tensor<512xf32>) -> f32
  %m = "tt.reduce"(%a) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %most = arith.maxnumf %p, %q : f32
    tt.reduce.return %most : f32
  }) : (tensor<512xf32>) -> f32
  %both = arith.addf %s, %m : f32
  tt.store %y, %both : !tt.ptr<f32>
  tt.return
}

// -----

// What one round reads, the next one writes again.
// CHECK-LABEL: @once_a_round
// CHECK:       scf.for
// CHECK:         ttgpu.barrier
// CHECK-NEXT:    "tt.reduce"
tt.func public @once_a_round(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %total = scf.for %r = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) : i32 {
    %rs = tt.splat %r : i32 -> tensor<512xi32>
    %at = arith.addi %rs, %i : tensor<512xi32>
    %xp = tt.addptr %xs, %at : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    %a = tt.load %xp : tensor<512x!tt.ptr<f32>>
    %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tt.reduce.return %sum : f32
    }) : (tensor<512xf32>) -> f32
    %u = arith.addf %t, %s : f32
    scf.yield %u : f32
  }
  tt.store %y, %total : !tt.ptr<f32>
  tt.return
}

// -----

// A thread is sure of its own elements; those at other offsets were written by another one. Other
// arguments are other memory.
// CHECK-LABEL: @global_memory
// CHECK:       tt.store
// CHECK-NOT:   ttgpu.barrier
// CHECK:       tt.load
// CHECK:       ttgpu.barrier
// CHECK-NEXT:  tt.load
// CHECK-NOT:   ttgpu.barrier
// CHECK:       tt.return
tt.func public @global_memory(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %one = arith.constant dense<1> : tensor<512xi32>
  %v = arith.constant dense<1.0> : tensor<512xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %xp, %v : tensor<512x!tt.ptr<f32>>
  %a = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %j = arith.addi %i, %one : tensor<512xi32>
  %xq = tt.addptr %xs, %j : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %b = tt.load %xq : tensor<512x!tt.ptr<f32>>
  %c = arith.addf %a, %b : tensor<512xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %j : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %yp, %c : tensor<512x!tt.ptr<f32>>
  tt.return
}

// -----

// One thread of the block stores a scalar, and of those that hold an element together one stores it;
// all of them load it.
// CHECK-LABEL: @held_by_several_threads
// CHECK:       tt.store
// CHECK:       ttgpu.barrier
// CHECK-NEXT:  tt.load %arg0
// CHECK:       tt.store {{.*}}32x!tt.ptr<f32>
// CHECK:       ttgpu.barrier
// CHECK-NEXT:  tt.load {{.*}}32x!tt.ptr<f32>
// CHECK:       tt.return
tt.func public @held_by_several_threads(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>) {
  %one = arith.constant 1.0 : f32
  tt.store %x, %one : !tt.ptr<f32>
  %a = tt.load %x : !tt.ptr<f32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %as = tt.splat %a : f32 -> tensor<32xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %yp, %as : tensor<32x!tt.ptr<f32>>
  %b = tt.load %yp : tensor<32x!tt.ptr<f32>>
  %s = "tt.reduce"(%b) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %q : f32
    tt.reduce.return %sum : f32
  }) : (tensor<32xf32>) -> f32
  tt.store %z, %s : !tt.ptr<f32>
  tt.return
}

// -----

// What becomes elements of stores alone is used by the thread that stores it: others may load what
// they like. An address of a load is used by all.
// CHECK-LABEL: @stored_by_those_that_load
// CHECK-NOT:   ttgpu.barrier
// CHECK:       tt.return
// CHECK-LABEL: @loaded_by_all
// CHECK:       tt.load
// CHECK:       tt.load
// CHECK:       ttgpu.barrier
// CHECK-NEXT:  tt.store
// CHECK:       tt.return
tt.func public @stored_by_those_that_load(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %half = arith.constant dense<64> : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %at = arith.muli %k, %c128 : i32
    %a = tt.splat %at : i32 -> tensor<64xi32>
    %o = arith.addi %a, %i : tensor<64xi32>
    %p = tt.addptr %xs, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %u = tt.load %p : tensor<64x!tt.ptr<f32>>
    %o2 = arith.addi %o, %half : tensor<64xi32>
    %q = tt.addptr %xs, %o2 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    %sum = arith.addf %u, %v : tensor<64xf32>
    tt.store %p, %sum : tensor<64x!tt.ptr<f32>>
    %difference = arith.subf %u, %v : tensor<64xf32>
    tt.store %q, %difference : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
tt.func public @loaded_by_all(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %p = tt.addptr %xs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %w = tt.load %p : tensor<64x!tt.ptr<i32>>
  %q = tt.addptr %ys, %w : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<i32>>
  tt.store %p, %v : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// The last product of the loop is awaited by each warpgroup for itself: what is exchanged behind
// the loop, where its operands lay, waits for the others.
// CHECK-LABEL: @behind_a_running_product
// CHECK:       scf.for
// CHECK:       ttgpu.await_products
// CHECK-NOT:   "tt.reduce"
// CHECK:       ttgpu.barrier
// CHECK-NEXT:  "tt.reduce"
tt.func public @behind_a_running_product(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %rounds: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %row = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %s64 = arith.constant dense<64> : tensor<64x1xi32>
  %r2 = arith.muli %r1, %s64 : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x64xi32>
  %k1 = tt.expand_dims %row {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tt.broadcast %k1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %off = arith.addi %r3, %k2 : tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.muli %i, %c4096 : i32
    %pa = tt.addptr %a, %at : !tt.ptr<bf16>, i32
    %pas = tt.splat %pa : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
    %pat = tt.addptr %pas, %off : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
    %x = tt.load %pat : tensor<64x64x!tt.ptr<bf16>>
    %d = tt.dot %x, %x, %acc : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %rows = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %both = arith.addf %p, %q : f32
    tt.reduce.return %both : f32
  }) : (tensor<64x64xf32>) -> tensor<64xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %op = tt.addptr %os, %row : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %op, %rows : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// A scan along lanes has no barrier of its own and takes no shared memory, so it orders nothing.
// CHECK-LABEL: @scan_within_warps
// CHECK:       "tt.reduce"
// CHECK:       ttgpu.offset = 0 : i32
// CHECK:       "tt.scan"
// CHECK-NOT:   ttgpu.offset
// CHECK:       tt.store
tt.func public @scan_within_warps(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %i2 = tt.broadcast %i1 : tensor<1x16xi32> -> tensor<32x16xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %c16 = arith.constant dense<16> : tensor<32x1xi32>
  %r2 = arith.muli %r1, %c16 : tensor<32x1xi32>
  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x16xi32>
  %at = arith.addi %i2, %r3 : tensor<32x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %at : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
  %total = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> (f32) : i32 {
    %a = tt.load %xp : tensor<32x16x!tt.ptr<f32>>
    %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tt.reduce.return %sum : f32
    }) : (tensor<32x16xf32>) -> tensor<16xf32>
    %v = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tt.scan.return %sum : f32
    }) : (tensor<32x16xf32>) -> tensor<32x16xf32>
    tt.store %xp, %v : tensor<32x16x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.store %yp, %s : tensor<16x!tt.ptr<f32>>
    scf.yield %t : f32
  }
  tt.return
}

// -----

// Nobody sees in which order the one write of a program comes.
// CHECK-LABEL: @alone
// CHECK:       tt.atomic_rmw fadd, relaxed, gpu
tt.func public @alone(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %a = tt.load %x : !tt.ptr<f32>
  %true = arith.constant true
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %y, %a, %true : (!tt.ptr<f32>, f32, i1) -> f32
  tt.return
}

// -----

// What was stored before is seen by whoever sees the lock open.
// CHECK-LABEL: @gives_free
// CHECK:       tt.store
// CHECK:       tt.atomic_rmw exch, acq_rel, gpu
tt.func public @gives_free(%x: !tt.ptr<f32>, %lock: !tt.ptr<i32>) {
  %a = arith.constant 1.0 : f32
  %zero = arith.constant 0 : i32
  %true = arith.constant true
  tt.store %x, %a : !tt.ptr<f32>
  %old = tt.atomic_rmw exch, acq_rel, gpu, %lock, %zero, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// -----

// Rounds are several.
// CHECK-LABEL: @in_rounds
// CHECK:       tt.atomic_rmw add, acq_rel, gpu
tt.func public @in_rounds(%count: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  scf.for %i = %zero to %n step %one : i32 {
    %old = tt.atomic_rmw add, acq_rel, gpu, %count, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  }
  tt.return
}

// -----

// Rounds that write elements of their own, or those of the same thread, wait for nobody.
// CHECK-LABEL: @rows_of_rounds
// CHECK-NOT:   ttgpu.barrier
// CHECK:       tt.return
tt.func public @rows_of_rounds(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %where: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %v = arith.constant dense<1.0> : tensor<512xf32>
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %zp = tt.addptr %zs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %zp, %v : tensor<512x!tt.ptr<f32>>
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c512) -> (i32) : i32 {
    %a = tt.splat %at : i32 -> tensor<512xi32>
    %o = arith.addi %a, %i : tensor<512xi32>
    %xp = tt.addptr %xs, %o : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %xp, %v : tensor<512x!tt.ptr<f32>>
    %wp = tt.addptr %where, %k : !tt.ptr<i32>, i32
    %w = tt.load %wp : !tt.ptr<i32>
    %row = arith.muli %w, %c512 : i32
    %yq = tt.addptr %y, %row : !tt.ptr<f32>, i32
    %ys = tt.splat %yq : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %yp, %v : tensor<512x!tt.ptr<f32>>
    %b = tt.load %zp : tensor<512x!tt.ptr<f32>>
    %s = arith.addf %b, %v : tensor<512xf32>
    tt.store %zp, %s : tensor<512x!tt.ptr<f32>>
    %next = arith.addi %at, %c512 : i32
    scf.yield %next : i32
  }
  tt.return
}

// -----

// A round writes columns beside those of the others: the tile's rows are further apart than all
// rounds reach. One round more, and the last one meets the next row of the first.
// CHECK-LABEL: @columns_of_rounds
// CHECK-NOT:   ttgpu.barrier
// CHECK:       tt.return
// CHECK-LABEL: @columns_that_meet
// CHECK:       scf.for
// CHECK:         ttgpu.barrier
// CHECK-NEXT:    tt.store
tt.func public @columns_of_rounds(%x: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %v = arith.constant dense<1.0> : tensor<32x16xf32>
  %row = arith.constant dense<64> : tensor<32x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r = arith.muli %i1, %row : tensor<32x1xi32>
  %rs = tt.broadcast %r : tensor<32x1xi32> -> tensor<32x16xi32>
  %j = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  scf.for %k = %c0 to %c64 step %c16 : i32 {
    %ks = tt.splat %k : i32 -> tensor<16xi32>
    %c = arith.addi %ks, %j : tensor<16xi32>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %cs = tt.broadcast %c1 : tensor<1x16xi32> -> tensor<32x16xi32>
    %o = arith.addi %rs, %cs : tensor<32x16xi32>
    %p = tt.addptr %xs, %o : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
    tt.store %p, %v : tensor<32x16x!tt.ptr<f32>>
  }
  tt.return
}
tt.func public @columns_that_meet(%x: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c65 = arith.constant 65 : i32
  %v = arith.constant dense<1.0> : tensor<32x16xf32>
  %row = arith.constant dense<64> : tensor<32x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r = arith.muli %i1, %row : tensor<32x1xi32>
  %rs = tt.broadcast %r : tensor<32x1xi32> -> tensor<32x16xi32>
  %j = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  scf.for %k = %c0 to %c65 step %c16 : i32 {
    %ks = tt.splat %k : i32 -> tensor<16xi32>
    %c = arith.addi %ks, %j : tensor<16xi32>
    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %cs = tt.broadcast %c1 : tensor<1x16xi32> -> tensor<32x16xi32>
    %o = arith.addi %rs, %cs : tensor<32x16xi32>
    %p = tt.addptr %xs, %o : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
    tt.store %p, %v : tensor<32x16x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Rows that overlap, those at places of which nothing is known, and a row that begins elsewhere than
// the one before the loop.
// CHECK-LABEL: @rows_that_meet
// CHECK:       scf.for
// CHECK:         ttgpu.barrier
// CHECK-NEXT:    tt.store
// CHECK:       scf.for
// CHECK:         ttgpu.barrier
// CHECK-NEXT:    tt.store
// CHECK:       tt.store
// CHECK:       scf.for
// CHECK:         ttgpu.barrier
// CHECK-NEXT:    tt.store
tt.func public @rows_that_meet(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %where: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %c512 = arith.constant 512 : i32
  %v = arith.constant dense<1.0> : tensor<512xf32>
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %at = arith.muli %k, %c256 : i32
    %a = tt.splat %at : i32 -> tensor<512xi32>
    %o = arith.addi %a, %i : tensor<512xi32>
    %xp = tt.addptr %xs, %o : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %xp, %v : tensor<512x!tt.ptr<f32>>
  }
  scf.for %k = %c0 to %n step %c1 : i32 {
    %wp = tt.addptr %where, %k : !tt.ptr<i32>, i32
    %w = tt.load %wp : !tt.ptr<i32>
    %yq = tt.addptr %y, %w : !tt.ptr<f32>, i32
    %ys = tt.splat %yq : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %yp, %v : tensor<512x!tt.ptr<f32>>
  }
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %zp = tt.addptr %zs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %zp, %v : tensor<512x!tt.ptr<f32>>
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c1) -> (i32) : i32 {
    %a = tt.splat %at : i32 -> tensor<512xi32>
    %o = arith.addi %a, %i : tensor<512xi32>
    %zq = tt.addptr %zs, %o : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    tt.store %zq, %v : tensor<512x!tt.ptr<f32>>
    %next = arith.addi %at, %c512 : i32
    scf.yield %next : i32
  }
  tt.return
}
