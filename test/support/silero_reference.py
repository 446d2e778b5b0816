"""Silero VAD v5 on onnxruntime: 16-bit PCM at 16 kHz on standard input, one 32-bit float per frame on standard output."""

import sys

import numpy as np
import onnxruntime

FRAME = 512
CONTEXT = 64

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
samples = np.frombuffer(sys.stdin.buffer.read(), dtype="<i2").astype(np.float32) / 32768
rate = np.array(16000, dtype=np.int64)
state = np.zeros((2, 1, 128), dtype=np.float32)
context = np.zeros((1, CONTEXT), dtype=np.float32)
for start in range(0, len(samples) - FRAME + 1, FRAME):
    window = np.concatenate([context, samples[None, start : start + FRAME]], axis=1)
    probability, state = session.run(None, {"input": window, "state": state, "sr": rate})
    context = window[:, -CONTEXT:]
    sys.stdout.buffer.write(probability.astype("<f4").tobytes())
