import { writeFileSync } from 'node:fs';
import { projectFile } from '../shared/project-file.ts';
import { sampleSettings } from './settings-text.ts';

writeFileSync(projectFile('deploy/settings.sample.env'), sampleSettings());
