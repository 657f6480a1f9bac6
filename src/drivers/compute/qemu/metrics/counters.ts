/** What a machine has used since it was switched on, as the kernel and QEMU count it. */
import { readFile } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { Qmp } from '../qmp.ts';

/** All count up. What could not be read is null: the next reading has it. */
export interface Counters {
  /** Which run of QEMU they are of: its process and when that began. */
  readonly run: string;
  readonly runSince: number;
  readonly cpuMs: number;
  /** What it has now. */
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

/** Linux tells programs its times in hundredths of a second, whatever it counts in itself. */
const TICK_MS = 10;

/** Undefined when the machine is off: it has no QEMU, or its guest went off and QEMU stands still. */
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

/** The flows of all taps, by name. None when they cannot be read: what else is counted need not wait for them. */
export async function readFlows(host: QemuHost): Promise<Map<string, Flow>> {
  try {
    const links = JSON.parse(await host.runInNet('ip', ['-s', '-j', 'link', 'show', 'type', 'tun']));
    return new Map((links as Link[]).flatMap(toFlow));
  } catch (error) {
    host.log.warn({ err: error }, 'traffic of machines could not be read');
    return new Map();
  }
}

interface Link {
  readonly ifname?: string;
  readonly stats64?: { readonly rx: { readonly bytes: number }; readonly tx: { readonly bytes: number } };
}

/** What the host receives from a tap is what the guest has sent. */
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
  // The number may belong to another process by now.
  if (!cmdline?.includes(host.layout.runtimeFile(id, 'qmp'))) return undefined;
  const [stat, status, uptime] = await Promise.all([
    readIfExists(`/proc/${pid}/stat`),
    readIfExists(`/proc/${pid}/status`),
    readIfExists('/proc/uptime'),
  ]);
  const residentKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1]);
  // One that has just ended has no memory.
  if (!stat || !uptime || Number.isNaN(residentKb)) return undefined;
  const { cpuMs, beganMs } = parseStat(stat);
  const upMs = Number(uptime.split(' ')[0]) * 1000;
  const runSince = Math.round(Date.now() - Math.max(0, upMs - beganMs));
  return { run: `${pid} ${beganMs}`, runSince, cpuMs, ramMb: residentKb / 1024 };
}

/** The name of the process, in parentheses, may hold spaces and parentheses: fields are counted after it. */
export function parseStat(stat: string): { cpuMs: number; beganMs: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { cpuMs: (field(14) + field(15)) * TICK_MS, beganMs: field(22) * TICK_MS };
}

interface BlockStats {
  readonly stats: { readonly rd_bytes: number; readonly wr_bytes: number };
}

/** Undefined when QEMU is busy with somebody else. */
async function readDisks(
  host: QemuHost,
  id: string,
): Promise<{ read: number; written: number } | 'off' | undefined> {
  try {
    const qmp = await Qmp.open(host.layout.runtimeFile(id, 'look'));
    if (!qmp) return undefined;
    try {
      const { status } = await qmp.execute<{ status: string }>('query-status');
      if (status === 'shutdown') return 'off';
      const devices = await qmp.execute<BlockStats[]>('query-blockstats');
      const sum = (of: (stats: BlockStats['stats']) => number) =>
        devices.reduce((all, { stats }) => all + of(stats), 0);
      return { read: sum((stats) => stats.rd_bytes), written: sum((stats) => stats.wr_bytes) };
    } finally {
      qmp.close();
    }
  } catch (error) {
    if (error instanceof ComputeError) return undefined;
    throw error;
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: a process that ends while it is read.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}
