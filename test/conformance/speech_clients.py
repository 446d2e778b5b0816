"""Runs the published Python clients of this speech API against a server. Prints one JSON object per step.

Usage: speech_clients.py <base url> <api key> <wav file>
"""

import asyncio
import base64
import json
import sys

base_url, api_key, wav_path = sys.argv[1:4]


def tell(step, **fields):
    print(json.dumps({"step": step, **fields}), flush=True)


def shown(audio):
    return {"bytes": len(audio), "head": base64.b64encode(audio[:64]).decode()}


def new_client():
    from fishaudio import FishAudio
    from fishaudio.exceptions import AuthenticationError
    from fishaudio.types import TTSConfig

    client = FishAudio(api_key=api_key, base_url=base_url)
    tell("convert", **shown(client.tts.convert(text="Hello from the client.")))
    for format in ("mp3", "wav", "pcm", "opus"):
        audio = client.tts.convert(text="Hello from the client.", format=format)
        tell(f"convert {format}", **shown(audio))
    chunks = list(client.tts.stream(text="Hello there. This is another sentence, and a longer one."))
    tell("stream", chunks=len(chunks), **shown(b"".join(chunks)))

    def words():
        yield "Hello from "
        yield "the socket. "
        yield "And some more words."

    config = TTSConfig(format="pcm", sample_rate=24000)
    audio = b"".join(client.tts.stream_websocket(words(), config=config))
    tell("stream_websocket", **shown(audio))
    audio = b"".join(client.tts.stream_websocket(iter(["word " * 3000, "the end."]), config=config))
    tell("stream_websocket long", **shown(audio))
    with open(wav_path, "rb") as file:
        heard = client.asr.transcribe(audio=file.read(), language="en")
    tell("transcribe", text=heard.text, duration=heard.duration, segments=len(heard.segments))
    credit = client.account.get_credits()
    tell("get_credits", credit=str(credit.credit))
    try:
        FishAudio(api_key="pk_wrong", base_url=base_url).tts.convert(text="Hello.")
    except AuthenticationError as error:
        tell("wrong key", message=str(error))
    client.close()


async def new_async_client():
    from fishaudio import AsyncFishAudio
    from fishaudio.types import TTSConfig

    client = AsyncFishAudio(api_key=api_key, base_url=base_url)
    tell("async convert", **shown(await client.tts.convert(text="Hello from the client.")))

    async def words():
        yield "Hello from "
        yield "the socket."

    parts = [part async for part in client.tts.stream_websocket(words(), config=TTSConfig(format="mp3"))]
    tell("async stream_websocket", **shown(b"".join(parts)))
    await client.close()


def legacy_client():
    from fish_audio_sdk import ASRRequest, Session, TTSRequest, WebSocketSession

    session = Session(api_key, base_url=base_url)
    audio = b"".join(session.tts(TTSRequest(text="Hello from the older client.")))
    tell("legacy tts", **shown(audio))
    with open(wav_path, "rb") as file:
        heard = session.asr(ASRRequest(audio=file.read()))
    tell("legacy asr", text=heard.text, duration=heard.duration)
    socket = WebSocketSession(api_key, base_url=base_url)
    with socket:
        audio = b"".join(socket.tts(TTSRequest(text="", format="pcm"), iter(["One two ", "three."])))
    tell("legacy socket", **shown(audio))


async def livekit_plugin():
    import aiohttp
    from livekit.plugins import fishaudio

    async with aiohttp.ClientSession() as http:
        for format in ("wav", "pcm", "mp3", "opus"):
            tts = fishaudio.TTS(
                api_key=api_key, base_url=base_url, voice_id=VOICE_ID, output_format=format, http_session=http
            )
            seconds = 0.0
            async for event in tts.synthesize("Hello from the plugin."):
                seconds += event.frame.duration
            tell(f"plugin synthesize {format}", seconds=seconds)
            for turn in (1, 2):
                stream = tts.stream()
                for text in ("This is the first sentence, long enough. ", "And here comes the second one."):
                    stream.push_text(text)
                stream.end_input()
                seconds = 0.0
                async for event in stream:
                    seconds += event.frame.duration
                await stream.aclose()
                tell(f"plugin stream {format} {turn}", seconds=seconds)
            await tts.aclose()


VOICE_ID = "0e077d25dea2782778dbf851f710b3b3"

new_client()
asyncio.run(new_async_client())
legacy_client()
asyncio.run(livekit_plugin())
