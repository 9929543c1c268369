// Every operation is read and written in Triton's own text.
// RUN: pellucid-opt %s | pellucid-opt | FileCheck %s

// CHECK-LABEL: tt.func public @memory
// CHECK-SAME: !tt.ptr<f32> {tt.divisibility = 16 : i32}
tt.func public @memory(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: tensor<8x!tt.ptr<f32>>,
                       %m: tensor<8xi1>, %x: tensor<8xf32>, %i: tensor<8xi32>, %qi: tensor<8x!tt.ptr<i32>>)
    attributes {noinline = false} {
  // CHECK: tt.load %{{.*}} : !tt.ptr<f32>
  %0 = tt.load %p : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %q, %m, %x cacheModifier = cg evictionPolicy = evict_first {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = wt evictionPolicy = evict_last : tensor<8x!tt.ptr<f32>>
  tt.store %q, %1, %m cacheModifier = wt evictionPolicy = evict_last : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %2 = tt.atomic_rmw fadd, acq_rel, gpu, %q, %x, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: tt.atomic_rmw exch, release, sys, %{{.*}} : (!tt.ptr<f32>, f32) -> f32
  %3 = tt.atomic_rmw exch, release, sys, %p, %0 : (!tt.ptr<f32>, f32) -> f32
  // CHECK: tt.atomic_cas relaxed, cta, %{{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %4 = tt.atomic_cas relaxed, cta, %qi, %i, %i : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: gpu.barrier
  gpu.barrier
  // CHECK: ttg.barrier all
  ttg.barrier all
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func private @pointers
tt.func private @pointers(%p: !tt.ptr<f32>, %n: i32, %s: i64, %a: !tt.ptr<f16, 3>) -> !tt.ptr<i32> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  // CHECK: tt.addptr %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %1 = tt.addptr %0, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: tt.ptr_to_int %{{.*}} : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  %2 = tt.ptr_to_int %1 : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  // CHECK: tt.int_to_ptr %{{.*}} : tensor<8xi64> -> tensor<8x!tt.ptr<i8>>
  %3 = tt.int_to_ptr %2 : tensor<8xi64> -> tensor<8x!tt.ptr<i8>>
  // CHECK: tt.bitcast %{{.*}} : !tt.ptr<f32> -> !tt.ptr<i32>
  %4 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>
  // CHECK: tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
  %5 = tt.make_tensor_ptr %p, [%s, %s], [%s, %s], [%n, %n] {order = array<i32: 1, 0>} : <tensor<16x32xf32>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}}, %{{.*}}] : <tensor<16x32xf32>>
  %6 = tt.advance %5, [%n, %n] : <tensor<16x32xf32>>
  // CHECK: tt.load %{{.*}} {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<16x32xf32>>
  %7 = tt.load %6 {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<16x32xf32>>
  // CHECK: tt.store %{{.*}} {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16x32xf32>>
  tt.store %6, %7 {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16x32xf32>>
  // CHECK: tt.load %{{.*}} : !tt.ptr<f16, 3>
  %8 = tt.load %a : !tt.ptr<f16, 3>
  tt.return %4 : !tt.ptr<i32>
}

// CHECK-LABEL: tt.func private @descriptors
// CHECK-SAME: !tt.tensordesc<tensor<4x4xf32>>
tt.func private @descriptors(%p: !tt.ptr<f32>, %n: i32, %s: i64, %d: !tt.tensordesc<4x4xf32>, %o: tensor<16xi32>) {
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {padding = 2 : i32} : <f32>, <tensor<1x32xf32>>
  %0 = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] {padding = 2 : i32} : <f32>, <tensor<1x32xf32>>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] cacheModifier = cg : !tt.tensordesc<tensor<1x32xf32>> -> tensor<32xf32>
  %1 = tt.descriptor_load %0[%n, %n] cacheModifier = cg : !tt.tensordesc<tensor<1x32xf32>> -> tensor<32xf32>
  // CHECK: tt.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<1x32xf32>>, tensor<32xf32>
  tt.descriptor_store %0[%n, %n], %1 : !tt.tensordesc<tensor<1x32xf32>>, tensor<32xf32>
  // CHECK: tt.descriptor_reduce add, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<1x32xf32>>, tensor<32xf32>
  tt.descriptor_reduce add, %0[%n, %n], %1 : !tt.tensordesc<tensor<1x32xf32>>, tensor<32xf32>
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<tensor<1x32xf32>>, tensor<16xi32>, i32) -> tensor<16x32xf32>
  %2 = tt.descriptor_gather %0[%o, %n] : (!tt.tensordesc<tensor<1x32xf32>>, tensor<16xi32>, i32) -> tensor<16x32xf32>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<tensor<1x32xf32>>, tensor<16xi32>, i32, tensor<16x32xf32>
  tt.descriptor_scatter %0[%o, %n], %2 : !tt.tensordesc<tensor<1x32xf32>>, tensor<16xi32>, i32, tensor<16x32xf32>
  tt.return
}

// CHECK-LABEL: tt.func private @shapes
tt.func private @shapes(%x: tensor<8x4xf32>, %one: tensor<1xf32>, %i: tensor<8xi32>, %m: tensor<8xi1>) {
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %0 = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  // CHECK: tt.broadcast %{{.*}} : tensor<8x1xi32> -> tensor<8x4xi32>
  %1 = tt.broadcast %0 : tensor<8x1xi32> -> tensor<8x4xi32>
  // CHECK: tt.reshape %{{.*}} allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
  %2 = tt.reshape %x allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<8x4xf32> -> tensor<32xf32>
  %3 = tt.reshape %x allow_reorder efficient_layout : tensor<8x4xf32> -> tensor<32xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %4 = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<32xf32> -> tensor<32x2xf32>
  %5 = tt.join %2, %3 : tensor<32xf32> -> tensor<32x2xf32>
  // CHECK: tt.split %{{.*}} : tensor<32x2xf32> -> tensor<32xf32>
  %6, %7 = tt.split %5 : tensor<32x2xf32> -> tensor<32xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<32xf32> -> tensor<64xf32>
  %8 = tt.cat %6, %7 : tensor<32xf32> -> tensor<64xf32>
  // CHECK: tt.unsplat %{{.*}} : tensor<1xf32>
  %9 = tt.unsplat %one : tensor<1xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<32xf32>, tensor<8xi32>) -> tensor<8xf32>
  %10 = tt.gather %2[%i] {axis = 0 : i32} : (tensor<32xf32>, tensor<8xi32>) -> tensor<8xf32>
  // CHECK: tt.histogram %{{.*}} : tensor<8xi32> -> tensor<16xi32>
  %11 = tt.histogram %i : tensor<8xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<8xi32> -> tensor<16xi32>
  %12 = tt.histogram %i, %m : tensor<8xi32> -> tensor<16xi32>
  // CHECK: tt.distribute %{{.*}} by %{{.*}} : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<32xi32>)
  %ordered, %counts = tt.distribute %i by %i : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<32xi32>)
  tt.return
}

// CHECK-LABEL: tt.func private @arithmetic
tt.func private @arithmetic(%x: tensor<8xf32>, %i: tensor<8xi32>, %c: i1) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<8xf32>
  %0 = tt.clampf %x, %x, %x, propagateNan = all : tensor<8xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<8xf32>
  %1 = tt.precise_sqrt %x : tensor<8xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<8xf32>
  %2 = tt.precise_divf %x, %x : tensor<8xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<8xi32>
  %3 = tt.mulhiui %i, %i : tensor<8xi32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
  %4 = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<8xf8E5M2> -> tensor<8xf32>
  %5 = tt.fp_to_fp %4 : tensor<8xf8E5M2> -> tensor<8xf32>
  // CHECK: tt.get_program_id x : i32
  %6 = tt.get_program_id x : i32
  // CHECK: tt.get_num_programs z : i32
  %7 = tt.get_num_programs z : i32
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
  %8 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.elementwise_inline_asm "mov $0, $1;" {constraints = "=r,r", packed_element = 2 : i32, pure = false} %{{.*}} : tensor<8xi32> -> tensor<8xi32>
  %9 = tt.elementwise_inline_asm "mov $0, $1;" {constraints = "=r,r", packed_element = 2 : i32, pure = false} %i : tensor<8xi32> -> tensor<8xi32>
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %{{.*}} : tensor<8xf32>
  tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : tensor<8xf32>
  // CHECK: tt.print "here" {hex = false, isSigned = array<i32>}
  tt.print "here" {hex = false, isSigned = array<i32>}
  // CHECK: tt.assert %{{.*}}, "bad" : i1
  tt.assert %c, "bad" : i1
  // CHECK: llvm.intr.assume %{{.*}} : i1
  llvm.intr.assume %c : i1
  tt.return
}

// CHECK-LABEL: tt.func private @regions
tt.func private @regions(%x: tensor<8x4xf32>, %i: tensor<8x4xi32>, %a: tensor<16x32xf16>, %b: tensor<32x16xf16>,
                         %c: tensor<16x16xf32>, %fa: tensor<16x64xf8E5M2>, %fb: tensor<64x16xf8E5M2>,
                         %sa: tensor<16x2xi8>) -> (tensor<8xf32>, tensor<8xi32>) {
  // CHECK: "tt.reduce"(%{{.*}}, %{{.*}}) <{axis = 1 : i32}> ({
  %0:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %li: i32, %r: f32, %ri: i32):
    // CHECK: tt.reduce.return %{{.*}}, %{{.*}} : f32, i32
    tt.reduce.return %l, %ri : f32, i32
  }) : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 0 : i32, reverse = true}> ({
  %1 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%l: f32, %r: f32):
    // CHECK: tt.scan.return %{{.*}} : f32
    tt.scan.return %l : f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 2 : i32}> ({
  %2 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%u: f32, %v: f32):
    // CHECK: tt.map_elementwise.return %{{.*}}, %{{.*}} : f32, f32
    tt.map_elementwise.return %v, %u : f32, f32
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %3 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 {maxNumImpreciseAcc = 3 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %4 = tt.dot %a, %b, %3, inputPrecision = tf32 {maxNumImpreciseAcc = 3 : i32} : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}}, %{{.*}} lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<16x64xf8E5M2>, tensor<16x2xi8> * tensor<64x16xf8E5M2> -> tensor<16x16xf32>
  %5 = tt.dot_scaled %fa scale %sa, %fb, %4 lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<16x64xf8E5M2>, tensor<16x2xi8> * tensor<64x16xf8E5M2> -> tensor<16x16xf32>
  // CHECK: tt.call @callee(%{{.*}}) : (f32) -> f32
  %6 = arith.constant 1.0 : f32
  %7 = tt.call @callee(%6) : (f32) -> f32
  tt.return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

tt.func private @callee(%x: f32) -> f32 attributes {noinline = true} {
  tt.return %x : f32
}

// Names that Triton gives to helpers, and locations of all kinds.
// RUN: pellucid-opt %s --mlir-print-debuginfo | pellucid-opt --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// LOC-LABEL: tt.func public @locations
// LOC: tt.call @"mod.helper__i32__(1,)cconstexpr_0_"() : () -> () loc(#[[CALL:.*]])
tt.func public @locations(%n: i32 loc("n"("kernel.py":3:13))) {
  tt.call @"mod.helper__i32__(1,)cconstexpr_0_"() : () -> () loc(#call)
  tt.return
}
tt.func private @"mod.helper__i32__(1,)cconstexpr_0_"() {
  tt.return
}
// LOC-DAG: #[[LINE:.*]] = loc("kernel.py":12:9)
// LOC-DAG: #[[NAMED:.*]] = loc("x"(#[[LINE]]))
// LOC-DAG: loc(callsite(#[[NAMED]] at #{{.*}}))
#line = loc("kernel.py":12:9)
#named = loc("x"(#line))
#call = loc(callsite(#named at "kernel.py":20:5))
