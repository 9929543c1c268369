// RUN: pellucid-opt %s --ttgpu-decide="generation-only=true stages=3" | FileCheck %s

// Weights of 4 bits are read one round before they are unpacked for the product: they are carried by
// the threads that unpack them, and go through shared memory once, as the product's operand.
// CHECK-LABEL: @weights_ahead
// CHECK:       scf.for
// CHECK-NOT:   ttgpu.convert_layout {{.*}}ttgpu.offset
// CHECK:       tt.dot
// CHECK-NOT:   ttgpu.convert_layout {{.*}}ttgpu.offset
// CHECK:       ttgpu.read_shared
// CHECK:       scf.yield
tt.func public @weights_ahead(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c2048 = arith.constant 2048 : i32
  %four = arith.constant dense<4> : tensor<64x32xi8>
  %fifteen = arith.constant dense<15> : tensor<64x32xi8>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %pitch = arith.constant dense<512> : tensor<64x1xi32>
  %pitchW = arith.constant dense<32> : tensor<64x1xi32>
  %pitchOut = arith.constant dense<64> : tensor<64x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %words = tt.expand_dims %j {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ra = arith.muli %rows, %pitch : tensor<64x1xi32>
  %rab = tt.broadcast %ra : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %placeA = arith.addi %rab, %cb : tensor<64x64xi32>
  %rw = arith.muli %rows, %pitchW : tensor<64x1xi32>
  %rwb = tt.broadcast %rw : tensor<64x1xi32> -> tensor<64x32xi32>
  %wb = tt.broadcast %words : tensor<1x32xi32> -> tensor<64x32xi32>
  %placeW = arith.addi %rwb, %wb : tensor<64x32xi32>
  %firstW = tt.splat %w : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %pw = tt.addptr %firstW, %placeW : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
  %first = tt.load %pw : tensor<64x32x!tt.ptr<i8>>
  %loop:2 = scf.for %k = %c0 to %c7 step %c1 iter_args(%acc = %zero, %packed = %first) -> (tensor<64x64xf32>, tensor<64x32xi8>) : i32 {
    %low = arith.andi %packed, %fifteen : tensor<64x32xi8>
    %high = arith.shrui %packed, %four : tensor<64x32xi8>
    %lowf = arith.sitofp %low : tensor<64x32xi8> to tensor<64x32xf16>
    %highf = arith.sitofp %high : tensor<64x32xi8> to tensor<64x32xf16>
    %both = tt.join %lowf, %highf : tensor<64x32xf16> -> tensor<64x32x2xf16>
    %b = tt.reshape %both : tensor<64x32x2xf16> -> tensor<64x64xf16>
    %ka = arith.muli %k, %c64 : i32
    %pka = tt.addptr %a, %ka : !tt.ptr<f16>, i32
    %pas = tt.splat %pka : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %pa = tt.addptr %pas, %placeA : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %ta = tt.load %pa : tensor<64x64x!tt.ptr<f16>>
    %next = arith.addi %k, %c1 : i32
    %kw = arith.muli %next, %c2048 : i32
    %pkw = tt.addptr %w, %kw : !tt.ptr<i8>, i32
    %pws = tt.splat %pkw : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
    %pwn = tt.addptr %pws, %placeW : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    %tw = tt.load %pwn : tensor<64x32x!tt.ptr<i8>>
    %sum = tt.dot %ta, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum, %tw : tensor<64x64xf32>, tensor<64x32xi8>
  }
  %ro = arith.muli %rows, %pitchOut : tensor<64x1xi32>
  %rob = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
  %placeO = arith.addi %rob, %cb : tensor<64x64xi32>
  %po = tt.splat %out : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pout = tt.addptr %po, %placeO : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %pout, %loop#0 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
