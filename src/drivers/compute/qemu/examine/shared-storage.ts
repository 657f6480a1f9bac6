/** Checks the Ceph cluster of shared volumes: the programs, the key, the clock, the pool, and its space. */
import { readFile, stat } from 'node:fs/promises';
import type { HostFinding } from '../../../../ports/compute.ts';
import { run } from '../command.ts';
import type { CephOptions, QemuHost } from '../host.ts';
import { GIB } from '../space.ts';
import { CephRefusedError, runCeph } from '../storage/ceph.ts';

const SUBJECT = 'shared storage';
const INSTALL = 'apt-get install --no-install-recommends ceph-common qemu-block-extra';
/** Ceph stops all writes at 95 percent. */
const USED_WARN_PERCENT = 80;
const USED_FAIL_PERCENT = 92;
const PERCENT = 100;

const finding = (level: HostFinding['level'], message: string): HostFinding => ({
  level,
  subject: SUBJECT,
  message,
});

/** Returns nothing for a host without shared storage. */
export async function checkSharedStorage(host: QemuHost): Promise<HostFinding[]> {
  const { ceph } = host.options;
  if (!ceph) return [];
  const problems = [...(await checkPrograms()), ...(await checkKeyFile(ceph))];
  if (problems.some(({ level }) => level === 'fail')) return problems;
  const cluster = [
    ...(await checkPool(host, ceph)),
    ...(await checkHealth(host)),
    ...(await checkSpace(host)),
  ];
  const all = [...problems, ...cluster];
  return all.length > 0 ? all : [finding('ok', `pool ${ceph.pool} can be used`)];
}

async function checkPrograms(): Promise<HostFinding[]> {
  const problems: HostFinding[] = [];
  for (const program of ['ceph', 'rados', 'rbd']) {
    const isInstalled = await run(program, ['--version']).then(
      () => true,
      () => false,
    );
    if (!isInstalled) problems.push(finding('fail', `${program} is missing: ${INSTALL}`));
  }
  const formats = await run('qemu-img', ['--help']).catch(() => '');
  if (!/^Supported formats:.* rbd( |$)/m.test(formats))
    problems.push(finding('fail', `QEMU has no driver for Ceph: ${INSTALL}`));
  return problems;
}

async function checkKeyFile({ keyFile }: CephOptions): Promise<HostFinding[]> {
  const name = 'SKERRY_CEPH_KEY_FILE';
  const key = await readFile(keyFile, 'utf8').catch(() => undefined);
  if (key === undefined) return [finding('fail', `${name} cannot be read`)];
  if (!/^[A-Za-z0-9+/]+=*\s*$/.test(key))
    return [finding('fail', `${name} is not a key: write it with ceph auth print-key`)];
  const { mode } = await stat(keyFile);
  if ((mode & 0o077) === 0) return [];
  return [finding('warn', `other users can read ${name}: chmod 600`)];
}

async function checkPool(host: QemuHost, { pool }: CephOptions): Promise<HostFinding[]> {
  try {
    await runCeph(host, 'rbd', ['ls', '--pool', pool]);
    return [];
  } catch (error) {
    const why = error instanceof CephRefusedError ? error.code : null;
    if (why === 'ENOENT') return [finding('fail', `the cluster has no pool ${pool}: SKERRY_CEPH_POOL`)];
    const message =
      `the cluster or its pool ${pool} cannot be used: check SKERRY_CEPH_MONITORS and ` +
      'SKERRY_CEPH_NETWORKS, and the capabilities of SKERRY_CEPH_USER (docs/operators/machines.md)';
    return [finding('fail', message)];
  }
}

interface Health {
  readonly status: string;
  readonly checks: Readonly<Record<string, { readonly severity: string }>>;
}

/** Names the cluster's own checks, which have no addresses; their summaries may. */
async function checkHealth(host: QemuHost): Promise<HostFinding[]> {
  const text = await runCeph(host, 'ceph', ['health', '--format', 'json']).catch(() => undefined);
  if (text === undefined) return [finding('warn', 'the health of the cluster cannot be read')];
  const { status, checks } = JSON.parse(text) as Health;
  const names = Object.keys(checks).join(', ');
  if (status === 'HEALTH_ERR') return [finding('fail', `the cluster reports ${names}: ceph health detail`)];
  if ('MON_CLOCK_SKEW' in checks)
    return [finding('warn', 'the clocks of the cluster differ: check its time synchronization')];
  return status === 'HEALTH_OK' ? [] : [finding('warn', `the cluster reports ${names}: ceph health detail`)];
}

interface Space {
  readonly stats: { readonly total_bytes: number; readonly total_avail_bytes: number };
}

/** A cluster without a manager knows no numbers. */
async function checkSpace(host: QemuHost): Promise<HostFinding[]> {
  const text = await runCeph(host, 'ceph', ['df', '--format', 'json']).catch(() => undefined);
  const { total_bytes: total, total_avail_bytes: free } = (JSON.parse(text ?? '{"stats":{}}') as Space).stats;
  if (!total)
    return [finding('note', 'the cluster does not report its space: it needs a manager (ceph-mgr)')];
  const usedPercent = Math.round((PERCENT * (total - free)) / total);
  if (usedPercent < USED_WARN_PERCENT) return [];
  const level = usedPercent < USED_FAIL_PERCENT ? 'warn' : 'fail';
  const freeGb = Math.floor(free / GIB);
  return [finding(level, `the cluster is ${usedPercent} percent full (${freeGb} GiB free): add disks to it`)];
}
