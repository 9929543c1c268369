// RUN: pellucid-opt %s --split-input-file --canonicalize --tt-annotate-axis-info | FileCheck %s

// The tutorial's product: rows and columns are taken modulo the sizes, whose divisors the launch
// knows. Sixteen columns at a time stay neighbours.
// CHECK-LABEL: @remainder_of_a_divisible_size
tt.func public @remainder_of_a_divisible_size(%p: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %pid: i32) {
  %c128 = arith.constant 128 : i32
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %first = arith.muli %pid, %c128 : i32
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %columns = arith.addi %firsts, %range : tensor<128xi32>
  %size = tt.splat %n : i32 -> tensor<128xi32>
  // CHECK: arith.remsi {{.*}}contiguity = [16], divisibility = [16], constancy = [1]
  %inside = arith.remsi %columns, %size : tensor<128xi32>
  %base = tt.splat %p : !tt.ptr<bf16> -> tensor<128x!tt.ptr<bf16>>
  // CHECK: tt.addptr {{.*}}contiguity = [16], divisibility = [16], constancy = [1]
  %at = tt.addptr %base, %inside : tensor<128x!tt.ptr<bf16>>, tensor<128xi32>
  // CHECK: arith.cmpi slt{{.*}}contiguity = [1], divisibility = [1], constancy = [16]
  %mask = arith.cmpi slt, %columns, %size : tensor<128xi32>
  %x = tt.load %at, %mask : tensor<128x!tt.ptr<bf16>>
  tt.store %at, %x : tensor<128x!tt.ptr<bf16>>
  tt.return
}

// -----

// Of a size that may be odd nothing follows.
// CHECK-LABEL: @remainder_of_any_size
tt.func public @remainder_of_any_size(%p: !tt.ptr<i32>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %size = tt.splat %n : i32 -> tensor<64xi32>
  // CHECK: arith.remsi {{.*}}contiguity = [1], divisibility = [1], constancy = [1]
  %inside = arith.remsi %range, %size : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %base, %inside : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  // CHECK: arith.cmpi slt{{.*}}constancy = [1]
  %mask = arith.cmpi slt, %range, %size : tensor<64xi32>
  tt.store %at, %inside, %mask : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// The remainder of a number below zero is zero or negative: -64 % 64 = 0, -63 % 64 = -63.
// CHECK-LABEL: @remainder_below_zero
tt.func public @remainder_below_zero(%p: !tt.ptr<i32>, %n: i32 {tt.divisibility = 16 : i32}, %shift: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %shifts = tt.splat %shift : i32 -> tensor<64xi32>
  // CHECK: arith.subi {{.*}}contiguity = [64], divisibility = [16], constancy = [1], falls below zero
  %before = arith.subi %range, %shifts : tensor<64xi32>
  %size = tt.splat %n : i32 -> tensor<64xi32>
  // CHECK: arith.remsi {{.*}}contiguity = [1], divisibility = [1]
  %inside = arith.remsi %before, %size : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %base, %inside : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %at, %inside : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// Rows whose numbers are loaded: neighbours along the columns remain.
// CHECK-LABEL: @loaded_rows
tt.func public @loaded_rows(%p: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %rows: !tt.ptr<i32>, %stride: i32 {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rowBase = tt.splat %rows : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %rowAt = tt.addptr %rowBase, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  // CHECK: tt.load {{.*}}contiguity = [1], divisibility = [1], constancy = [1]
  %row = tt.load %rowAt : tensor<32x!tt.ptr<i32>>
  %strides = tt.splat %stride : i32 -> tensor<32xi32>
  // CHECK: arith.muli {{.*}}divisibility = [16]
  %begin = arith.muli %row, %strides : tensor<32xi32>
  %begins = tt.expand_dims %begin {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %columns = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %a = tt.broadcast %begins : tensor<32x1xi32> -> tensor<32x64xi32>
  %b = tt.broadcast %columns : tensor<1x64xi32> -> tensor<32x64xi32>
  // CHECK: arith.addi {{.*}}contiguity = [1, 64], divisibility = [1, 16], constancy = [1, 1]
  %offset = arith.addi %a, %b : tensor<32x64xi32>
  %base = tt.splat %p : !tt.ptr<bf16> -> tensor<32x64x!tt.ptr<bf16>>
  // CHECK: tt.addptr {{.*}}contiguity = [1, 64], divisibility = [2, 16], constancy = [1, 1]
  %at = tt.addptr %base, %offset : tensor<32x64x!tt.ptr<bf16>>, tensor<32x64xi32>
  %x = tt.load %at : tensor<32x64x!tt.ptr<bf16>>
  tt.store %at, %x : tensor<32x64x!tt.ptr<bf16>>
  tt.return
}

// -----

// What a loop carries: the greatest common divisor of where it starts and of its steps.
// CHECK-LABEL: @carried
tt.func public @carried(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %step: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  // CHECK: scf.for
  %end = scf.for %i = %c0 to %n step %c8 iter_args(%offset = %c4) -> (i32) : i32 {
    // CHECK: tt.addptr {{.*}}divisibility = [16]
    %at = tt.addptr %p, %offset : !tt.ptr<f32>, i32
    %x = arith.sitofp %i : i32 to f32
    tt.store %at, %x : !tt.ptr<f32>
    %next = arith.addi %offset, %step : i32
    scf.yield %next : i32
  // CHECK: pellucid.axis_info_arguments = ["contiguity = [1], divisibility = [8], constancy = [1], nonnegative", "contiguity = [1], divisibility = [4], constancy = [1]"]
  }
  tt.return
}

// -----

// Hints and assumptions of the source.
// CHECK-LABEL: @promised
tt.func public @promised(%p: !tt.ptr<i32>, %n: i32, %k: i32) {
  %c16 = arith.constant 16 : i32
  %c0 = arith.constant 0 : i32
  %rest = arith.remsi %k, %c16 : i32
  %divides = arith.cmpi eq, %rest, %c0 : i32
  llvm.intr.assume %divides : i1
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %size = tt.splat %n : i32 -> tensor<64xi32>
  %zero = arith.constant dense<0> : tensor<64xi32>
  %below = arith.cmpi slt, %range, %size : tensor<64xi32>
  // CHECK: arith.select {{.*}}contiguity = [64], divisibility = [64]
  %rows = arith.select %below, %range, %zero {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi1>, tensor<64xi32>
  // CHECK: arith.select {{.*}}contiguity = [1], divisibility = [1]
  %unknown = arith.select %below, %range, %zero : tensor<64xi1>, tensor<64xi32>
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  // CHECK: tt.splat {{.*}}divisibility = [16], constancy = [64]
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %base, %rows : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %sum = arith.addi %unknown, %ks : tensor<64xi32>
  tt.store %at, %sum : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// An assumption in a loop holds of what the loop computes, one in a branch not of what lies outside.
// CHECK-LABEL: @promised_inside
tt.func public @promised_inside(%p: !tt.ptr<i32>, %n: i32, %k: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: %[[OUTSIDE:.*]] = arith.subi {{.*}}constancy = [1]"]
  %outside = arith.subi %n, %k : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: arith.subi {{.*}}constancy = [1], nonnegative"]
    %inside = arith.subi %k, %i : i32
    %more = arith.cmpi sgt, %inside, %c0 : i32
    llvm.intr.assume %more : i1
    %at = tt.addptr %p, %inside : !tt.ptr<i32>, i32
    tt.store %at, %outside : !tt.ptr<i32>
  }
  scf.if %c {
    %more = arith.cmpi sgt, %outside, %c0 : i32
    llvm.intr.assume %more : i1
    tt.store %p, %outside : !tt.ptr<i32>
  }
  tt.return
}

// -----

// Quotients of aligned groups are equal, shapes move the facts with the dims, and a transposed tile
// of pointers is contiguous along the rows.
// CHECK-LABEL: @shapes
tt.func public @shapes(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c8 = arith.constant dense<8> : tensor<32xi32>
  %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  // CHECK: arith.divsi {{.*}}constancy = [8], nonnegative
  %group = arith.divsi %range, %c8 : tensor<32xi32>
  %row = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %column = tt.expand_dims %group {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %strides = tt.splat %stride : i32 -> tensor<32x1xi32>
  %lines = arith.muli %column, %strides : tensor<32x1xi32>
  %a = tt.broadcast %lines : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  // CHECK: arith.addi {{.*}}contiguity = [1, 32], divisibility = [1, 16], constancy = [8, 1]
  %offset = arith.addi %a, %b : tensor<32x32xi32>
  // CHECK: tt.trans {{.*}}contiguity = [32, 1], divisibility = [16, 1], constancy = [1, 8]
  %turned = tt.trans %offset {order = array<i32: 1, 0>} : tensor<32x32xi32> -> tensor<32x32xi32>
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %at = tt.addptr %base, %turned : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %x = tt.load %at : tensor<32x32x!tt.ptr<f16>>
  tt.store %at, %x : tensor<32x32x!tt.ptr<f16>>
  tt.return
}

// -----

// Of 0 to 255 the upper half is below zero in 8 bits; 128 at a time are neighbours still.
// CHECK-LABEL: @narrow
tt.func public @narrow(%p: !tt.ptr<i8>, %n: i32 {tt.divisibility = 64 : i32}) {
  %range = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  // CHECK: arith.trunci {{.*}}contiguity = [128], divisibility = [128]
  %narrow = arith.trunci %range : tensor<256xi32> to tensor<256xi8>
  // CHECK: arith.extsi {{.*}}contiguity = [128], divisibility = [128]
  %wide = arith.extsi %narrow : tensor<256xi8> to tensor<256xi32>
  %base = tt.splat %p : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %at = tt.addptr %base, %wide : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  tt.store %at, %narrow : tensor<256x!tt.ptr<i8>>
  tt.return
}

// -----

// A hint on an operation with two results is of neither: nothing says which.
// CHECK-LABEL: @hint_of_two_results
tt.func public @hint_of_two_results(%p: !tt.ptr<i32>, %x: tensor<8x2xi32>) {
  // CHECK: tt.split {{.*}}divisibility = [1], constancy = [1]", "contiguity = [1], divisibility = [1]
  %a, %b = tt.split %x {tt.divisibility = 64 : i32} : tensor<8x2xi32> -> tensor<8xi32>
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %at = tt.addptr %base, %a : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %at, %b : tensor<8x!tt.ptr<i32>>
  tt.return
}

// -----

// What a combination is given is no argument of the kernel, whatever is known of that one.
// CHECK-LABEL: @arguments_of_regions
tt.func public @arguments_of_regions(%n: i32 {tt.divisibility = 64 : i32}, %p: !tt.ptr<i32>, %x: tensor<8xi32>) {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    // CHECK: arith.addi {{.*}}divisibility = [1]
    %s = arith.addi %a, %a : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  tt.store %p, %r : !tt.ptr<i32>
  tt.return
}

// -----

// A condition for all elements at once leaves them neighbours.
// CHECK-LABEL: @one_condition
tt.func public @one_condition(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %c: i1) {
  %a = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %b = tt.make_range {start = 32 : i32, end = 96 : i32} : tensor<64xi32>
  // CHECK: arith.select {{.*}}contiguity = [64], divisibility = [32], constancy = [1], nonnegative
  %x = arith.select %c, %a, %b : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %base, %x : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %at, %x : tensor<64x!tt.ptr<i32>>
  tt.return
}
