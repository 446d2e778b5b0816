/** What a newcomer, or a script, needs for the first call. Null where a shared store has no key of the first start. */
export interface StartLine {
  readonly base_url: string;
  readonly console_url: string;
  readonly api_key: string | null;
  readonly workspace_id: string | null;
  readonly user_id: string | null;
}

export interface StartNotes {
  readonly elapsedMs: number;
  /** Name of the recogniser, `none` when there is none. */
  readonly recogniser: unknown;
}

/** The same for people: one line each. */
export function startLines(line: StartLine, notes: StartNotes): string {
  const lines = [
    '',
    `Parley is ready (${(notes.elapsedMs / 1000).toFixed(1)} s)`,
    '',
    `  console    ${line.console_url}${line.api_key ? `#key=${line.api_key}` : ''}`,
    `  base URL   ${line.base_url}`,
    `  API key    ${line.api_key ?? 'npm run admin -- key create'}`,
    ...(notes.recogniser === 'none'
      ? ['', '  No speech recogniser: agents speak and understand typed messages only (see above).']
      : []),
    '',
    '  Ctrl+C stops it.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}
