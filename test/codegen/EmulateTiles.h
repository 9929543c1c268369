// SPDX-License-Identifier: Apache-2.0
// Tile instructions (AMX) on machines without them, so that the code for them can be tested.
#pragma once

namespace pellucid::codegen {

/// From now on the process's threads run LDTILECFG, TILERELEASE, TILEZERO, TILELOADD(T1),
/// TILESTORED, TDPBF16PS, TDPBSSD, TDPBSUD, TDPBUSD and TDPBUUD, each caught as an illegal
/// instruction. What Intel's manual calls an error ends the process with a sentence.
void emulateTiles();

} // namespace pellucid::codegen
