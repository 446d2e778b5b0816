import { readFile } from 'node:fs/promises';
import { projectFile } from '../../shared/project-file.ts';

/** A session description that a real client sent, from test/fixtures/sdp. */
export function readSdp(name: string): Promise<string> {
  return readFile(projectFile(`test/fixtures/sdp/${name}.sdp`), 'utf8');
}
