/** The value below which `share` of the values lie (nearest rank); NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
