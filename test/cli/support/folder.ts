import { mkdirSync } from 'node:fs';
import { scratchFolder } from '../../support/folder.ts';

/** A folder that is there; it is gone after the test's file. */
export function madeFolder(): string {
  const folder = scratchFolder();
  mkdirSync(folder, { recursive: true });
  return folder;
}
