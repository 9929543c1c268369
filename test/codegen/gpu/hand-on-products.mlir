// RUN: pellucid-opt %S/../differential/staged_attention_wide.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s
// RUN: pellucid-opt %S/../differential/staged_attention.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops | FileCheck %s --check-prefix=SMALL
// RUN: pellucid-opt %S/../differential/staged_attention_wide.ttir --ttgpu-choose-products="generation-only=true stages=3" --ttgpu-accumulate-products --ttgpu-pipeline-loops --ttgpu-choose-layouts | FileCheck %s --check-prefix=ROWS

// Only the next round uses what the second product gives: it is awaited there, behind the softmax of
// that round, and what it reads lies in one more copy than what the first product reads.
// CHECK-LABEL: @staged_attention_wide
// CHECK:       %[[K:.*]] = ttgpu.alloc_shared : <3 of tensor<64x64xbf16> along 1>
// CHECK:       %[[V:.*]] = ttgpu.alloc_shared : <4 of tensor<64x64xbf16> along 1>
// CHECK:       %[[LOOP:.*]]:{{.*}} = scf.for {{.*}} iter_args(%{{[^ ]*}} = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}, %[[SUMS:[^ ]*]] =
// CHECK:         ttgpu.await_copies 1
// CHECK:         %[[S:.*]] = tt.dot {{.*}}ttgpu.runs
// CHECK:         ttgpu.async_copy {{.*}} to %[[K]][%[[AT:.*]]] if
// CHECK-NOT:     ttgpu.async_copy {{.*}} to %[[V]][%[[AT]]]
// CHECK:         ttgpu.async_copy {{.*}} to %[[V]]
// CHECK:         ttgpu.await_products %[[S]], 0
// CHECK:         math.exp
// CHECK:         %[[BEFORE:.*]] = ttgpu.await_products %[[SUMS]], 0
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[BEFORE]]
// CHECK:         %[[P:.*]] = tt.dot {{.*}}, %[[SCALED]], {{.*}}ttgpu.runs
// CHECK-NEXT:    scf.yield {{.*}}, {{.*}}, %[[P]]
// CHECK:       ttgpu.await_products %[[LOOP]]#2, 0

// The maximum and the sum of a row stay where the product has its row, in every round.
// ROWS-LABEL: @staged_attention_wide
// ROWS:       scf.for
// ROWS-NOT:   ttgpu.convert_layout {{.*}} : tensor<128xf32,
// ROWS:       scf.yield

// Where three blocks or more share a multiprocessor, they hide what handing on would.
// SMALL-LABEL: @staged_attention
// SMALL-NOT:   ttgpu.alloc_shared : <4
// SMALL:       scf.for
// SMALL:         ttgpu.await_products
// SMALL-NOT:     ttgpu.await_products
// SMALL:         scf.yield
