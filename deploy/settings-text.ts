import { ControlPlaneSettings } from '../control-plane/config.ts';
import { WorkerSettings } from '../media-worker/config.ts';

interface Field {
  readonly description?: string;
  readonly default?: unknown;
}

const LINE_LENGTH = 110;

/** Every setting of both processes with its default and what changes with it, as an environment file. */
export function sampleSettings(): string {
  const control = fieldsOf(ControlPlaneSettings.properties);
  const worker = fieldsOf(WorkerSettings.properties);
  const shared = new Set(control.map(([name]) => name).filter((name) => name in WorkerSettings.properties));
  return [
    '# Every setting with its default. Copy, change, and give to the processes as environment variables.',
    ...section(
      'Both processes',
      worker.filter(([name]) => shared.has(name)),
    ),
    ...section(
      'Control plane',
      control.filter(([name]) => !shared.has(name)),
    ),
    ...section(
      'Media worker',
      worker.filter(([name]) => !shared.has(name)),
    ),
    '',
  ].join('\n');
}

function fieldsOf(properties: object): [string, Field][] {
  return Object.entries(properties);
}

function section(title: string, fields: readonly [string, Field][]): string[] {
  return [
    '',
    `### ${title}`,
    ...fields.flatMap(([name, field]) => [
      '',
      ...comment(field.description ?? ''),
      `${name}=${field.default ?? ''}`,
    ]),
  ];
}

function comment(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length > LINE_LENGTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => `# ${line}`);
}
