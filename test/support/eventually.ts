/** Asks again and again until `probe` answers something other than null, or throws after `deadlineMs`. */
export async function eventually<T>(
  what: string,
  deadlineMs: number,
  probe: () => T | null | Promise<T | null>,
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const answer = await probe();
    if (answer !== null) return answer;
    if (performance.now() > endMs) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
