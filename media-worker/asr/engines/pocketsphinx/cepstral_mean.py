"""Where a speaker's cepstra are centred, learnt over the utterances of a session.

The decoder's own mean starts far from any voice and moves slowly: with it 16 % of the words of a first utterance
are wrong that are 5 % wrong once it has settled. Here it starts at the average of ten voices, shifted by the
level at which this one arrives, and moves with a hundred frames' inertia.
"""

FRAMES_PER_S = 100
# Means of c0 to c12 over synthetic and human voices at REFERENCE_DB.
TYPICAL_VOICE = (47.0, -0.5, 0.5, 14.0, -7.0, 2.0, -2.5, -6.0, -2.0, -2.5, 3.0, 0.0, 0.5)
REFERENCE_DB = 72.0
# How far c0 moves per dB of level.
C0_PER_DB = 0.91
INERTIA_FRAMES = 100
# What is learnt is weighed as at most this much speech, so that a new room or headset is learnt too.
MEMORY_FRAMES = 3000
# The decoder weighs a mean it is given as this many frames (CMN_WIN in its source).
DECODER_INERTIA_FRAMES = 500
# It starts to forget past 800 frames, so what it counted is taken over well before.
TAKE_OVER_FRAMES = 200


class CepstralMean:
    def __init__(self):
        self.prior = None
        self.heard = [0.0] * len(TYPICAL_VOICE)
        self.heard_frames = 0.0
        self.given = None
        self.pending_frames = 0.0

    @property
    def has_heard_speech(self):
        return self.heard_frames > 0

    def begin(self, decoder, level_db):
        """Before an utterance; `level_db` counts as long as no speech was heard."""
        if not self.has_heard_speech:
            c0 = TYPICAL_VOICE[0] + C0_PER_DB * (level_db - REFERENCE_DB)
            self.prior = (c0,) + TYPICAL_VOICE[1:]
        self.give(decoder)

    def advance(self, decoder, frames):
        """After `frames` of the utterance were decoded."""
        self.pending_frames += frames
        if self.pending_frames >= TAKE_OVER_FRAMES:
            self.take_over(decoder)
            self.give(decoder)

    def end(self, decoder, was_speech):
        """Before the decoder ends the utterance. Noise teaches nothing."""
        if was_speech and self.pending_frames > 0:
            self.take_over(decoder)
        self.pending_frames = 0.0

    def give(self, decoder):
        weight = INERTIA_FRAMES + self.heard_frames
        self.given = [(INERTIA_FRAMES * p + h) / weight for p, h in zip(self.prior, self.heard)]
        self.pending_frames = 0.0
        decoder.set_cmn(",".join(f"{c:.4f}" for c in self.given))

    def take_over(self, decoder):
        blended = [float(c) for c in decoder.get_cmn(update=True).split(",")]
        weight = DECODER_INERTIA_FRAMES + self.pending_frames
        for i, (after, before) in enumerate(zip(blended, self.given)):
            self.heard[i] += weight * after - DECODER_INERTIA_FRAMES * before
        self.heard_frames += self.pending_frames
        if self.heard_frames > MEMORY_FRAMES:
            self.heard = [h * MEMORY_FRAMES / self.heard_frames for h in self.heard]
            self.heard_frames = MEMORY_FRAMES
