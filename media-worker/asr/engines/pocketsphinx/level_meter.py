"""How loud an utterance is at its loudest and at its quietest, over windows of 100 ms."""

import array
import math
import sys
from operator import mul

WINDOW_SAMPLES = 1600


class LevelMeter:
    """Takes 16-bit little-endian PCM in pieces of any length."""

    def __init__(self):
        # In dB over one step of a 16-bit sample; a window is counted when it is full.
        self.loudest_db = 0.0
        self.quietest_db = math.inf
        self.energy = 0
        self.samples = 0

    @property
    def range_db(self):
        return max(0.0, self.loudest_db - self.quietest_db)

    def push(self, pcm):
        samples = array.array("h")
        samples.frombytes(pcm[: len(pcm) // 2 * 2])
        if sys.byteorder == "big":
            samples.byteswap()
        at = 0
        while at < len(samples):
            piece = samples[at : at + WINDOW_SAMPLES - self.samples]
            at += len(piece)
            self.energy += sum(map(mul, piece, piece))
            self.samples += len(piece)
            if self.samples == WINDOW_SAMPLES:
                self.count()

    def count(self):
        level_db = 10 * math.log10(max(1.0, self.energy / self.samples))
        self.loudest_db = max(self.loudest_db, level_db)
        self.quietest_db = min(self.quietest_db, level_db)
        self.energy = self.samples = 0
