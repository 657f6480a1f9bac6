/** The version of Skerry that this process runs, from its package.json. */
import { readFileSync } from 'node:fs';

let version: string | undefined;

export function readVersion(): string {
  version ??= (
    JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      readonly version: string;
    }
  ).version;
  return version;
}
