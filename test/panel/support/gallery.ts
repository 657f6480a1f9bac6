/** Which screenshots there are, and whether they are of the pages as they are now. */
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

/** The same page as another, at another address. */
const DUPLICATE_PAGES = new Set(['deploy-total', 'deploy-password', 'topup-offer']);

/** Shown on a telephone, too. */
export const MOBILE_EXAMPLES: readonly string[] = [
  ...['home', 'plans', 'servers', 'server-running', 'server-metrics', 'deploy', 'topup-waiting', 'billing'],
  ...['firewall-rules', 'account'],
];

export function isPictured({ name }: Example): boolean {
  return !DUPLICATE_PAGES.has(name);
}

/** Of everything that the panel's HTML and its look are made of, and the list of its pages. */
export function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const file of globSync('src/panel/**/*.*', { cwd: ROOT }).sort()) {
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  }
  for (const { path } of PANEL_PAGES) hash.update(`${path}\n`);
  return hash.digest('hex');
}
