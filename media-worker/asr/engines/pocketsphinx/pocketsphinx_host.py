"""Recognises English speech with PocketSphinx for the media worker, as a side process.

Standard input carries frames: u32 length of what follows, u8 type, u32 session, u32 utterance (all little
endian), payload. Types: 1 open (makes a decoder), 2 PCM (16 kHz, mono, signed 16 bit, little endian; begins the
utterance if need be), 3 end of utterance, 4 abort utterance, 5 close session. Frames of one session are worked
on in order, sessions in turns of at most 100 ms of audio.

Standard output carries JSON lines: {"type":"ready"}, {"type":"open","session"}, {"type":"partial","session",
"utterance","text","ms"}, {"type":"final","session","utterance","text","confidence","words":[{"w","start","end",
"p"}],"ms"} (word times in ms from the utterance's first sample) and {"type":"failed","session","utterance",
"message"}. The process ends when its input closes.
"""

import json
import os
import struct
import sys
import threading
from collections import OrderedDict, deque

from decoder_pool import DecoderPool
from speaker import BYTES_PER_MS, MAX_UTTERANCE_MS, TURN_BYTES, Speaker

OPEN, PCM, END, ABORT, CLOSE = 1, 2, 3, 4, 5
# The backlog of one session; what would not fit is refused instead of growing.
MAX_QUEUED_BYTES = MAX_UTTERANCE_MS * BYTES_PER_MS

output_lock = threading.Lock()


def emit(message):
    with output_lock:
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()


def fail(session_id, utterance, message):
    emit({"type": "failed", "session": session_id, "utterance": utterance, "message": message})


class Session:
    """A speaker and the frames that wait for the decoder."""

    def __init__(self, session_id):
        self.id = session_id
        self.speaker = Speaker(session_id, emit)
        self.work = deque()
        self.queued_bytes = 0

    def keep_work(self, is_kept):
        self.work = deque(w for w in self.work if is_kept(w[1]))
        self.queued_bytes = sum(len(w[2]) for w in self.work)

    def take_work(self):
        """The next frame; of audio, all that follows up to 100 ms."""
        kind, utterance, payload = self.work.popleft()
        while kind == PCM and len(payload) < TURN_BYTES and self.work and self.work[0][:2] == (PCM, utterance):
            payload += self.work.popleft()[2]
        self.queued_bytes -= len(payload)
        return kind, utterance, payload


class Host:
    """Reads frames on one thread and decodes on the other; the decoder holds Python's lock while it works."""

    def __init__(self):
        self.lock = threading.Condition()
        self.sessions = OrderedDict()
        self.decoders = DecoderPool()

    def read_frames(self, stream):
        while True:
            header = stream.read(4)
            if len(header) < 4:
                os._exit(0)
            body = stream.read(struct.unpack("<I", header)[0])
            kind, session_id, utterance = struct.unpack_from("<BII", body)
            with self.lock:
                self.accept(kind, session_id, utterance, body[9:])
                self.lock.notify()

    def accept(self, kind, session_id, utterance, payload):
        session = self.sessions.get(session_id)
        if session is None:
            session = self.sessions[session_id] = Session(session_id)
        # What is aborted must not cost the others time, so it goes at once.
        if kind == CLOSE:
            session.keep_work(lambda _: False)
        if kind == ABORT:
            session.keep_work(lambda other: other != utterance)
        if session.queued_bytes + len(payload) > MAX_QUEUED_BYTES:
            fail(session_id, utterance, "the recogniser is too far behind")
            return
        session.work.append((kind, utterance, payload))
        session.queued_bytes += len(payload)

    def take_turn(self):
        """The next session with work, and up to 100 ms of it."""
        with self.lock:
            while True:
                for session in self.sessions.values():
                    if session.work:
                        self.sessions.move_to_end(session.id)
                        return session, *session.take_work()
                self.lock.wait()

    def run(self):
        self.decoders.give_back(self.decoders.take())
        emit({"type": "ready"})
        while True:
            session, kind, utterance, payload = self.take_turn()
            try:
                self.work_on(session, kind, utterance, payload)
            except RuntimeError as error:
                # The decoder is in an unknown state: the next utterance gets another one.
                session.speaker = Speaker(session.id, emit)
                fail(session.id, utterance, str(error))

    def work_on(self, session, kind, utterance, payload):
        speaker = session.speaker
        if kind == CLOSE:
            speaker.drop()
            if speaker.decoder is not None:
                self.decoders.give_back(speaker.decoder)
            with self.lock:
                self.sessions.pop(session.id, None)
        elif kind == ABORT:
            if speaker.utterance == utterance:
                speaker.drop()
        else:
            if speaker.decoder is None:
                speaker.decoder = self.decoders.take()
            if kind == OPEN:
                emit({"type": "open", "session": session.id})
            elif kind == PCM:
                speaker.feed(utterance, payload)
            elif kind == END:
                speaker.finish(utterance)


if __name__ == "__main__":
    host = Host()
    threading.Thread(target=host.read_frames, args=(sys.stdin.buffer,), daemon=True).start()
    host.run()
