import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane } from '../fakes/control-plane.ts';
import { launchChromium } from './chromium.ts';

let browser: Browser;
let plane: Awaited<ReturnType<typeof startControlPlane>>;
beforeAll(async () => {
  plane = await startControlPlane();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await plane?.stop();
});

test('the reference page shows every operation, asks nobody but this service, and breaks none of its own rules', async () => {
  const page = await browser.newPage();
  const foreign: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== plane.baseUrl) foreign.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  await page.goto(`${plane.baseUrl}/docs`);
  await page.waitForSelector('.opblock');
  const { body: description } = await plane.call('GET', '/openapi.json');
  const operations = Object.values(description.paths as object).flatMap((ofPath: object) =>
    Object.values(ofPath),
  );
  const shown = await page.locator('.opblock .opblock-summary-description').allTextContents();
  await page.locator('#operations-agents-createAgent .opblock-summary-control').click();
  await page.waitForSelector('#operations-agents-createAgent .body-param__example');
  const example = await page.locator('#operations-agents-createAgent .body-param__example').textContent();

  expect(shown.sort()).toEqual(operations.map(({ summary }) => summary).sort());
  expect(example).toContain('"Front desk"');
  expect(foreign).toEqual([]);
  expect(complaints).toEqual([]);
});

test('an operation can be tried out from the page with a key', async () => {
  const page = await browser.newPage();
  await page.goto(`${plane.baseUrl}/docs`);

  await page.locator('.btn.authorize').first().click();
  await page.locator('.auth-container input').fill(plane.account.apiKey);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();
  const operation = page.locator('#operations-agents-listAgents');
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.try-out__btn').click();
  await operation.locator('.execute').click();
  const status = operation.locator('.live-responses-table tbody .response-col_status').first();
  await status.waitFor();

  expect(await status.textContent()).toContain('200');
});
