/**
 * Tells the network which addresses are on this host, through BIRD, which announces them by BGP, or a program
 * of the operator. Both get the complete list, so a repeated or lost call does no harm. It contains what the
 * kernel routes to machines here: a machine that moves has its routes on one host at a time.
 */
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { undefinedIfMissing } from '../../../../kernel/files.ts';
import { run } from '../command.ts';
import type { Announcement, QemuHost } from '../host.ts';
import { listRecords, readRecord } from '../record.ts';
import { readBlackholes } from './blackhole.ts';
import { type Prefixes, toMachineLink } from './link.ts';

export const BIRD_PROTOCOLS = { 4: 'skerry4', 6: 'skerry6' } as const;
/** Blackholed addresses, for routers that are to drop packets to them. */
const BLACKHOLE_PROTOCOLS = { 4: 'skerry_blackhole4', 6: 'skerry_blackhole6' } as const;
/** BLACKHOLE (RFC 7999). */
const BLACKHOLE_COMMUNITY = '(65535, 666)';
const FAMILIES = [4, 6] as const;
/**
 * The socket of Debian's package, and a file that a restart of the host deletes, as it ends all machines.
 * BIRD does not start if the folder of a file that it includes is missing.
 */
export const BIRD = { socket: '/run/bird/bird.ctl', file: '/run/skerry-routes.conf' } as const;
const BIRD_TIMEOUT_MS = 5_000;

interface Progress {
  /** The list that the operator's program has accepted. */
  accepted?: string;
  /** Logged once, not in every round. */
  failure?: string;
}
const progressOf = new WeakMap<QemuHost, Progress>();

/** Makes the announcement complete. A failure is logged, and the next round of supervision tries again. */
export async function announceMachines(host: QemuHost): Promise<void> {
  const announcement = host.options.announcement ?? null;
  if (announcement === null) return;
  const progress = progressOf.get(host) ?? {};
  progressOf.set(host, progress);
  try {
    await host.withHostLock('announcement', async () => {
      const prefixes = await readMachinePrefixes(host);
      if (announcement.by === 'bird')
        await announceByBird(host, announcement, {
          routed: prefixes,
          blackholed: await readBlackholedPrefixes(host),
        });
      else await announceByCommand(announcement.program, prefixes, progress);
    });
    delete progress.failure;
  } catch (error) {
    const failure = String(error);
    if (progress.failure !== failure)
      host.log.warn({ err: error }, 'announcing the addresses of machines failed');
    progress.failure = failure;
  }
}

interface KernelRoute {
  readonly dst?: string;
  readonly dev?: string;
}

/** The /32 and /64 of each machine whose addresses the kernel routes to it. */
export async function readMachinePrefixes(host: QemuHost): Promise<Prefixes> {
  const ids = await listRecords(host.layout);
  if (ids.length === 0) return { 4: [], 6: [] };
  const routed = new Set([...(await readRoutes(host, 4)), ...(await readRoutes(host, 6))]);
  const prefixes: Record<4 | 6, string[]> = { 4: [], 6: [] };
  for (const id of ids) {
    // The record may be damaged or have been removed meanwhile: nothing is announced for it.
    const record = await readRecord(host.layout, id).catch(() => undefined);
    if (record === undefined) continue;
    const { tap, ipv4, ipv6 } = toMachineLink(host, record.spec);
    if (routed.has(`${ipv4.address} ${tap}`)) prefixes[4].push(`${ipv4.address}/32`);
    if (routed.has(`${ipv6.prefix} ${tap}`)) prefixes[6].push(ipv6.prefix);
  }
  return { 4: prefixes[4].toSorted(), 6: prefixes[6].toSorted() };
}

/** The /32 and /64 of each blackholed address. */
async function readBlackholedPrefixes(host: QemuHost): Promise<Prefixes> {
  const { 4: ipv4, 6: ipv6 } = await readBlackholes(host);
  return { 4: ipv4, 6: ipv6.filter((prefix) => prefix.endsWith('/64')) };
}

/** Destinations with their interface. The kernel prints a /32 without its length. */
async function readRoutes(host: QemuHost, family: 4 | 6): Promise<string[]> {
  const printed = await host.runInNet('ip', [`-${family}`, '-json', 'route', 'show']);
  const routes = (printed.trim() === '' ? [] : JSON.parse(printed)) as readonly KernelRoute[];
  return routes.map(({ dst = '', dev = '' }) => `${dst} ${dev}`);
}

const NONE: Prefixes = { 4: [], 6: [] };

/** The file that the configuration of BIRD includes. */
export function birdFile(routed: Prefixes, blackholed: Prefixes = NONE): string {
  const attributes = `blackhole { bgp_community.add(${BLACKHOLE_COMMUNITY}); }`;
  const protocols = FAMILIES.flatMap((family) => [
    staticProtocol(BIRD_PROTOCOLS[family], family, routed[family], 'unreachable'),
    staticProtocol(BLACKHOLE_PROTOCOLS[family], family, blackholed[family], attributes),
  ]);
  return `# Written by Skerry, which overwrites changes.\n${protocols.join('')}`;
}

function staticProtocol(name: string, family: 4 | 6, prefixes: readonly string[], target: string): string {
  const routes = prefixes.map((prefix) => `  route ${prefix} ${target};\n`).join('');
  return `protocol static ${name} {\n  ipv${family};\n${routes}}\n`;
}

/** The announcement: the addresses of servers here, and those that are blackholed. */
interface BirdPrefixes {
  readonly routed: Prefixes;
  readonly blackholed: Prefixes;
}

async function announceByBird(
  host: QemuHost,
  { file, socket }: Extract<Announcement, { by: 'bird' }>,
  prefixes: BirdPrefixes,
): Promise<void> {
  const text = birdFile(prefixes.routed, prefixes.blackholed);
  if ((await readFile(file, 'utf8').catch(undefinedIfMissing)) !== text) {
    // Its name does not match what BIRD includes.
    const unfinished = join(dirname(file), `.${basename(file)}.tmp`);
    await writeFile(unfinished, text);
    // Independent of the umask of the service: BIRD runs as a user of its own.
    await chmod(unfinished, 0o644);
    await rename(unfinished, file);
  }
  // BIRD may have been stopped, or this process killed, between the file and the reload.
  const loaded = await readBirdPrefixes(host, socket);
  if (JSON.stringify(loaded) === JSON.stringify(prefixes)) return;
  await birdc(host, socket, ['configure', 'check']);
  await birdc(host, socket, ['configure']);
}

/** The prefixes that BIRD has from the file, or null if it has not read the file yet. */
export async function readBirdPrefixes(host: QemuHost, socket: string): Promise<BirdPrefixes | null> {
  const protocols = await birdc(host, socket, ['show', 'protocols']);
  const names = new Set(protocols.split('\n').map((line) => line.split(' ')[0]));
  const own = [BIRD_PROTOCOLS, BLACKHOLE_PROTOCOLS].flatMap((of) => FAMILIES.map((family) => of[family]));
  if (!own.every((name) => names.has(name))) return null;
  const read = async (protocol: string) => {
    const printed = await birdc(host, socket, ['show', 'route', 'protocol', protocol]);
    return [...printed.matchAll(/^([0-9a-f.:]+\/\d+) /gm)].flatMap(([, prefix = '']) => prefix).toSorted();
  };
  const readBoth = async (names: Readonly<Record<4 | 6, string>>) => ({
    4: await read(names[4]),
    6: await read(names[6]),
  });
  return { routed: await readBoth(BIRD_PROTOCOLS), blackholed: await readBoth(BLACKHOLE_PROTOCOLS) };
}

/** Runs a command of BIRD. `birdc` exits with 0 even if BIRD refuses it. */
export async function birdc(host: QemuHost, socket: string, command: readonly string[]): Promise<string> {
  const printed = await host.runInNet('birdc', ['-s', socket, ...command], { timeoutMs: BIRD_TIMEOUT_MS });
  if (command[0] === 'configure' && !/^(Configuration OK|Reconfigured|Reconfiguration)/m.test(printed))
    throw new Error('BIRD refuses its configuration: run birdc configure check');
  return printed;
}

/** The program gets every prefix on a line of standard input, when the list has changed and once at start. */
async function announceByCommand(program: string, prefixes: Prefixes, progress: Progress): Promise<void> {
  const input = FAMILIES.flatMap((family) => prefixes[family].map((prefix) => `${prefix}\n`)).join('');
  if (progress.accepted === input) return;
  await run(program, [], { input }).catch(() => {
    // Its own message may contain addresses.
    throw new Error('SKERRY_QEMU_ROUTE_COMMAND failed or took too long');
  });
  progress.accepted = input;
}
