import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFile } from '../../shared/project-file.ts';

/** A tree in which every module is imported and nothing is wrong. */
const SOUND: Readonly<Record<string, string>> = {
  'shared/errors.ts': 'export const failure = 1;\n',
  'control-plane/main.ts': "import { agents } from './agents/agent-service.ts';\nconsole.log(agents);\n",
  'control-plane/agents/agent-service.ts':
    "import { failure } from '../../shared/errors.ts';\nexport const agents = failure;\n",
  'media-worker/main.ts':
    "import { failure } from '../shared/errors.ts';\nimport { turn } from './turn/turn.ts';\nconsole.log(failure, turn);\n",
  'media-worker/turn/turn.ts':
    "import { failure } from '../../shared/errors.ts';\nexport const turn = failure;\n",
};

const PLANTED: readonly [string, string, Readonly<Record<string, string>>][] = [
  [
    'a cycle',
    'no-cycles',
    {
      'shared/errors.ts': "import { other } from './other.ts';\nexport const failure = other;\n",
      'shared/other.ts': "import { failure } from './errors.ts';\nexport const other = () => failure;\n",
    },
  ],
  ['an orphan', 'no-orphans', { 'shared/forgotten.ts': 'export const nobody = 1;\n' }],
  [
    'shared code that imports a process',
    'shared-knows-no-process',
    {
      'shared/errors.ts': "import { turn } from '../media-worker/other.ts';\nexport const failure = turn;\n",
      'media-worker/other.ts': 'export const turn = 1;\n',
    },
  ],
  [
    'a process that imports the other',
    'processes-meet-over-the-wire',
    {
      'media-worker/turn/turn.ts':
        "import { agents } from '../../control-plane/agents/agent-service.ts';\nexport const turn = agents;\n",
    },
  ],
  [
    'a resource that imports its neighbour',
    'resources-do-not-know-their-neighbours',
    {
      'control-plane/agents/agent-service.ts':
        "import { wallet } from '../wallet/wallet.ts';\nexport const agents = wallet;\n",
      'control-plane/wallet/wallet.ts': 'export const wallet = 1;\n',
    },
  ],
  [
    'a stage that imports its neighbour',
    'stages-do-not-know-their-neighbours',
    {
      'media-worker/turn/turn.ts': "import { gate } from '../vad/gate.ts';\nexport const turn = gate;\n",
      'media-worker/vad/gate.ts': 'export const gate = 1;\n',
    },
  ],
  [
    'a stage that picks its engine',
    'engines-only-from-the-root',
    {
      'media-worker/turn/turn.ts':
        "import { flite } from '../tts/engines/flite.ts';\nexport const turn = flite;\n",
      'media-worker/tts/engines/flite.ts': 'export const flite = 1;\n',
    },
  ],
  [
    'the database driver outside the storage port',
    'mongodb-only-in-its-folder',
    {
      'control-plane/agents/agent-service.ts':
        "import { MongoClient } from 'mongodb';\nexport const agents = MongoClient;\n",
    },
  ],
  [
    'WebRTC outside the transport port',
    'roamhqwrtc-only-in-its-folder',
    {
      'media-worker/turn/turn.ts': "import wrtc from '@roamhq/wrtc';\nexport const turn = wrtc;\n",
    },
  ],
];

async function cruise(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-cruise-'));
  try {
    for (const [name, text] of Object.entries({ ...SOUND, ...files })) {
      await mkdir(dirname(join(dir, name)), { recursive: true });
      await writeFile(join(dir, name), text);
    }
    await symlink(projectFile('node_modules'), join(dir, 'node_modules'));
    const args = [
      projectFile('node_modules/dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      projectFile('.dependency-cruiser.cjs'),
      'control-plane',
      'media-worker',
      'shared',
    ];
    return await new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: dir, timeout: 30_000 }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

test('a sound tree passes the architecture check', async () => {
  expect(await cruise({})).toContain('no dependency violations found');
});

test.each(PLANTED)('%s fails the architecture check', async (_name, rule, files) => {
  expect(await cruise(files)).toContain(`error ${rule}`);
});
