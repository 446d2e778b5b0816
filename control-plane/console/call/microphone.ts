/** Why there is no microphone, in words that say what to do. */
export class MicrophoneUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MicrophoneUnavailable';
  }
}

const NO_SECURE_CONTEXT =
  'Browsers give the microphone to secure pages only. Open this console over https, or on the machine itself ' +
  'as http://localhost. Whoever runs the server can set up TLS, with PARLEY_PUBLIC_URL as its address.';

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The microphone was refused. Allow it for this page in the address bar or in your browser’s settings, then try again.',
  NotFoundError: 'No microphone was found. Connect one and try again.',
  NotReadableError: 'The microphone can’t be opened. Another program may be using it.',
  OverconstrainedError: 'No microphone here fits what a call needs.',
  SecurityError: 'Your browser’s settings forbid the microphone for this page.',
};

/** Why a microphone can't even be asked for; null when it can. */
export function microphoneObstacle(): string | null {
  if (!window.isSecureContext) return NO_SECURE_CONTEXT;
  return navigator.mediaDevices ? null : 'This browser offers no microphone.';
}

/** Asks for the microphone. Throws `MicrophoneUnavailable` alone; the caller stops the track. */
export async function openMicrophone(): Promise<MediaStreamTrack> {
  const obstacle = microphoneObstacle();
  if (obstacle !== null) throw new MicrophoneUnavailable(obstacle);
  try {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
    const [track] = stream.getAudioTracks();
    if (track) return track;
    throw new DOMException('no audio track', 'NotFoundError');
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    const detail = error instanceof Error ? error.message : String(error);
    throw new MicrophoneUnavailable(REASONS[name] ?? `The microphone can’t be opened: ${detail}`);
  }
}
