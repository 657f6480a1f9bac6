import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, command } from '../../command.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { arg, flag } from '../../options.ts';
import { formatTime } from '../../output/format.ts';

export const openConsole = command({
  name: 'server console',
  about: "Print the URL of a server's console",
  help:
    'The URL needs no sign-in and is valid for one visit within five minutes, so keep it secret. With a\n' +
    'token of scope read, the console is view-only.',
  operations: ['servers.console', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: { open: flag('Also open the console in your browser') },
  example: 'skerry server console web-1',
  run: async (context, { server, open }) => {
    const { skerry, terminal, output } = context;
    const { id } = await findServer(skerry, server);
    const console = await skerry.servers.console(id);
    output.text(console.url, console);
    const about = console.read_only ? ', view-only because the token has scope read' : '';
    terminal.note(`Valid for one visit until ${formatTime(console.expires_at)} UTC${about}.`);
    if (open) await openInBrowser(console.url, context);
  },
});

/** Time for a browser to start and to read the page. */
const PAGE_LIFETIME_MS = 10_000;

/**
 * Opens a URL that is a secret. Other users can see the arguments of a process, so the browser opens a page
 * that only its owner can read and that redirects to the URL.
 */
async function openInBrowser(
  url: string,
  { env, terminal, signal }: Pick<Context, 'env' | 'terminal' | 'signal'>,
): Promise<void> {
  const opener = browserCommand(env);
  // The opener might treat anything but a web address as a file or a command.
  if (opener === null || !/^https?:$/.test(new URL(url).protocol)) {
    terminal.warn('skerry: cannot open a browser: no display found');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'skerry-'));
  const page = join(folder, 'console.html');
  try {
    writeFileSync(page, redirectPage(url), { mode: 0o600 });
    const failed = await spawnDetached([...opener, page], env);
    if (failed) terminal.warn(`skerry: could not start ${opener[0]}; open the URL manually`);
    else await sleep(PAGE_LIFETIME_MS, undefined, { signal }).catch(() => {});
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function spawnDetached(
  [program = '', ...args]: readonly string[],
  env: Context['env'],
): Promise<Error | null> {
  // A browser does not need the token and passes its environment to other programs.
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
