/** One line of an event stream longer than this is an error of the sender. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

/**
 * The `data` of each event of a server-sent event stream (WHATWG HTML, section 9.2). Each `data:` line counts as
 * an event of its own, as every model server sends them; comments and other fields are skipped.
 */
export async function* readEventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const bytes of body) {
    pending += decoder.decode(bytes, { stream: true });
    const lines = pending.split(/\r\n|\n|\r(?!$)/);
    pending = lines.pop() ?? '';
    if (pending.length > MAX_LINE_CHARACTERS) throw new Error('a line of the event stream is too long');
    for (const line of lines) yield* dataOf(line);
  }
  yield* dataOf(pending + decoder.decode());
}

function* dataOf(line: string): Iterable<string> {
  if (line.startsWith('data:')) yield line.slice(5).trim();
}
