import { openEmbeddedStore } from '../../control-plane/storage/embedded-store.ts';

/**
 * Writes to the embedded store until it is killed: for each number a document of its own and a counter. Prints
 * the number once both are acknowledged. Argument: the database file.
 */
const store = openEmbeddedStore({ file: String(process.argv[2]) });
const events = store.collection<{ _id: string; n: number }>('events');
const counters = store.collection<{ _id: string; last: number }>('counters');
await events.createIndex({ n: 1 }, { unique: true });
// Bounded, in case nobody comes to kill it.
for (let n = 1; n <= 20_000; n++) {
  await events.insertOne({ _id: `e${n}`, n });
  await counters.updateOne({ _id: 'c' }, { $set: { last: n } }, { upsert: true });
  process.stdout.write(`${n}\n`);
}
await store.close();
