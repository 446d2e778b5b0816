import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The machine's own Chromium, from `CHROMIUM_PATH` or the search path. */
async function chromiumPath(): Promise<string> {
  const named = process.env['CHROMIUM_PATH'];
  if (named) return named;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const path = join(folder, name);
      const exists = await access(path).then(
        () => true,
        () => false,
      );
      if (exists) return path;
    }
  }
  throw new Error('No Chromium on the search path; set CHROMIUM_PATH');
}

/** A headless Chromium whose pages may use a microphone, a fake one, and play sound without a click. */
export async function launchChromium(extraArgs: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: await chromiumPath(),
    headless: true,
    args: [
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
      '--disable-dev-shm-usage',
      ...extraArgs,
    ],
  });
}
