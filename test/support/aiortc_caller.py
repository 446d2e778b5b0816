"""A caller on aiortc through WHIP (RFC 9725).

Arguments: the WHIP address, the token, and a file that gets the agent's voice as 48 kHz mono PCM.
Standard input: one JSON object a line, {"say": "<file of 48 kHz mono PCM>"} or {"leave": true}; its end means leave.
Standard output: one JSON object a line: {"joined": true}, {"silent": true} when all is said, and every event of the channel.
"""

import asyncio
import fractions
import json
import sys
import urllib.request
from urllib.parse import urljoin

from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame
from av.audio.resampler import AudioResampler

RATE_HZ = 48_000
FRAME = RATE_HZ // 50


def tell(message):
    print(json.dumps(message), flush=True)


class Microphone(MediaStreamTrack):
    """Sends what is queued, silence between."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self.queued = bytearray()
        self.count = 0
        self.start = None
        self.was_speaking = False

    async def recv(self):
        loop = asyncio.get_running_loop()
        if self.start is None:
            self.start = loop.time()
        await asyncio.sleep(max(0, self.start + self.count * FRAME / RATE_HZ - loop.time()))
        data = bytes(self.queued[: FRAME * 2]).ljust(FRAME * 2, b"\0")
        del self.queued[: FRAME * 2]
        if self.was_speaking and not self.queued:
            tell({"silent": True})
        self.was_speaking = bool(self.queued)
        frame = AudioFrame(format="s16", layout="mono", samples=FRAME)
        frame.planes[0].update(data)
        frame.sample_rate = RATE_HZ
        frame.pts = self.count * FRAME
        frame.time_base = fractions.Fraction(1, RATE_HZ)
        self.count += 1
        return frame


async def record(track, path):
    resampler = AudioResampler(format="s16", layout="mono", rate=RATE_HZ)
    with open(path, "wb") as file:
        while True:
            try:
                frame = await track.recv()
            except Exception:
                return
            for part in resampler.resample(frame):
                file.write(bytes(part.planes[0])[: part.samples * 2])
                file.flush()


def request(method, url, token, body=None):
    headers = {"authorization": f"Bearer {token}", "content-type": "application/sdp"}
    call = urllib.request.Request(url, data=body, headers=headers, method=method)
    with urllib.request.urlopen(call, timeout=10) as reply:
        return reply.headers.get("location"), reply.read().decode()


async def main(url, token, recording):
    peer = RTCPeerConnection()
    microphone = Microphone()
    peer.addTrack(microphone)
    channel = peer.createDataChannel("events")
    channel.on("message", lambda message: tell(json.loads(message)))
    peer.on("track", lambda track: asyncio.ensure_future(record(track, recording)))
    await peer.setLocalDescription(await peer.createOffer())
    offer = peer.localDescription.sdp.encode()
    location, answer = await asyncio.to_thread(request, "POST", url, token, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    tell({"joined": True})
    while True:
        line = await asyncio.to_thread(sys.stdin.readline)
        order = json.loads(line) if line else {"leave": True}
        if "leave" in order:
            break
        with open(order["say"], "rb") as file:
            microphone.queued += file.read()
    await asyncio.to_thread(request, "DELETE", urljoin(url, location), token)
    await peer.close()


asyncio.run(main(*sys.argv[1:4]))
