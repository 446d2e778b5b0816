import { Ajv2020 } from 'ajv/dist/2020.js';
import { ClientEvent } from '../../shared/livekit-events.ts';

const check = new Ajv2020().compile<ClientEvent>(ClientEvent);

/** A client's event, or null when the bytes are no JSON or no event that is known. */
export function parseClientEvent(bytes: Uint8Array): ClientEvent | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return check(value) ? value : null;
  } catch {
    return null;
  }
}
