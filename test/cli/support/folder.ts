import { mkdirSync } from 'node:fs';
import { scratchFolder } from '../../support/scratch-folder.ts';

/** Creates a folder that is deleted after the test file. */
export function createFolder(): string {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  return folder;
}
