/** BIRD in network namespaces: on hosts as the docs configure it, and as the router next to them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import type { Wire } from './wires.ts';

/** The example of the docs. */
const CONFIGURATION = new URL('../../../../../docs/operators/networking.md', import.meta.url);
const EXAMPLE = { host: { 4: '198.51.100.11', 6: '2001:db8:100::11' }, router: '198.51.100.1' };
const EXAMPLE_ROUTER_V6 = '2001:db8:100::1';
const READY_MAX_MS = 60_000;
const TIMERS = 'connect delay time 1; connect retry time 1; error wait time 1, 2;';
/** A router that is gone is noticed after the hold time. */
const HOLD_TIMERS = 'hold time 6; keepalive time 2;';

/** Returns the configuration of BIRD in the docs. */
export async function readDocumentedConfiguration(): Promise<string> {
  const page = await readFile(CONFIGURATION, 'utf8');
  const [, text] = /```text\n(log syslog all;\n[\s\S]*?)```/.exec(page) ?? [];
  assert.ok(text !== undefined, 'the page has no configuration of BIRD');
  return text;
}

/** Returns the lines of the docs that export blackholed addresses, too. */
export async function readBlackholeExports(): Promise<string[]> {
  const page = await readFile(CONFIGURATION, 'utf8');
  return [...page.matchAll(/^ *(export where proto = "skerry\d" \|\| proto = .*)$/gm)].flatMap(
    ([, line = '']) => line,
  );
}

/** The configuration of the docs for a host, whose files are in a folder. */
export async function hostConfiguration({ host, outside }: Wire, folder: string): Promise<string> {
  const local = [host[4], host[6], outside[4], outside[6]];
  const documented = [EXAMPLE.host[4], EXAMPLE.host[6], EXAMPLE.router, EXAMPLE_ROUTER_V6];
  const text = documented.reduce(
    (configured, address, at) => configured.replace(new RegExp(`${address}(?=[ ;])`, 'g'), `<${at}>`),
    await readDocumentedConfiguration(),
  );
  return text
    .replace(/<(\d)>/g, (_, at) => local[Number(at)] ?? '')
    .replaceAll('/run/', `${folder}/`)
    .replaceAll('log syslog all;', '')
    .replaceAll('hold time 30;', `${HOLD_TIMERS} ${TIMERS}`);
}

/** A router that sends packets where its hosts announce their addresses. */
export function routerConfiguration(id: string, wires: readonly Wire[]): string {
  const families = [4, 6] as const;
  const protocols = wires.flatMap(({ host, outside }, at) =>
    families.map(
      (family) => `protocol bgp host${at}v${family} {
        local ${outside[family]} as 64496; neighbor ${host[family]} as 64512; ${HOLD_TIMERS} ${TIMERS}
        ipv${family} { import all; export none; };
      }`,
    ),
  );
  const kernel = families.map((family) => `protocol kernel { ipv${family} { export all; import none; }; }`);
  return [`router id ${id};`, 'protocol device {}', ...kernel, ...protocols].join('\n');
}

/** Starts BIRD in a namespace, and waits until it responds on `bird.ctl` in the folder. */
export async function startBird(netns: string, folder: string, text: string): Promise<ChildProcess> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'bird.conf');
  const socket = join(folder, 'bird.ctl');
  await writeFile(file, text);
  const args = ['-f', '-c', file, '-s', socket, '-P', join(folder, 'bird.pid')];
  const daemon = spawn('nsenter', [`--net=/run/netns/${netns}`, 'bird', ...args], { stdio: 'ignore' });
  const status = () => run('birdc', ['-s', socket, 'show', 'status']).catch(() => '');
  for (const until = performance.now() + READY_MAX_MS; !/ready/.test(await status()); await wait(50))
    assert.ok(performance.now() < until && daemon.exitCode === null, 'BIRD does not start');
  return daemon;
}

export async function stopBird(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = once(daemon, 'exit');
  daemon.kill(signal);
  await ended;
}
