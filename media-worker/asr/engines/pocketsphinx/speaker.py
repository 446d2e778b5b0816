"""Hears one speaker, utterance by utterance, and tells speech from what is none."""

from cepstral_mean import FRAMES_PER_S, CepstralMean
from level_meter import LevelMeter

BYTES_PER_MS = 32
MS_PER_FRAME = 1000 // FRAMES_PER_S
TURN_BYTES = 100 * BYTES_PER_MS
PARTIAL_EVERY_MS = 200
# Of the first utterance this much is heard before decoding starts: its level sets where the mean begins.
LISTEN_FIRST_MS = 900
# One speaker's longest utterance; what comes later is not decoded.
MAX_UTTERANCE_MS = 120_000
MIN_AUDIO_MS = 200
# Below this the loudest 100 ms are silence, on which the decoder invents words.
MIN_LEVEL_DB = 28.0
# How silence and noises begin in the decoder's own notation.
NO_WORD = "<[+"
# Speech rises and falls by 15 dB and more; what stays within this is hiss.
MIN_RANGE_DB = 6.0
# Speech scores 0.4 and more, brown noise 0.06; measured per word and weighted by its length.
MIN_CONFIDENCE = 0.25
# Steady noise is decoded as one endless short word.
MAX_MS_PER_WORD = 1_100


def plain(word):
    """The word without the number of its pronunciation: `to(3)` is `to`."""
    return word.split("(", 1)[0]


def as_word(segment):
    return {
        "w": plain(segment.word),
        "start": segment.start_frame * MS_PER_FRAME,
        "end": (segment.end_frame + 1) * MS_PER_FRAME,
        "p": round(min(1.0, segment.prob), 3),
    }


class Speaker:
    """One session's voice: its decoder and the utterance under way. `tell` takes messages for the worker."""

    def __init__(self, session_id, tell):
        self.id = session_id
        self.tell = tell
        self.decoder = None
        self.mean = CepstralMean()
        self.utterance = None
        self.held = bytearray()
        self.is_decoding = False
        self.fed_ms = 0.0
        self.next_partial_ms = 0.0
        self.level = LevelMeter()
        self.last_partial = ""

    def feed(self, utterance, pcm):
        if self.utterance != utterance:
            self.drop()
            self.utterance = utterance
        if self.fed_ms + len(self.held) / BYTES_PER_MS >= MAX_UTTERANCE_MS:
            return
        self.level.push(pcm)
        if self.is_decoding:
            self.decode(pcm)
            return
        self.held += pcm
        if self.mean.has_heard_speech or len(self.held) >= LISTEN_FIRST_MS * BYTES_PER_MS:
            self.start()

    def start(self):
        held = bytes(self.held)
        self.held.clear()
        self.mean.begin(self.decoder, self.level.loudest_db)
        self.decoder.start_utt()
        self.is_decoding = True
        self.decode(held)

    def decode(self, pcm):
        for at in range(0, len(pcm), TURN_BYTES):
            part = pcm[at : at + TURN_BYTES]
            self.decoder.process_raw(part)
            self.fed_ms += len(part) / BYTES_PER_MS
            self.mean.advance(self.decoder, len(part) / BYTES_PER_MS / MS_PER_FRAME)
        if self.fed_ms >= self.next_partial_ms:
            self.next_partial_ms = self.fed_ms + PARTIAL_EVERY_MS
            self.report_partial()

    def report_partial(self):
        hypothesis = self.decoder.hyp()
        text = " ".join(plain(w) for w in hypothesis.hypstr.split()) if hypothesis else ""
        if text and text != self.last_partial and self.is_speech_like():
            self.last_partial = text
            self.report("partial", text=text)

    def finish(self, utterance):
        if self.utterance != utterance:
            self.drop()
            self.utterance = utterance
        if not self.is_decoding and len(self.held) >= MIN_AUDIO_MS * BYTES_PER_MS:
            self.start()
        words, confidence = [], 0.0
        if self.is_decoding:
            self.is_decoding = False
            self.mean.end(self.decoder, self.is_speech_like())
            self.decoder.end_utt()
            if self.fed_ms >= MIN_AUDIO_MS and self.is_speech_like():
                words, confidence = self.recognised()
        text = " ".join(word["w"] for word in words)
        self.report("final", text=text, confidence=round(confidence, 3), words=words)
        self.drop()

    def report(self, kind, **what):
        heard_ms = round(self.fed_ms)
        self.tell({"type": kind, "session": self.id, "utterance": self.utterance, "ms": heard_ms, **what})

    def is_speech_like(self):
        return self.level.loudest_db >= MIN_LEVEL_DB and self.level.range_db >= MIN_RANGE_DB

    def recognised(self):
        """The words and how sure they are; none when it was not speech."""
        hypothesis = self.decoder.hyp()
        segments = self.decoder.seg() if hypothesis else None
        words = [as_word(segment) for segment in (segments or []) if segment.word[0] not in NO_WORD]
        heard_ms = sum(w["end"] - w["start"] for w in words)
        if not words or heard_ms > MAX_MS_PER_WORD * len(words):
            return [], 0.0
        confidence = sum(w["p"] * (w["end"] - w["start"]) for w in words) / heard_ms
        return (words, confidence) if confidence >= MIN_CONFIDENCE else ([], confidence)

    def drop(self):
        """Forgets the utterance under way, without an answer."""
        if self.is_decoding:
            self.is_decoding = False
            self.mean.end(self.decoder, False)
            self.decoder.end_utt()
        self.utterance = None
        self.held.clear()
        self.fed_ms = self.next_partial_ms = 0.0
        self.level = LevelMeter()
        self.last_partial = ""
