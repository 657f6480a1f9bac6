/** Findings about hosts, from the latest facts: all of them for `hosts doctor`, alarms for `status`. */

import { readVersion } from '../../kernel/settings/version.ts';
import { formatSessionTime, SECOND_MS } from '../../kernel/time.ts';
import type { HostFinding } from '../../ports/compute.ts';
import { listSeenHosts, type SeenHostRow } from '../../store/inventory/host-facts.ts';
import type { Service } from '../context.ts';
import { certificateProblem } from './host-certificates.ts';

/** A restart of a host takes less. */
const AWAY_ALARM_S = 60;
export const SKEW_MAX_MS = 2 * SECOND_MS;
/** Calls wait 1.2 seconds for the slowest host. */
const LATENCY_MAX_MS = 500;
const LOW_DISK_SHARE = 0.1;
/** Less than for the disk: a host that is sold out may use most of its memory. */
const LOW_MEMORY_SHARE = 0.03;
/** The QEMU driver creates no disk when less is left. */
const DISK_MIN_GB = 2;
const LOAD_HIGH = 1;
const SHOWN = 20;

type Found = Omit<HostFinding, 'subject'>;

/** Alarms about hosts in use, for `status`. Certificates have their own. */
export async function hostFindings({ db }: Pick<Service, 'db'>): Promise<HostFinding[]> {
  const found = (await listSeenHosts(db)).flatMap((row) => {
    if (row.revoked || row.lost_at !== null || (row.away_s !== null && row.away_s < AWAY_ALARM_S)) return [];
    return [reachability(row), ...(row.away_since === null ? factsOf(row) : [])]
      .filter(({ level }) => level === 'warn' || level === 'fail')
      .map(({ level, message }): HostFinding => {
        return { level, subject: 'hosts', message: `${row.name}: ${message}` };
      });
  });
  const more = found.length - SHOWN;
  if (more <= 0) return found;
  const message = `${more} more: skerryd hosts doctor --quick`;
  return [...found.slice(0, SHOWN), { level: 'warn', subject: 'hosts', message }];
}

/** All findings about a host that need no further call to it. */
export function describeHost(row: SeenHostRow, now = new Date()): Found[] {
  if (row.lost_at !== null) return [{ level: 'note', message: 'lost, so it is never called' }];
  if (row.revoked) return [{ level: 'note', message: 'revoked, so it is never called' }];
  const certificate = row.backend === null ? [] : [certificateState(row, now)];
  if (row.away_since !== null || row.seen_at === null) return [reachability(row), ...certificate];
  return [reachability(row), ...certificate, ...factsOf(row)];
}

function reachability({ away_since: since, seen_at: seenAt, latency_ms: latency }: SeenHostRow): Found {
  if (since !== null) {
    const last = seenAt === null ? 'never' : `${formatSessionTime(seenAt)} UTC`;
    const message = `does not answer since ${formatSessionTime(since)} UTC (last seen: ${last})`;
    return { level: 'fail', message: `${message}: check its power, its network, and its service` };
  }
  if (seenAt === null) return { level: 'note', message: 'not seen yet: start the service' };
  const answers = `answers in ${(latency ?? 0).toFixed(1)} ms`;
  if ((latency ?? 0) <= LATENCY_MAX_MS) return { level: 'ok', message: answers };
  return { level: 'warn', message: `${answers}: check the network and the load of both machines` };
}

function certificateState(row: SeenHostRow, now: Date): Found {
  const problem = certificateProblem(row, now);
  if (problem !== null) return problem;
  const until = row.certificate_until;
  if (until === null) return { level: 'note', message: 'its certificate is self-signed until it is renewed' };
  return { level: 'ok', message: `certificate until ${formatSessionTime(until)} UTC` };
}

function factsOf(row: SeenHostRow): Found[] {
  if (row.seen_at === null) return [];
  if (row.version === null) {
    const message = 'its version does not report load, memory, disk, and clock: update Skerry on it';
    return [{ level: 'warn', message }];
  }
  return [versionOf(row.version, row.protocol), clockOf(row), loadOf(row), memoryOf(row), diskOf(row)];
}

function versionOf(version: string, protocol: number | null): Found {
  const own = readVersion();
  const runs = `Skerry ${version}${protocol === null ? '' : `, protocol ${protocol}`}`;
  if (version === own) return { level: 'ok', message: runs };
  return { level: 'warn', message: `${runs}, but the service is ${own}: update the older one` };
}

/** The host may have read its clock at any moment of the call. */
function clockOf({ skew_ms: skew, latency_ms: latency }: SeenHostRow): Found {
  const message = describeSkew(skew ?? 0);
  const certain = Math.abs(skew ?? 0) - (latency ?? 0) / 2;
  if (certain <= SKEW_MAX_MS) return { level: 'ok', message };
  return { level: 'warn', message: `${message}: synchronize both clocks, for example with chrony` };
}

/** Such as `clock 3.2 s ahead`. */
export function describeSkew(skewMs: number): string {
  const seconds = (Math.abs(skewMs) / SECOND_MS).toFixed(1);
  return seconds === '0.0' ? 'clock exact' : `clock ${seconds} s ${skewMs > 0 ? 'ahead' : 'behind'}`;
}

function loadOf({ load, cores }: SeenHostRow): Found {
  const message = `load ${(load ?? 0).toFixed(2)} per core, of ${cores ?? 0} cores`;
  if ((load ?? 0) <= LOAD_HIGH) return { level: 'ok', message };
  return { level: 'note', message: `${message}: guests wait for the processor` };
}

/** All servers together may use all memory that the inventory promises. */
function memoryOf(row: SeenHostRow): Found {
  const { ram_mb: all, ram_available_mb: available, promised_ram_mb: promised } = row;
  if (all === null || available === null) return { level: 'note', message: 'memory unknown' };
  const message = `${available} of ${all} MiB of memory available`;
  if (promised > all) {
    const fix = `skerryd hosts resize ${row.name} --ram-mb …`;
    return { level: 'fail', message: `the inventory promises ${promised} MiB, but it has ${all}: ${fix}` };
  }
  if (available >= all * LOW_MEMORY_SHARE) return { level: 'ok', message };
  const fix = `move servers away: skerryd servers move, or hosts drain ${row.name} --move`;
  return { level: 'warn', message: `${message}: ${fix}` };
}

function diskOf({ disk_gb: all, disk_free_gb: free }: SeenHostRow): Found {
  if (all === null || free === null) return { level: 'note', message: 'disk unknown' };
  const message = `${free.toFixed(1)} of ${all.toFixed(1)} GiB of disk free`;
  if (free <= DISK_MIN_GB) {
    return { level: 'fail', message: `${message}: nothing can be created; free space, or add a disk` };
  }
  if (free >= all * LOW_DISK_SHARE) return { level: 'ok', message };
  return { level: 'warn', message: `${message}: delete snapshots, move servers, or add a disk` };
}
