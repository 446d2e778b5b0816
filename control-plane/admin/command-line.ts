import { parseArgs } from 'node:util';
import type { Accounts } from '../accounts.ts';

/** What a command prints: one record or a list of them. */
export type Output = Row | readonly Row[];
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** Words of the command line after the command's own two. */
export interface CommandInput {
  /** A positional word by its name in the usage line. */
  readonly word: (name: string) => string;
  readonly option: (name: string) => string | null;
}

export interface Command {
  /** Such as `key create`. */
  readonly name: string;
  /** Names of its positional words, all of them needed. */
  readonly words: readonly string[];
  /** Names of its options, with a text each. */
  readonly options: readonly string[];
  readonly summary: string;
  readonly run: (input: CommandInput, accounts: Accounts) => Promise<Output>;
}

/** The command line can't be understood; the message says how to write it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Finds the command and reads its words. Throws `UsageError`. */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly input: CommandInput; readonly isJson: boolean } {
  const names = [...new Set(commands.flatMap((command) => command.options))];
  const { values, positionals } = parse(argv, names);
  const [noun = '', verb = '', ...words] = positionals;
  const command = commands.find((candidate) => candidate.name === `${noun} ${verb}`);
  if (!command)
    throw new UsageError(noun === '' ? usage(commands) : `No such command.\n${usage(commands, noun)}`);
  const foreign = names.filter((name) => values[name] !== undefined && !command.options.includes(name));
  if (words.length !== command.words.length || foreign.length > 0) {
    throw new UsageError(`Usage: ${usageLine(command)}`);
  }
  const given = new Map(command.words.map((name, index) => [name, words[index] ?? '']));
  return {
    command,
    isJson: values['json'] === true,
    input: {
      word: (name) => given.get(name) ?? '',
      option: (name) => {
        const value = values[name];
        return typeof value === 'string' ? value : null;
      },
    },
  };
}

interface Parsed {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

function parse(argv: readonly string[], names: readonly string[]): Parsed {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({
      args: [...argv],
      options: { ...options, json: { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function usage(commands: readonly Command[], noun = ''): string {
  const ofNoun = commands.filter((command) => command.name.startsWith(`${noun} `));
  const shown = ofNoun.length > 0 ? ofNoun : commands;
  return `Commands:\n${shown.map((command) => `  ${usageLine(command)}\n      ${command.summary}`).join('\n')}`;
}

function usageLine({ name, words, options }: Command): string {
  const parts = [
    ...words.map((word) => `<${word}>`),
    ...options.map((option) => `[--${option} <${option}>]`),
  ];
  return `npm run admin -- ${[name, ...parts].join(' ')} [--json]`;
}

/** One JSON value, or `name: value` lines with an empty line between records. */
export function formatOutput(output: Output, isJson: boolean): string {
  if (isJson) return JSON.stringify(output);
  const rows = Array.isArray(output) ? output : [output];
  if (rows.length === 0) return 'none';
  return rows
    .map((row) =>
      Object.entries(row)
        .map(([name, value]) => `${name}: ${value ?? '-'}`)
        .join('\n'),
    )
    .join('\n\n');
}
