"""A WHIP caller on aiortc. Commands come as JSON lines on standard input, what it sees goes out as JSON lines.

Usage: aiortc_caller.py URL TOKEN HZ. Ends when standard input closes.
"""

import asyncio
import fractions
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import numpy
from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame

RATE = 48000
FRAME = 960


def say(**event):
    print(json.dumps(event), flush=True)


class Tone(MediaStreamTrack):
    kind = "audio"

    def __init__(self, hz):
        super().__init__()
        self.hz = hz
        self.sent = 0
        self.start = None

    async def recv(self):
        loop = asyncio.get_running_loop()
        self.start = self.start or loop.time()
        await asyncio.sleep(max(0, self.start + self.sent / RATE - loop.time()))
        at = numpy.arange(self.sent, self.sent + FRAME)
        samples = (8000 * numpy.sin(2 * numpy.pi * self.hz * at / RATE)).astype(numpy.int16)
        frame = AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self.sent, fractions.Fraction(1, RATE)
        self.sent += FRAME
        return frame


async def listen(track):
    """Says the loudest pitch of every half second."""
    heard = numpy.zeros(0)
    while True:
        frame = await track.recv()
        channels = len(frame.layout.channels)
        heard = numpy.concatenate([heard, frame.to_ndarray().reshape(-1)[::channels].astype(float)])
        if len(heard) >= frame.sample_rate // 2:
            levels = numpy.abs(numpy.fft.rfft(heard))
            rms = float(numpy.sqrt(numpy.mean(heard**2)))
            hz = float(numpy.argmax(levels) * frame.sample_rate / len(heard)) if rms > 100 else 0
            say(heard_hz=hz)
            heard = numpy.zeros(0)


def request(method, url, token, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/sdp"}
    call = urllib.request.Request(url, method=method, headers=headers, data=body)
    try:
        with urllib.request.urlopen(call, timeout=10) as reply:
            return reply.status, reply.headers, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


async def main(url, token, hz):
    peer = RTCPeerConnection()
    peer.addTrack(Tone(hz))
    channel = peer.createDataChannel("events")
    channel.on("message", lambda text: say(message=json.loads(text)))
    channel.on("open", lambda: say(channel="open"))
    peer.on("track", lambda track: asyncio.ensure_future(listen(track)))
    peer.on("connectionstatechange", lambda: say(state=peer.connectionState))
    await peer.setLocalDescription(await peer.createOffer())
    offer = peer.localDescription.sdp
    loop = asyncio.get_running_loop()
    status, headers, answer = await loop.run_in_executor(
        None, request, "POST", url, token, offer.encode()
    )
    location = headers.get("Location")
    say(status=status, location=location, offer=offer)
    if status == 201:
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command = json.loads(line)
        if "send" in command:
            channel.send(json.dumps(command["send"]))
        if "hang_up" in command:
            where = urllib.parse.urljoin(url, location)
            reply = await loop.run_in_executor(None, request, "DELETE", where, token)
            say(deleted=reply[0])
    await peer.close()


asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
