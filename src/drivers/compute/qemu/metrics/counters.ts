/** Counters of a machine since it was powered on, from the kernel and QEMU. */
import { readFile } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type Qmp, QmpRefusedError, withQmp } from '../qmp.ts';

/**
 * All values only increase, except `ramMb`. A value that could not be read is null until the next reading.
 */
export interface Counters {
  /** Identifies the QEMU run: its process id and start time. */
  readonly run: string;
  readonly runSince: number;
  readonly cpuMs: number;
  /** Memory in use now: the guest's own count if it reports one, else what QEMU has taken from the host. */
  readonly ramMb: number;
  readonly diskRead: number | null;
  readonly diskWritten: number | null;
  readonly netIn: number | null;
  readonly netOut: number | null;
}

/** Bytes through a tap, from the guest's side. */
export interface Flow {
  readonly in: number;
  readonly out: number;
}

/** Linux reports process times in hundredths of a second. It may count more precisely. */
const TICK_MS = 10;
const MIB = 1024 ** 2;

/** Returns undefined if the machine is off: no QEMU, or its guest has shut down. */
export async function readCounters(
  host: QemuHost,
  id: string,
  flows: ReadonlyMap<string, Flow>,
): Promise<Counters | undefined> {
  const running = await readProcess(host, id);
  if (!running) return undefined;
  const qemu = await askQemu(host, id);
  if (qemu === 'off') return undefined;
  const flow = flows.get(host.tap(id));
  return {
    ...running,
    ramMb: qemu?.guestRamMb ?? running.ramMb,
    diskRead: qemu?.read ?? null,
    diskWritten: qemu?.written ?? null,
    netIn: flow?.in ?? null,
    netOut: flow?.out ?? null,
  };
}

/** Returns the traffic of all taps by name; empty on failure, because other counters do not depend on it. */
export async function readFlows(host: QemuHost): Promise<Map<string, Flow>> {
  try {
    const links = JSON.parse(await host.runInNet('ip', ['-s', '-j', 'link', 'show', 'type', 'tun']));
    return new Map((links as Link[]).flatMap(toFlow));
  } catch (error) {
    host.log.warn({ err: error }, 'reading the traffic of machines failed');
    return new Map();
  }
}

interface Link {
  readonly ifname?: string;
  readonly stats64?: { readonly rx: { readonly bytes: number }; readonly tx: { readonly bytes: number } };
}

/** Bytes that the host receives from a tap are bytes that the guest sent. */
function toFlow({ ifname, stats64 }: Link): [string, Flow][] {
  return ifname && stats64 ? [[ifname, { in: stats64.tx.bytes, out: stats64.rx.bytes }]] : [];
}

async function readProcess(
  host: QemuHost,
  id: string,
): Promise<Pick<Counters, 'run' | 'runSince' | 'cpuMs' | 'ramMb'> | undefined> {
  const pid = Number((await readIfExists(host.layout.runtimeFile(id, 'pid')))?.trim());
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const cmdline = await readIfExists(`/proc/${pid}/cmdline`);
  // The pid may have been reused by another process.
  if (!cmdline?.includes(host.layout.runtimeFile(id, 'qmp'))) return undefined;
  const [stat, status, uptime] = await Promise.all([
    readIfExists(`/proc/${pid}/stat`),
    readIfExists(`/proc/${pid}/status`),
    readIfExists('/proc/uptime'),
  ]);
  const residentKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1]);
  // A process that is exiting has no VmRSS.
  if (!stat || !uptime || Number.isNaN(residentKb)) return undefined;
  const { cpuMs, beganMs } = parseStat(stat);
  const upMs = Number(uptime.split(' ')[0]) * 1000;
  const runSince = Math.round(Date.now() - Math.max(0, upMs - beganMs));
  return { run: `${pid} ${beganMs}`, runSince, cpuMs, ramMb: residentKb / 1024 };
}

/** The process name in parentheses may contain spaces and parentheses, so fields are counted after it. */
export function parseStat(stat: string): { cpuMs: number; beganMs: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { cpuMs: (field(14) + field(15)) * TICK_MS, beganMs: field(22) * TICK_MS };
}

interface BlockStats {
  readonly stats: { readonly rd_bytes: number; readonly wr_bytes: number };
}

interface QemuCounters {
  readonly read: number;
  readonly written: number;
  /** Null if the guest does not report it. */
  readonly guestRamMb: number | null;
}

/** Returns undefined if QEMU is busy with another client. */
async function askQemu(host: QemuHost, id: string): Promise<QemuCounters | 'off' | undefined> {
  try {
    return await withQmp(host, id, readQemu, 'look');
  } catch (error) {
    if (error instanceof ComputeError) return undefined;
    throw error;
  }
}

async function readQemu(qmp: Qmp | undefined): Promise<QemuCounters | 'off' | undefined> {
  if (!qmp) return undefined;
  const { status } = await qmp.execute<{ status: string }>('query-status');
  if (status === 'shutdown') return 'off';
  const devices = await qmp.execute<BlockStats[]>('query-blockstats');
  const sum = (kind: keyof BlockStats['stats']) => devices.reduce((all, { stats }) => all + stats[kind], 0);
  return { read: sum('rd_bytes'), written: sum('wr_bytes'), guestRamMb: await readGuestRam(qmp) };
}

const BALLOON = '/machine/peripheral/balloon';
/** How often QEMU asks the guest. */
const GUEST_STATS_EVERY_S = 20;
/** The guest's driver may have been removed, or the guest may have crashed. */
const GUEST_STATS_MAX_AGE_S = 120;

export interface GuestStats {
  /** In seconds; 0: the guest has not answered yet. */
  readonly 'last-update': number;
  /** In bytes. A value that the guest does not report is 2^64 − 1. */
  readonly stats: Readonly<Record<string, number>>;
}

/** The first reading of a QEMU starts the questions to the guest, and the next one has an answer. */
async function readGuestRam(qmp: Qmp): Promise<number | null> {
  try {
    const polling = { path: BALLOON, property: 'guest-stats-polling-interval', value: GUEST_STATS_EVERY_S };
    await qmp.execute('qom-set', polling);
    const stats = await qmp.execute<GuestStats>('qom-get', { path: BALLOON, property: 'guest-stats' });
    return guestRamMb(stats, Date.now() / 1000);
  } catch (error) {
    if (error instanceof QmpRefusedError) return null;
    throw error;
  }
}

/** Returns the memory that the guest's programs and kernel use, without caches that it can free. */
export function guestRamMb({ 'last-update': at, stats }: GuestStats, nowS: number): number | null {
  if (nowS - at > GUEST_STATS_MAX_AGE_S) return null;
  const value = (name: string) => {
    const bytes = stats[`stat-${name}`] ?? Number.POSITIVE_INFINITY;
    return bytes < Number.MAX_SAFE_INTEGER ? bytes : null;
  };
  const total = value('total-memory');
  // Linux since 3.14 reports what is available; BSD and older kernels, only what is free.
  const unused = value('available-memory') ?? value('free-memory');
  return total === null || unused === null ? null : Math.max(0, total - unused) / MIB;
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: the process exited while being read.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}
