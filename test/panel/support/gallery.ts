/** The list of screenshots, and a hash that shows whether they are up to date. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PANEL_PAGES } from '../../../src/http/panel/pages.ts';
import type { Example } from './examples.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const GALLERY = join(ROOT, 'docs/screenshots');
export const SOURCES = join(GALLERY, 'sources.txt');
export const SCHEMES = ['light', 'dark'] as const;
export const WIDE = 1280;
export const NARROW = 400;

/** Pages that look the same as another page. */
const DUPLICATE_PAGES = new Set(['deploy-total', 'deploy-topup', 'topup-offer']);

/** Examples that also have a narrow screenshot. */
export const MOBILE_EXAMPLES: readonly string[] = [
  'home',
  'plans',
  'servers',
  'server-running',
  'server-metrics',
  'deploy',
  'topup-waiting',
  'billing',
  'firewall-group',
  'account',
];

export function isPictured({ name }: Example): boolean {
  return !DUPLICATE_PAGES.has(name);
}

/** Hashes everything that affects the panel's look: its sources and its list of pages. */
export function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const file of globSync('src/panel/**/*.*', { cwd: ROOT }).sort()) {
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  }
  for (const { path } of PANEL_PAGES) hash.update(`${path}\n`);
  return hash.digest('hex');
}
