import { Failure } from '../../shared/errors.ts';
import type { SpeechUsage } from '../../shared/generated/parley/v1/control.ts';
import type { Logger } from '../../shared/log.ts';

/** In millionths of one credit. */
export interface SpeechPrices {
  readonly ttsByteMicros: number;
  readonly asrSecondMicros: number;
}

export interface SpeechUsageDeps {
  readonly prices: SpeechPrices;
  /** Takes the amount, below zero if it must; once per `usageId`. Throws `Failure` not_found for a workspace that is gone. */
  readonly chargeUsage: (workspaceId: string, amountMicros: number, usageId: string) => Promise<void>;
  readonly log: Logger;
}

const FREE_MODEL = 's2.1-pro-free';

/** What speech costs, settled after it was spoken or heard. */
export function createSpeechUsage({ prices, chargeUsage, log }: SpeechUsageDeps) {
  function costMicros({ kind, model, quantity }: SpeechUsage): number {
    if (kind === 'asr') return quantity * prices.asrSecondMicros;
    return model === FREE_MODEL ? 0 : quantity * prices.ttsByteMicros;
  }

  /** Resolves when all is settled. What can never be settled is logged and left. */
  async function settle(usage: readonly SpeechUsage[]): Promise<void> {
    for (const entry of usage) {
      const { usageId, workspaceId, kind, model, quantity } = entry;
      const amountMicros = costMicros(entry);
      if (amountMicros === 0) continue;
      try {
        await chargeUsage(workspaceId, amountMicros, usageId);
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
        log.warn({ usageId, workspaceId, kind, model, quantity }, 'usage of a workspace that is gone');
      }
    }
  }

  return { settle };
}
