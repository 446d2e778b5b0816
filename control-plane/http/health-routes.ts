import { Type } from 'typebox';
import { Failure } from '../../shared/errors.ts';
import { type Clock, withDeadline } from '../../shared/time.ts';
import { type AnyRoute, route } from './route.ts';

/** A load balancer asks every few seconds; a dependency that takes longer counts as away. */
const READY_DEADLINE_MS = 2_000;

const Health = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' });

export interface HealthDeps {
  /** Named checks that resolve when the dependency answers. */
  readonly dependencies: Readonly<Record<string, () => Promise<void>>>;
  readonly clock: Clock;
}

/** `/healthz`: the process is up. `/readyz`: everything it depends on answers, else 503. */
export function healthRoutes({ dependencies, clock }: HealthDeps): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      access: 'open',
      summary: 'The process is up',
      tag: 'service',
      reply: { status: 200, schema: Health },
      handle: async () => ({ status: 'ok' as const }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      access: 'open',
      summary: 'The process and everything it depends on can serve',
      tag: 'service',
      refusals: ['unavailable'],
      reply: { status: 200, schema: Health },
      handle: async () => {
        const checks = Object.entries(dependencies).map(async ([name, ask]) => {
          await withDeadline(clock, name, READY_DEADLINE_MS, ask()).catch((cause: unknown) => {
            throw new Failure('unavailable', `Not ready: ${name}`, { retryAfterS: 1, cause });
          });
        });
        await Promise.all(checks);
        return { status: 'ok' as const };
      },
    }),
  ];
}
