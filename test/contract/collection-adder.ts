import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';

/** Adds 1 to a counter in the embedded store. Arguments: the database file, how many times. */
const store = openEmbeddedStore({ file: String(process.argv[2]), synchronous: 'NORMAL' });
const counters = store.collection<{ _id: string; n: number }>('counters');
for (let i = 0; i < Number(process.argv[3]); i++) {
  await counters.updateOne({ _id: 'c' }, { $inc: { n: 1 } }, { upsert: true });
}
await store.close();
