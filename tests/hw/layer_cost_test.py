"""Tests how scripts/layer_cost.py finds a loop in machine code, and what it counts there.

  layer_cost_test.py SCRIPTS
"""

import sys
import unittest

sys.path.insert(0, sys.argv.pop())
import layer_cost  # noqa: E402

# A loop of seven, whose wait spins behind the end of the kernel; and another loop around it.
KERNEL = """
\t\tFunction : _ZN8warptwin2hw5bench8raw_copyE
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR10], R0 ;
        /*0020*/              @!P0 BRA 0x80 ;
        /*0030*/                   UTMALDG.2D [UR8], [UR6] ;
        /*0040*/              @!P1 BRA 0x10 ;
        /*0050*/                   NOP ;
        /*0060*/              @!P2 BRA 0x0 ;
        /*0070*/                   EXIT ;
        /*0080*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR10], R0 ;
        /*0090*/              @!P0 BRA 0x80 ;
        /*00a0*/                   BRA 0x30 ;
"""


class LayerCost(unittest.TestCase):
    def test_a_loop_is_the_smallest_with_its_marker_and_has_its_slow_path(self):
        ((name, body),) = layer_cost.functions(KERNEL)
        self.assertEqual(layer_cost.variant_of(name), ("copy", "raw"))
        self.assertEqual(len(body), 11)
        self.assertEqual(layer_cost.loop_length(body, "UTMALDG"), 7)
        self.assertEqual(layer_cost.loop_length(body, "NOP"), 10)
        self.assertIsNone(layer_cost.loop_length(body, "EXIT"))
        self.assertIsNone(layer_cost.loop_length(body, "HGMMA"))

    def test_variants_are_told_by_the_kernel(self):
        entry = "_ZN8warptwin2hw12kernel_entryINS_9scenarios22ProducerConsumerKernelE"
        self.assertEqual(layer_cost.variant_of(entry), ("copy", "layer"))
        observed = "_ZN8warptwin2hw14observed_entryINS0_5bench15WgmmaGemmKernelE"
        self.assertEqual(layer_cost.variant_of(observed), ("gemm", "deadlines"))


if __name__ == "__main__":
    unittest.main()
