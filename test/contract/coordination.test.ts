import { describe } from 'vitest';
import { MemoryCoordination } from '../../control-plane/coordination/memory-coordination.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { coordinationContract } from './coordination-contract.ts';

describe('coordination in memory', () => {
  coordinationContract(async () => {
    const clock = new FakeClock();
    return { coordination: new MemoryCoordination(clock), passMs: (ms) => clock.advance(ms) };
  });
});
