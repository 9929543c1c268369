// RUN: pellucid-opt %s --ttgpu-narrow-arithmetic | FileCheck %s

// A rotation as the graph writes it: each step rounds to bf16.
// CHECK-LABEL: @rotation
// CHECK-SAME:  (%[[X:[a-z0-9]+]]: tensor<256xbf16>, %[[COS:[a-z0-9]+]]: tensor<256xbf16>, %[[Y:[a-z0-9]+]]: tensor<256xbf16>, %[[SIN:[a-z0-9]+]]: tensor<256xbf16>
// CHECK-NOT:   arith.extf
// CHECK-DAG:   %[[ONE:.*]] = arith.constant dense<-1.000000e+00> : tensor<256xbf16>
// CHECK-DAG:   %[[KEPT:.*]] = arith.mulf %[[X]], %[[COS]] : tensor<256xbf16>
// CHECK-DAG:   %[[TURNED:.*]] = arith.mulf %[[Y]], %[[ONE]] : tensor<256xbf16>
// CHECK:       %[[OTHER:.*]] = arith.mulf %[[TURNED]], %[[SIN]] : tensor<256xbf16>
// CHECK:       %[[SUM:.*]] = arith.addf %[[KEPT]], %[[OTHER]] : tensor<256xbf16>
// CHECK:       tt.return %[[SUM]]
tt.func public @rotation(%x: tensor<256xbf16>, %cos: tensor<256xbf16>, %y: tensor<256xbf16>, %sin: tensor<256xbf16>) -> tensor<256xbf16> {
  %minus = arith.constant dense<-1.0> : tensor<256xf32>
  %x32 = arith.extf %x : tensor<256xbf16> to tensor<256xf32>
  %cos32 = arith.extf %cos : tensor<256xbf16> to tensor<256xf32>
  %kept32 = arith.mulf %x32, %cos32 : tensor<256xf32>
  %kept = arith.truncf %kept32 : tensor<256xf32> to tensor<256xbf16>
  %y32 = arith.extf %y : tensor<256xbf16> to tensor<256xf32>
  %turned32 = arith.mulf %y32, %minus : tensor<256xf32>
  %turned = arith.truncf %turned32 : tensor<256xf32> to tensor<256xbf16>
  %again = arith.extf %turned : tensor<256xbf16> to tensor<256xf32>
  %sin32 = arith.extf %sin : tensor<256xbf16> to tensor<256xf32>
  %other32 = arith.mulf %again, %sin32 : tensor<256xf32>
  %other = arith.truncf %other32 : tensor<256xf32> to tensor<256xbf16>
  %a = arith.extf %kept : tensor<256xbf16> to tensor<256xf32>
  %b = arith.extf %other : tensor<256xbf16> to tensor<256xf32>
  %sum32 = arith.addf %a, %b : tensor<256xf32>
  %sum = arith.truncf %sum32 : tensor<256xf32> to tensor<256xbf16>
  tt.return %sum : tensor<256xbf16>
}

// A number that bf16 does not have, and what is read in f32 too, stay.
// CHECK-LABEL: @stays
// CHECK:       arith.mulf %{{.*}} : tensor<256xf32>
// CHECK:       arith.addf %{{.*}} : tensor<256xf32>
// CHECK:       arith.mulf %{{.*}} : tensor<256xf32>
tt.func public @stays(%x: tensor<256xbf16>, %y: tensor<256xf16>) -> (tensor<256xbf16>, tensor<256xbf16>, tensor<256xf32>, tensor<256xf16>) {
  %tenth = arith.constant dense<0.1> : tensor<256xf32>
  %x32 = arith.extf %x : tensor<256xbf16> to tensor<256xf32>
  %scaled = arith.mulf %x32, %tenth : tensor<256xf32>
  %r0 = arith.truncf %scaled : tensor<256xf32> to tensor<256xbf16>
  %twice = arith.addf %x32, %x32 : tensor<256xf32>
  %r1 = arith.truncf %twice : tensor<256xf32> to tensor<256xbf16>
  %y32 = arith.extf %y : tensor<256xf16> to tensor<256xf32>
  %mixed = arith.mulf %x32, %y32 : tensor<256xf32>
  %r3 = arith.truncf %mixed : tensor<256xf32> to tensor<256xf16>
  tt.return %r0, %r1, %twice, %r3 : tensor<256xbf16>, tensor<256xbf16>, tensor<256xf32>, tensor<256xf16>
}

// The same tile on both sides, and the largest of two.
// CHECK-LABEL: @same
// CHECK:       %[[SQUARE:.*]] = arith.mulf %arg0, %arg0 : tensor<256xf16>
// CHECK:       arith.maximumf %[[SQUARE]], %{{.*}} : tensor<256xf16>
tt.func public @same(%x: tensor<256xf16>) -> tensor<256xf16> {
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %x32 = arith.extf %x : tensor<256xf16> to tensor<256xf32>
  %square32 = arith.mulf %x32, %x32 : tensor<256xf32>
  %square = arith.truncf %square32 : tensor<256xf32> to tensor<256xf16>
  %again = arith.extf %square : tensor<256xf16> to tensor<256xf32>
  %most32 = arith.maximumf %again, %zero : tensor<256xf32>
  %most = arith.truncf %most32 : tensor<256xf32> to tensor<256xf16>
  tt.return %most : tensor<256xf16>
}
