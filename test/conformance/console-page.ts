import type { Browser, Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import type { Parley } from '../support/parley.ts';

/** Records every voice that reaches the page, as 16-bit PCM at 48 kHz. */
const RECORDER = `
  const heard = [];
  const NativePeer = globalThis.RTCPeerConnection;
  globalThis.RTCPeerConnection = class extends NativePeer {
    constructor(...args) {
      super(...args);
      this.addEventListener('track', ({ track }) => {
        if (track.kind !== 'audio') return;
        const source = audio.createMediaStreamSource(new MediaStream([track]));
        const tap = audio.createScriptProcessor(4096, 1, 1);
        tap.onaudioprocess = ({ inputBuffer }) =>
          heard.push(Int16Array.from(inputBuffer.getChannelData(0), (x) => Math.max(-1, Math.min(1, x)) * 32767));
        source.connect(tap);
        tap.connect(audio.destination);
      });
    }
  };
  globalThis.heardBase64 = async () => {
    const reader = new FileReader();
    const done = new Promise((resolve) => { reader.onload = resolve; });
    reader.readAsDataURL(new Blob(heard));
    await done;
    return reader.result.split(',')[1] ?? '';
  };
`;

/** Puts a microphone into the page that says what the test gives it; every call gets a track of its own. */
const SCRIPTED_MICROPHONE = `
  const audio = new AudioContext({ sampleRate: 48000 });
  let out = null;
  if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = async () => {
    await audio.resume();
    out = audio.createMediaStreamDestination();
    return out.stream;
  };
  globalThis.speak = (base64) => new Promise((resolve) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const pcm = new Int16Array(bytes.buffer);
    const buffer = audio.createBuffer(1, pcm.length, 48000);
    buffer.copyToChannel(Float32Array.from(pcm, (sample) => sample / 32768), 0);
    const source = new AudioBufferSourceNode(audio, { buffer });
    source.connect(out);
    source.onended = resolve;
    source.start();
  });
`;

const REFUSED_MICROPHONE = `
  navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); };
`;

const MICROPHONES = {
  scripted: SCRIPTED_MICROPHONE + RECORDER,
  refused: REFUSED_MICROPHONE,
  browser: '',
} as const;

export interface ConsolePageOptions {
  readonly microphone?: keyof typeof MICROPHONES;
  /** Where the console is opened, if not at the service's own address. */
  readonly baseUrl?: string;
}

/** The console as a person uses it, in a window of its own. */
export class ConsolePage {
  readonly page: Page;
  /** What the browser reported as an error, failed requests aside. */
  readonly errors: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.errors.push(message.text());
    });
  }

  static async open(
    browser: Browser,
    parley: Parley,
    { microphone = 'browser', baseUrl = parley.baseUrl }: ConsolePageOptions = {},
  ): Promise<ConsolePage> {
    const page = await browser.newPage();
    const console = new ConsolePage(page);
    await page.addInitScript(MICROPHONES[microphone]);
    await page.goto(`${baseUrl}/console`);
    return console;
  }

  async signIn(key: string): Promise<void> {
    await this.page.getByLabel('API key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** From anywhere to the editor of a new agent. */
  async createFromTemplate(template: string, name: string): Promise<void> {
    await this.page.getByRole('link', { name: 'New agent' }).click();
    await this.page.getByTestId(`template-${template}`).click();
    await this.page.getByLabel('Name').fill(name);
    await this.page.getByRole('button', { name: 'Create agent' }).click();
    await this.page.getByTestId('save-state').waitFor();
  }

  async publish(): Promise<void> {
    await this.page.getByRole('button', { name: /publish/i }).click();
    await this.page.getByText(/^Version \d+ is live$/).waitFor();
  }

  /** Starts a call from the talk page. The worker of a machine that is busy for a moment refuses: try again. */
  async call(button = 'start-call'): Promise<void> {
    const hangUp = this.page.getByTestId('hang-up');
    await this.page.getByTestId(button).click();
    await eventually('the call stands', 60_000, async () => {
      const again = this.page.getByRole('button', { name: 'Try again' });
      await hangUp.or(again).first().waitFor();
      if (await hangUp.isVisible()) return true;
      await again.click();
      return null;
    });
  }

  /** Waits until the agent has said `count` things in all and listens again. */
  async agentHasSpoken(count: number): Promise<void> {
    const said = this.page.locator('[data-role="agent"][data-final="true"]');
    const state = this.page.getByTestId('call-state');
    const heard = async () => ((await said.count()) >= count && (await isListening()) ? true : null);
    const isListening = async () => (await state.textContent()) === 'Listening';
    try {
      await eventually(`agent utterance ${count}`, 40_000, heard);
    } catch (cause) {
      const shown = `${await state.textContent()}: ${JSON.stringify(await this.transcript())}`;
      throw new Error(`The agent has not spoken ${count} times. The page shows ${shown}`, { cause });
    }
  }

  /** Says this into the scripted microphone; resolves when it has been said. */
  async speak(samples: Int16Array): Promise<void> {
    const base64 = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString('base64');
    await this.page.evaluate(`speak('${base64}')`);
  }

  /** All that the page has heard, at 48 kHz; with the scripted microphone alone. */
  async recording(): Promise<Int16Array> {
    const base64 = String(await this.page.evaluate('heardBase64()'));
    return new Int16Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer);
  }

  /** What the transcript on the page says, in order. */
  async transcript(): Promise<{ role: string; text: string }[]> {
    const rows = await this.page.getByTestId('transcript').getByTestId('message').all();
    return Promise.all(
      rows.map(async (row) => ({
        role: (await row.getAttribute('data-role')) ?? '',
        text: (await row.locator('.bubble-text').textContent()) ?? '',
      })),
    );
  }

  async hangUp(): Promise<void> {
    await this.page.getByTestId('hang-up').click();
    await this.page.getByTestId('call-ended').waitFor();
  }
}
