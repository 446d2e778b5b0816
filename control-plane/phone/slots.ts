/**
 * A team's places for something there may only be so many of. Each live document holds one under a unique index, so
 * that no race takes one too many. Null when `limit` places are taken.
 */
export function freeSlot(
  workspaceId: string,
  takenKeys: readonly (string | undefined)[],
  limit: number,
): string | null {
  const taken = new Set(takenKeys.filter((key) => key !== undefined));
  if (taken.size >= limit) return null;
  for (let place = 0; place < limit; place++) {
    const key = `${workspaceId}:${place}`;
    if (!taken.has(key)) return key;
  }
  return null;
}
