import { chargingContract } from '../../test/contract/charging-contract.ts';
import { openEmbeddedStore } from '../storage/embedded-store.ts';

chargingContract(async () => openEmbeddedStore({ file: ':memory:', synchronous: 'NORMAL' }));
