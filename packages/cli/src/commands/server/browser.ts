/**
 * Opens an address that is a secret. The list of processes shows everybody what a program is called with: so the browser is given a
 * page that only its owner can read, and that leads on to the address.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../command.ts';

/** How long a browser may take to start and to read the page. */
const PAGE_LIFETIME_MS = 10_000;

export async function openInBrowser(
  url: string,
  { env, terminal, signal }: Pick<Context, 'env' | 'terminal' | 'signal'>,
): Promise<void> {
  const opener = browserCommand(env);
  // What is not an address of the web would be a file or a command to whoever opens it.
  if (opener === null || !/^https?:$/.test(new URL(url).protocol)) {
    terminal.warn('skerry: there is no display to open it on');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'skerry-'));
  const page = join(folder, 'console.html');
  try {
    writeFileSync(page, redirectPage(url), { mode: 0o600 });
    const failed = await spawnDetached([...opener, page], env);
    if (failed) terminal.warn(`skerry: ${opener[0]} could not be started: open the address by hand`);
    else await sleep(PAGE_LIFETIME_MS, undefined, { signal }).catch(() => {});
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function spawnDetached(
  [program = '', ...args]: readonly string[],
  env: Context['env'],
): Promise<Error | null> {
  // A browser has no use for the token, and hands its environment on.
  const { SKERRY_TOKEN: _token, ...rest } = env;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true, env: rest });
    child.once('error', resolve);
    child.once('spawn', () => {
      child.unref();
      resolve(null);
    });
  });
}

function redirectPage(url: string): string {
  const address = new URL(url).href
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;');
  return [
    '<!doctype html><meta charset="utf-8"><title>Console</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0;url=${address}">`,
    `<a href="${address}">Console</a>\n`,
  ].join('\n');
}

function browserCommand(env: Context['env']): readonly string[] | null {
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : null;
}
