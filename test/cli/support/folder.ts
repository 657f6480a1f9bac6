import { mkdirSync } from 'node:fs';
import { scratchFolder } from '../../support/scratch-folder.ts';

/** A folder that is there; it is gone after the test's file. */
export function createFolder(): string {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  return folder;
}
