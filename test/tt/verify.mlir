// One refused function per label of docs/spec/tt.md.
// RUN: pellucid-opt %s --split-input-file --verify-diagnostics -o /dev/null

tt.func @load_c1_value_type(%p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tt.load' op expects a value of the pointer's element type, 'tensor<8xf32>', got 'tensor<8xf16>'}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf16>
  tt.return
}

// -----

tt.func @load_c2_mask_type(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'tt.load' op expects a mask of type 'tensor<8xi1>', got 'tensor<4xi1>'}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<4xi1>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_c3_other_type(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf16>) {
  // expected-error @+1 {{'tt.load' op expects other of type 'tensor<8xf32>', got 'tensor<8xf16>'}}
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>, tensor<8xf16>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_c4_mask_of_block(%p: !tt.ptr<tensor<8xf32>>, %m: tensor<8xi1>) {
  // expected-error @+1 {{'tt.load' op expects no mask with a block pointer of type '!tt.ptr<tensor<8xf32>>'}}
  %0 = tt.load %p, %m : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_c5_check_without_block(%p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{'tt.load' op expects a block pointer for a boundary check, got 'tensor<8x!tt.ptr<f32>>'}}
  %0 = tt.load %p {boundaryCheck = array<i32: 0>} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @load_c6_check_beyond_rank(%p: !tt.ptr<tensor<8xf32>>) {
  // expected-error @+1 {{'tt.load' op expects boundary-checked dims below rank 1, got 1}}
  %0 = tt.load %p {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_c7_other_without_mask(%p: !tt.ptr<f32>, %o: f32) {
  // expected-error @+1 {{'tt.load' op expects a mask where other is given}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @store_c1_value_type(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf16>) {
  // expected-error @+1 {{'tt.store' op expects a value of the pointer's element type, 'tensor<8xf32>', got 'tensor<8xf16>'}}
  "tt.store"(%p, %v) : (tensor<8x!tt.ptr<f32>>, tensor<8xf16>) -> ()
  tt.return
}

// -----

tt.func @store_c2_mask_type(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: i1) {
  // expected-error @+1 {{'tt.store' op expects a mask of type 'tensor<8xi1>', got 'i1'}}
  "tt.store"(%p, %v, %m) : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, i1) -> ()
  tt.return
}

// -----

tt.func @store_c4_mask_of_block(%p: !tt.ptr<tensor<8xf32>>, %v: tensor<8xf32>, %m: tensor<8xi1>) {
  // expected-error @+1 {{'tt.store' op expects no mask with a block pointer of type '!tt.ptr<tensor<8xf32>>'}}
  tt.store %p, %v, %m : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @store_c5_check_without_block(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{'tt.store' op expects a block pointer for a boundary check, got '!tt.ptr<f32>'}}
  tt.store %p, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @store_c6_check_beyond_rank(%p: !tt.ptr<tensor<8xf32>>, %v: tensor<8xf32>) {
  // expected-error @+1 {{'tt.store' op expects boundary-checked dims below rank 1, got 2}}
  tt.store %p, %v {boundaryCheck = array<i32: 0, 2>} : !tt.ptr<tensor<8xf32>>
  tt.return
}

// -----

tt.func @load_not_a_pointer(%p: i64) {
  // expected-error @+1 {{expects a pointer, a tile of pointers or a block pointer, got 'i64'}}
  %0 = tt.load %p : i64
  tt.return
}

// -----

tt.func @atomic_rmw_c1_value_type(%p: !tt.ptr<f32>, %v: i32) {
  // expected-error @+1 {{'tt.atomic_rmw' op expects a value of type 'f32', got 'i32'}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<f32>, i32) -> i32
  tt.return
}

// -----

tt.func @atomic_rmw_c2_result_type(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{'tt.atomic_rmw' op expects a result of the value's type 'i32', got 'i64'}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i64
  tt.return
}

// -----

tt.func @atomic_rmw_c3_mask_type(%p: !tt.ptr<i32>, %v: i32, %m: tensor<8xi1>) {
  // expected-error @+1 {{'tt.atomic_rmw' op expects a mask of type 'i1', got 'tensor<8xi1>'}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, tensor<8xi1>) -> i32
  tt.return
}

// -----

tt.func @atomic_rmw_c4_kind(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{'tt.atomic_rmw' op expects 'fadd' or 'exch' on 'f32', got 'add'}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @atomic_cas_c1_types(%p: !tt.ptr<i32>, %v: i32, %c: i64) {
  // expected-error @+1 {{'tt.atomic_cas' op expects compare, value and result of type 'i32', got 'i64'}}
  %0 = tt.atomic_cas relaxed, gpu, %p, %c, %v : (!tt.ptr<i32>, i64, i32) -> i32
  tt.return
}

// -----

tt.func @atomic_load_c1_result(%p: !tt.ptr<i32>) {
  // expected-error @+1 {{'tt.atomic_load' op expects a result of type 'i32', got 'i64'}}
  %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i64
  tt.return
}

// -----

tt.func @atomic_load_c2_mask(%p: tensor<8x!tt.ptr<i32>>, %m: i1) {
  // expected-error @+1 {{'tt.atomic_load' op expects a mask of type 'tensor<8xi1>', got 'i1'}}
  %0 = tt.atomic_load acquire, gpu, %p, %m : (tensor<8x!tt.ptr<i32>>, i1) -> tensor<8xi32>
  tt.return
}

// -----

tt.func @atomic_store_c1_value(%p: !tt.ptr<i32>, %v: i64) {
  // expected-error @+1 {{'tt.atomic_store' op expects a value of type 'i32', got 'i64'}}
  "tt.atomic_store"(%p, %v) <{scope = 1 : i32, sem = 3 : i32}> : (!tt.ptr<i32>, i64) -> ()
  tt.return
}

// -----

tt.func @atomic_store_c2_mask(%p: tensor<8x!tt.ptr<i32>>, %v: tensor<8xi32>, %m: i1) {
  // expected-error @+1 {{'tt.atomic_store' op expects a mask of type 'tensor<8xi1>', got 'i1'}}
  "tt.atomic_store"(%p, %v, %m) <{scope = 1 : i32, sem = 3 : i32}> : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, i1) -> ()
  tt.return
}

// -----

tt.func @atomic_poll_c1_types(%p: !tt.ptr<i32>, %v: i64) {
  // expected-error @+1 {{'tt.atomic_poll' op expects to compare 'i32' and give 'i1', got 'i64' and 'i1'}}
  %0 = tt.atomic_poll acquire, gpu, %p, %v : !tt.ptr<i32>, i64 -> i1
  tt.return
}

// -----

tt.func @make_tensor_ptr_c1_rank(%p: !tt.ptr<f32>, %s: i64, %n: i32) {
  // expected-error @+1 {{'tt.make_tensor_ptr' op expects 2 sizes, strides and offsets for a block of rank 2, got 1}}
  %0 = tt.make_tensor_ptr %p, [%s], [%s], [%n] {order = array<i32: 1, 0>} : <tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @make_tensor_ptr_c2_order(%p: !tt.ptr<f32>, %s: i64, %n: i32) {
  // expected-error @+1 {{'tt.make_tensor_ptr' op expects an order of length 1, got 2}}
  %0 = tt.make_tensor_ptr %p, [%s], [%s], [%n] {order = array<i32: 1, 0>} : <tensor<8xf32>>
  tt.return
}

// -----

tt.func @advance_c1_rank(%p: !tt.ptr<tensor<8x8xf32>>, %n: i32) {
  // expected-error @+1 {{'tt.advance' op expects 2 offsets for a block of rank 2, got 1}}
  %0 = tt.advance %p, [%n] : <tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @make_tensor_descriptor_c1_rank(%p: !tt.ptr<f32>, %s: i64, %n: i32) {
  // expected-error @+1 {{'tt.make_tensor_descriptor' op expects 2 sizes and strides for a block of rank 2, got 1}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<8x8xf32>>
  tt.return
}

// -----

tt.func @make_tensor_descriptor_c2_element(%p: !tt.ptr<f32>, %s: i64, %n: i32) {
  // expected-error @+1 {{'tt.make_tensor_descriptor' op expects blocks of 'f32', got 'f16'}}
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : <f32>, <tensor<8xf16>>
  tt.return
}

// -----

tt.func @descriptor_c1_elements(%d: !tt.tensordesc<tensor<8x8xf32>>, %n: i32) {
  // expected-error @+1 {{'tt.descriptor_load' op expects a tile of 64 elements for '!tt.tensordesc<tensor<8x8xf32>>', got 'tensor<8xf32>'}}
  %0 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<tensor<8x8xf32>> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @descriptor_c2_element_type(%d: !tt.tensordesc<tensor<8xf32>>, %n: i32) {
  // expected-error @+1 {{'tt.descriptor_load' op expects elements of type 'f32', got 'f16'}}
  %0 = tt.descriptor_load %d[%n] : !tt.tensordesc<tensor<8xf32>> -> tensor<8xf16>
  tt.return
}

// -----

tt.func @descriptor_c3_indices(%d: !tt.tensordesc<tensor<8xf32>>, %x: tensor<8xf32>, %n: i32) {
  // expected-error @+1 {{'tt.descriptor_store' op expects 1 indices for '!tt.tensordesc<tensor<8xf32>>', got 2}}
  tt.descriptor_store %d[%n, %n], %x : !tt.tensordesc<tensor<8xf32>>, tensor<8xf32>
  tt.return
}

// -----

tt.func @descriptor_rows_c1_block(%d: !tt.tensordesc<tensor<8x8xf32>>, %x: tensor<8xi32>, %n: i32) {
  // expected-error @+1 {{'tt.descriptor_gather' op expects a descriptor of blocks 1xN, got '!tt.tensordesc<tensor<8x8xf32>>'}}
  %0 = tt.descriptor_gather %d[%x, %n] : (!tt.tensordesc<tensor<8x8xf32>>, tensor<8xi32>, i32) -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @descriptor_rows_c2_offsets(%d: !tt.tensordesc<tensor<1x8xf32>>, %x: tensor<4xi32>, %n: i32) {
  // expected-error @+1 {{'tt.descriptor_gather' op expects one row per offset, got 'tensor<4xi32>' offsets and 'tensor<8x8xf32>' rows}}
  %0 = tt.descriptor_gather %d[%x, %n] : (!tt.tensordesc<tensor<1x8xf32>>, tensor<4xi32>, i32) -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @descriptor_rows_c3_row_type(%d: !tt.tensordesc<tensor<1x8xf32>>, %x: tensor<8xi32>, %n: i32, %v: tensor<8x4xf32>) {
  // expected-error @+1 {{'tt.descriptor_scatter' op expects rows of 8 'f32', got 4 'f32'}}
  tt.descriptor_scatter %d[%x, %n], %v : !tt.tensordesc<tensor<1x8xf32>>, tensor<8xi32>, i32, tensor<8x4xf32>
  tt.return
}

// -----

tt.func @bitcast_c1_kinds(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{'tt.bitcast' op expects pointers or numbers on both sides, got '!tt.ptr<f32>' and 'i64'}}
  %0 = tt.bitcast %p : !tt.ptr<f32> -> i64
  tt.return
}

// -----

tt.func @bitcast_c2_widths(%x: f32) {
  // expected-error @+1 {{'tt.bitcast' op expects equal widths, got 32 and 16 bits}}
  %0 = tt.bitcast %x : f32 -> i16
  tt.return
}

// -----

tt.func @fp_to_fp_c1_rounding_missing(%x: f32) {
  // expected-error @+1 {{'tt.fp_to_fp' op expects a rounding from 32 to 8 bits}}
  %0 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// -----

tt.func @fp_to_fp_c2_rounding_given(%x: f8E5M2) {
  // expected-error @+1 {{'tt.fp_to_fp' op expects no rounding from 8 to 32 bits}}
  %0 = tt.fp_to_fp %x, rounding = rtz : f8E5M2 -> f32
  tt.return
}

// -----

tt.func @splat_c1_scalar(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.splat' op expects a scalar to repeat, got 'tensor<8xf32>'}}
  %0 = tt.splat %x : tensor<8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @unsplat_c1_size(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.unsplat' op expects a tile of 1 element, got 8}}
  %0 = tt.unsplat %x : tensor<8xf32>
  tt.return
}

// -----

tt.func @expand_dims_c1_axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.expand_dims' op expects an axis from 0 to 1, got 2}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_c2_result(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.expand_dims' op expects result type 'tensor<1x8xf32>', got 'tensor<8x1xf32>'}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @reshape_c1_numel(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reshape' op expects as many elements on both sides, got 8 and 16}}
  %0 = tt.reshape %x : tensor<8xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @broadcast_c1_rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.broadcast' op expects equal ranks, got 1 and 2}}
  %0 = tt.broadcast %x : tensor<8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @broadcast_c2_dims(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{'tt.broadcast' op expects dim 1 to be 1 or 4, got 2}}
  %0 = tt.broadcast %x : tensor<8x2xf32> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @trans_c1_order(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{'tt.trans' op expects an order that permutes 0..1, got [1, 1]}}
  %0 = tt.trans %x {order = array<i32: 1, 1>} : tensor<8x2xf32> -> tensor<2x8xf32>
  tt.return
}

// -----

tt.func @trans_c2_result(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{'tt.trans' op expects result type 'tensor<2x8xf32>', got 'tensor<8x2xf32>'}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x2xf32> -> tensor<8x2xf32>
  tt.return
}

// -----

tt.func @cat_c1_size(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.cat' op expects a result of 16 elements, got 8}}
  %0 = tt.cat %x, %x : tensor<8xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @join_c1_result(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.join' op expects result type 'tensor<8x2xf32>', got 'tensor<2x8xf32>'}}
  %0 = tt.join %x, %x : tensor<8xf32> -> tensor<2x8xf32>
  tt.return
}

// -----

tt.func @split_c1_last_dim(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'tt.split' op expects a last dim of size 2, got 'tensor<8x4xf32>'}}
  %0, %1 = tt.split %x : tensor<8x4xf32> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @split_c2_halves(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{'tt.split' op expects halves of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0, %1 = tt.split %x : tensor<8x2xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_c1_result(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tt.gather' op expects a result of the indices' shape and the source's element type, got 'tensor<8xf32>' for indices 'tensor<4xi32>' and source 'tensor<8xf32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_c2_rank(%x: tensor<8xf32>, %i: tensor<4x1xi32>) {
  // expected-error @+1 {{'tt.gather' op expects indices of the source's rank 1, got 2}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>
  tt.return
}

// -----

tt.func @gather_c3_axis(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tt.gather' op expects an axis from 0 to 0, got 1}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @gather_c4_dims(%x: tensor<8x2xf32>, %i: tensor<4x4xi32>) {
  // expected-error @+1 {{'tt.gather' op expects indices of at most 2 in dim 1, got 4}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x2xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @histogram_c1_rank(%i: tensor<8xi32>) {
  // expected-error @+1 {{'tt.histogram' op expects a result of rank 1, got 'tensor<4x4xi32>'}}
  %0 = tt.histogram %i : tensor<8xi32> -> tensor<4x4xi32>
  tt.return
}

// -----

tt.func @histogram_c2_mask(%i: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{'tt.histogram' op expects a mask of type 'tensor<8xi1>', got 'tensor<4xi1>'}}
  %0 = "tt.histogram"(%i, %m) : (tensor<8xi32>, tensor<4xi1>) -> tensor<16xi32>
  tt.return
}

// -----

tt.func @distribute_c1_digits(%i: tensor<8xi32>, %d: tensor<4xi32>) {
  // expected-error @+1 {{'tt.distribute' op expects a digit for each element of a tile of one dim, got 'tensor<4xi32>' for 'tensor<8xi32>'}}
  %0, %1 = tt.distribute %i by %d : (tensor<8xi32>, tensor<4xi32>) -> (tensor<8xi32>, tensor<32xi32>)
  tt.return
}

// -----

tt.func @distribute_c2_result(%i: tensor<8xi32>) {
  // expected-error @+1 {{'tt.distribute' op expects a result of type 'tensor<8xi32>', got 'tensor<8xf32>'}}
  %0, %1 = tt.distribute %i by %i : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<32xi32>)
  tt.return
}

// -----

tt.func @distribute_c3_counts(%i: tensor<8xi32>) {
  // expected-error @+1 {{'tt.distribute' op expects counts of a power of two of digits, 32 and more, as i32, got 'tensor<16xi32>'}}
  %0, %1 = tt.distribute %i by %i : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<16xi32>)
  tt.return
}

// -----

tt.func @make_range_c1_empty() {
  // expected-error @+1 {{'tt.make_range' op expects start below end, got 8 and 8}}
  %0 = tt.make_range {start = 8 : i32, end = 8 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @make_range_c2_size() {
  // expected-error @+1 {{'tt.make_range' op expects a result of 8 elements, got 'tensor<16xi32>'}}
  %0 = tt.make_range {start = 8 : i32, end = 16 : i32} : tensor<16xi32>
  tt.return
}

// -----

tt.func @make_range_c3_power_of_two() {
  // expected-error @+1 {{'tt.make_range' op expects a power of two of elements, got 6}}
  %0 = tt.make_range {start = 0 : i32, end = 6 : i32} : tensor<6xi32>
  tt.return
}

// -----

tt.func @dot_c1_rank(%a: tensor<8xf16>, %b: tensor<8x8xf16>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{'tt.dot' op expects tiles of equal rank 2 or 3, got 1, 2 and 2}}
  %0 = tt.dot %a, %b, %c : tensor<8xf16> * tensor<8x8xf16> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_c2_inner_mismatch(%a: tensor<16x64xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{'tt.dot' op expects inner dimensions to match, got 64 and 32}}
  %0 = tt.dot %a, %b, %c : tensor<16x64xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_c3_accumulator(%a: tensor<16x64xf16>, %b: tensor<64x16xf16>, %c: tensor<16x32xf32>) {
  // expected-error @+1 {{'tt.dot' op expects an accumulator of 16x16, got 16x32}}
  %0 = tt.dot %a, %b, %c : tensor<16x64xf16> * tensor<64x16xf16> -> tensor<16x32xf32>
  tt.return
}

// -----

tt.func @dot_c4_batch(%a: tensor<2x16x64xf16>, %b: tensor<4x64x16xf16>, %c: tensor<2x16x16xf32>) {
  // expected-error @+1 {{'tt.dot' op expects equal batch dimensions, got 2, 4 and 2}}
  %0 = tt.dot %a, %b, %c : tensor<2x16x64xf16> * tensor<4x64x16xf16> -> tensor<2x16x16xf32>
  tt.return
}

// -----

tt.func @dot_c5_widths(%a: tensor<16x64xf16>, %b: tensor<64x16xf32>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{'tt.dot' op expects operands of equal width, got 'f16' and 'f32'}}
  %0 = tt.dot %a, %b, %c : tensor<16x64xf16> * tensor<64x16xf32> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_scaled_c1_rank(%a: tensor<8xf8E5M2>, %b: tensor<8x8xf8E5M2>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{'tt.dot_scaled' op expects tiles of equal rank 2 or 3, got 1, 2 and 2}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e5m2 rhs = e5m2 {fastMath = false} : tensor<8xf8E5M2> * tensor<8x8xf8E5M2> -> tensor<8x8xf32>
  tt.return
}

// -----

// Two fp4 numbers share a byte.
tt.func @dot_scaled_c2_inner(%a: tensor<16x32xi8>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{'tt.dot_scaled' op expects inner dimensions to match, got 64 and 32}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<16x32xi8> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @reduce_c1_empty() {
  // expected-error @+1 {{'tt.reduce' op expects at least one tile}}
  "tt.reduce"() <{axis = 0 : i32}> ({
    "tt.reduce.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @reduce_c2_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'tt.reduce' op expects tiles of equal shapes, got 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<8xf32>, tensor<4xf32>) -> (f32, f32)
  tt.return
}

// -----

tt.func @reduce_c3_axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reduce' op expects an axis from 0 to 0, got 1}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_c4_results(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reduce' op expects one result per tile, got 2 for 1}}
  %0:2 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> (f32, f32)
  tt.return
}

// -----

tt.func @reduce_c5_result_type(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'tt.reduce' op expects result type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8x4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @reduce_c6_arguments(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reduce' op expects argument 1 of its region to be 'f32', got 'f16'}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f16):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_c7_returned(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.reduce' op expects its region to return 1 values, got 2}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a, %b : f32, f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @scan_c3_axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.scan' op expects an axis from 0 to 0, got 2}}
  %0 = "tt.scan"(%x) <{axis = 2 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @scan_c5_result_type(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.scan' op expects result type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<8xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @map_elementwise_c2_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'tt.map_elementwise' op expects tiles of equal shapes, got 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %0 = "tt.map_elementwise"(%x, %y) <{pack = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_elementwise_c3_pack(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.map_elementwise' op expects a pack that divides 8, got 3}}
  %0 = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.map_elementwise.return %a, %b, %c : f32, f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_elementwise_c4_arguments(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.map_elementwise' op expects 2 arguments of its region, got 1}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_elementwise_c5_returned(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.map_elementwise' op expects its region to return 2 values, got 1}}
  %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @elementwise_inline_asm_shapes(%x: tensor<8xi32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = tt.elementwise_inline_asm "x" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<4xi32>
  tt.return
}

// -----

tt.func @elementwise_inline_asm_c1_pack(%x: tensor<8xi32>) {
  // expected-error @+1 {{'tt.elementwise_inline_asm' op expects a packed_element that divides 8, got 3}}
  %0 = tt.elementwise_inline_asm "x" {constraints = "=r,r", packed_element = 3 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @print_c1_signs(%x: tensor<8xi32>) {
  // expected-error @+1 {{'tt.print' op expects one isSigned per argument, got 0 for 1}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : tensor<8xi32>
  tt.return
}

// -----

tt.func @return_c1_count(%x: i32) -> i32 {
  // expected-error @+1 {{'tt.return' op expects 1 values for '@return_c1_count', got 0}}
  tt.return
}

// -----

tt.func @return_c2_type(%x: i32) -> f32 {
  // expected-error @+1 {{'tt.return' op expects value 0 of type 'f32', got 'i32'}}
  tt.return %x : i32
}

// -----

tt.func @call_c1_unknown() {
  // expected-error @+1 {{'tt.call' op expects a function, and there is none named 'nobody'}}
  tt.call @nobody() : () -> ()
  tt.return
}

// -----

// expected-note @+1 {{'callee' is defined here}}
tt.func private @callee(%x: i32) {
  tt.return
}
tt.func @call_c2_type(%x: f32) {
  // expected-error @+1 {{'tt.call' op expects the callee's type '(i32) -> ()', got '(f32) -> ()'}}
  tt.call @callee(%x) : (f32) -> ()
  tt.return
}

// -----

tt.func @scan_c1_empty() {
  // expected-error @+1 {{'tt.scan' op expects at least one tile}}
  "tt.scan"() <{axis = 0 : i32, reverse = false}> ({
    "tt.scan.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @scan_c2_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'tt.scan' op expects tiles of equal shapes, got 'tensor<8xf32>' and 'tensor<4xf32>'}}
  %0:2 = "tt.scan"(%x, %y) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.scan.return %a, %b : f32, f32
  }) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
  tt.return
}

// -----

tt.func @scan_c4_results(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.scan' op expects one result per tile, got 2 for 1}}
  %0:2 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  tt.return
}

// -----

tt.func @scan_c6_arguments(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tt.scan' op expects 2 arguments of its region, got 1}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32):
    tt.scan.return %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @scan_c7_returned(%x: tensor<8xf32>, %i: i32) {
  // expected-error @+1 {{'tt.scan' op expects its region to return 'f32', got 'i32'}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %i : i32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @map_elementwise_c1_empty() {
  // expected-error @+1 {{'tt.map_elementwise' op expects at least one tile}}
  "tt.map_elementwise"() <{pack = 1 : i32}> ({
    "tt.map_elementwise.return"() : () -> ()
  }) : () -> ()
  tt.return
}

// -----

// expected-error @+1 {{expects a pointer to numbers, pointers or a tile, got 'index'}}
tt.func private @pointer_c1_pointee(!tt.ptr<index>)

// -----

// expected-error @+1 {{expects a descriptor of blocks of numbers with a static shape, got 'tensor<8x!tt.ptr<f32>>'}}
tt.func private @tensordesc_c1_elements(!tt.tensordesc<tensor<8x!tt.ptr<f32>>>)

// -----

// expected-error @+1 {{expects a descriptor of blocks of numbers with a static shape, got 'tensor<?xf32>'}}
tt.func private @tensordesc_c1_shape(!tt.tensordesc<tensor<?xf32>>)
