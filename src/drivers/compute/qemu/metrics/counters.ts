/** Counters of a machine since it was powered on, from the kernel and QEMU. */
import { readFile } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type Qmp, withQmp } from '../qmp.ts';

/**
 * All values only increase, except `ramMb`. A value that could not be read is null until the next reading.
 */
export interface Counters {
  /** Identifies the QEMU run: its process id and start time. */
  readonly run: string;
  readonly runSince: number;
  readonly cpuMs: number;
  /** Current memory usage. */
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

/** Returns undefined if the machine is off: no QEMU, or its guest has shut down. */
export async function readCounters(
  host: QemuHost,
  id: string,
  flows: ReadonlyMap<string, Flow>,
): Promise<Counters | undefined> {
  const running = await readProcess(host, id);
  if (!running) return undefined;
  const disks = await readDisks(host, id);
  if (disks === 'off') return undefined;
  const flow = flows.get(host.tap(id));
  return {
    ...running,
    diskRead: disks?.read ?? null,
    diskWritten: disks?.written ?? null,
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

/** Returns undefined if QEMU is busy with another client. */
async function readDisks(
  host: QemuHost,
  id: string,
): Promise<{ read: number; written: number } | 'off' | undefined> {
  try {
    return await withQmp(host, id, sumDisks, 'look');
  } catch (error) {
    if (error instanceof ComputeError) return undefined;
    throw error;
  }
}

async function sumDisks(
  qmp: Qmp | undefined,
): Promise<{ read: number; written: number } | 'off' | undefined> {
  if (!qmp) return undefined;
  const { status } = await qmp.execute<{ status: string }>('query-status');
  if (status === 'shutdown') return 'off';
  const devices = await qmp.execute<BlockStats[]>('query-blockstats');
  const sum = (kind: keyof BlockStats['stats']) => devices.reduce((all, { stats }) => all + stats[kind], 0);
  return { read: sum('rd_bytes'), written: sum('wr_bytes') };
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
