import type { Logger } from '../../shared/log.ts';
import type { Clock } from '../../shared/time.ts';

const LOOK_EVERY_MS = 200;
/** For the last records to be stored after the longest session has ended. */
const RECORD_GRACE_MS = 30_000;

export interface DrainDeps {
  readonly admission: { startDraining(): void; readonly occupied: number };
  readonly outbox: { readonly isEmpty: boolean };
  readonly longestSessionMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Empties the worker without cutting anybody off. */
export function createDrain(deps: DrainDeps) {
  let running: Promise<boolean> | null = null;

  async function run(): Promise<boolean> {
    deps.admission.startDraining();
    deps.log.info({ occupied: deps.admission.occupied }, 'worker drains');
    const deadlineMs = deps.clock.monotonicMs() + deps.longestSessionMs + RECORD_GRACE_MS;
    while (deps.admission.occupied > 0 || !deps.outbox.isEmpty) {
      if (deps.clock.monotonicMs() >= deadlineMs) {
        deps.log.error(
          { occupied: deps.admission.occupied },
          'worker stops draining with sessions or records left',
        );
        return false;
      }
      await deps.clock.sleep(LOOK_EVERY_MS);
    }
    deps.log.info({}, 'worker is drained');
    return true;
  }

  /**
   * Refuses new sessions and resolves when every session has ended and its record is acknowledged: true. False when
   * the longest session's time and a grace for its record have passed before. Calling it again gives the same promise.
   */
  function drain(): Promise<boolean> {
    running ??= run();
    return running;
  }

  return { drain };
}
