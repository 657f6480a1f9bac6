/** The values of /metrics that every process reads from the database. */
import { readVersion } from '../../kernel/settings/version.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { DatabaseMetric } from '../../spec/staff/monitoring.ts';
import { isServiceSwitch } from '../../spec/switches.ts';
import { countImageFiles } from '../../store/images/stored.ts';
import { countIpv4Pool } from '../../store/inventory/addresses.ts';
import { listCountedHosts, type SeenHostRow } from '../../store/inventory/host-facts.ts';
import { countBlackholes, countOpenFloods } from '../../store/servers/blackholes.ts';
import {
  countConnections,
  countOperations,
  countQueues,
  countServersByRegion,
  countTopups,
  listChains,
  listPriceTimes,
  readDatabaseSize,
  sumBalances,
} from '../../store/service/metrics.ts';
import { countFailingTasks, countGivenUp, countWork } from '../../store/service/status.ts';
import { countReportsByState } from '../../store/staff/abuse-counts.ts';
import { cursorHeight } from '../../store/topups/coins.ts';
import type { Service } from '../context.ts';
import { readSwitches } from '../rules/switches.ts';
import { readCopyCounts } from '../snapshots/copies/read.ts';
import { readBackupState, readWalState } from './backups.ts';

/** The values of one metric; null is left out. */
export type Gauges = Readonly<Record<DatabaseMetric, readonly Gauge[]>>;

export interface Gauge {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type Deps = Pick<Service, 'db' | 'replica' | 'clock' | 'settings' | 'backups'>;

const TOPUPS_DAYS = 30;
const MIB = 1_024 ** 2;
const GIB = 1_024 ** 3;

export async function readGauges(service: Deps): Promise<Gauges> {
  return {
    skerry_info: [gauge(1, { version: readVersion(), mode: service.settings.mode })],
    ...readReplica(service),
    ...(await readWork(service)),
    ...(await readInventory(service)),
    ...(await readMoney(service)),
    ...(await readService(service)),
    ...(await readBackups(service)),
  };
}

function gauge(value: number | bigint, labels: Gauge['labels'] = {}): Gauge {
  return { labels, value: Number(value) };
}

async function readBackups(service: Deps) {
  const { ageMs = null, failure = null, bytes = null } = (await readBackupState(service)) ?? {};
  const isScheduled = Boolean(service.backups?.target);
  return {
    skerry_backup_age_seconds: ageMs === null ? [] : [gauge(ageMs / 1_000)],
    skerry_backup_failed: isScheduled ? [gauge(failure === null ? 0 : 1)] : [],
    skerry_backup_size_bytes: bytes === null ? [] : [gauge(bytes)],
    ...(await readWal(service)),
  };
}

async function readWal(service: Deps) {
  const state = await readWalState(service);
  if (state === null) {
    const none: readonly Gauge[] = [];
    return {
      skerry_wal_waiting_seconds: none,
      skerry_wal_base_age_seconds: none,
      skerry_wal_base_failed: none,
      skerry_wal_verified_base_age_seconds: none,
    };
  }
  const { waitingMs, baseMs, proof } = state;
  return {
    // It waits forever if PostgreSQL does not archive it.
    skerry_wal_waiting_seconds: [gauge(waitingMs === null ? Number.POSITIVE_INFINITY : waitingMs / 1_000)],
    skerry_wal_base_age_seconds: [gauge(baseMs / 1_000)],
    skerry_wal_base_failed: [gauge((proof?.failed ?? null) === null ? 0 : 1)],
    skerry_wal_verified_base_age_seconds:
      proof === null ? [] : [gauge(Math.max(0, Date.now() - proof.since.getTime()) / 1_000)],
  };
}

function readReplica({ replica }: Deps) {
  const { state, lagMs } = replica?.state() ?? { state: null, lagMs: null };
  return {
    skerry_replica_current: state === null ? [] : [gauge(state === 'current' ? 1 : 0)],
    skerry_replica_lag_seconds: lagMs === null ? [] : [gauge(lagMs / 1_000)],
  };
}

async function readWork({ db, clock }: Deps) {
  const now = clock.now();
  const queues = await countQueues(db, now);
  const operations = await countOperations(db, now);
  const tasks = await countFailingTasks(db, 1);
  const givenUp = await countGivenUp(db);
  const counts = await countWork(db, now);
  const unreachable = counts?.unreachable_mails ?? 0n;
  const oldest = Math.max(0, ...operations.map(({ oldest_s: seconds }) => seconds));
  return {
    skerry_queue_due: queues.map(({ queue, due }) => gauge(due, { queue })),
    skerry_queue_age_seconds: queues.map(({ queue, age_s: seconds }) => gauge(seconds, { queue })),
    skerry_operations: operations.map(({ kind, n }) => gauge(n, { kind })),
    skerry_operations_failing: operations.map(({ kind, failing }) => gauge(failing, { kind })),
    skerry_operation_oldest_seconds: [gauge(oldest)],
    skerry_tasks_failing: tasks.map(({ kind, n }) => gauge(n, { kind })),
    skerry_work_given_up: givenUp.map(({ queue, n }) => gauge(n, { queue })),
    skerry_mails_failing: [
      gauge(unreachable, { fault: 'unreachable' }),
      gauge((counts?.faulty_mails ?? 0n) - unreachable, { fault: 'deferred' }),
    ],
    skerry_topups_withheld: [gauge(counts?.held_topups ?? 0)],
    skerry_topups_refund_pending: [gauge(counts?.unsent_topups ?? 0)],
  };
}

async function readInventory({ db, clock }: Deps) {
  const servers = await countServersByRegion(db);
  const pool = await countIpv4Pool(db, clock.now());
  const hosts = (await listCountedHosts(db)).filter(({ lost_at: lostAt, revoked }) => !revoked && !lostAt);
  const now = Date.now();
  return {
    skerry_servers: servers.map(({ region, status, n }) => gauge(n, { region, status })),
    skerry_addresses: pool.flatMap((row) =>
      (['free', 'held', 'resting', 'blocked'] as const).map((state) =>
        gauge(row[state], { region: row.region_id, state }),
      ),
    ),
    skerry_host_ram_bytes: hosts.flatMap((row) =>
      sizes(row.name, MIB, {
        promised: row.promised_ram_mb,
        used: row.used_ram_mb,
        available: row.ram_available_mb,
      }),
    ),
    skerry_host_disk_bytes: hosts.flatMap((row) =>
      sizes(row.name, GIB, {
        promised: row.promised_disk_gb,
        used: row.used_disk_gb,
        free: row.disk_free_gb,
      }),
    ),
    skerry_host_servers: hosts.map(({ name, servers: n }) => gauge(n, { host: name })),
    skerry_host_draining: hosts.map(({ name, draining }) => gauge(draining ? 1 : 0, { host: name })),
    skerry_host_up: hosts.map((row) => gauge(isUp(row) ? 1 : 0, { host: row.name })),
    skerry_host_away_seconds: hosts.map((row) => gauge(row.away_s ?? 0, { host: row.name })),
    skerry_host_load_per_core: perHost(hosts, ({ load }) => load),
    skerry_host_certificate_seconds: perHost(hosts, ({ certificate_until: until }) =>
      until === null ? null : (until.getTime() - now) / 1_000,
    ),
  };
}

function isUp({ seen_at: seenAt, away_since: awaySince }: SeenHostRow): boolean {
  return seenAt !== null && awaySince === null;
}

function perHost(hosts: readonly SeenHostRow[], read: (row: SeenHostRow) => number | null): Gauge[] {
  return hosts.flatMap((row) => {
    const value = read(row);
    return value === null ? [] : [gauge(value, { host: row.name })];
  });
}

/** A host of an earlier version does not report all of them. */
function sizes(host: string, unit: number, states: Readonly<Record<string, number | null>>): Gauge[] {
  return Object.entries(states).flatMap(([state, size]) =>
    size === null ? [] : [gauge(Number(size) * unit, { host, state })],
  );
}

async function readMoney({ db, clock }: Deps) {
  const now = clock.now().getTime();
  const chains = await listChains(db);
  const prices = await listPriceTimes(db);
  const topups = await countTopups(db, new Date(now - TOPUPS_DAYS * DAY_MS));
  const balances = await sumBalances(db);
  const dollars = (cents: bigint | undefined, sign: string) => gauge(Number(cents ?? 0n) / 100, { sign });
  return {
    skerry_chain_up: chains.map(({ coin, failures }) => gauge(failures === 0 ? 1 : 0, { coin })),
    skerry_chain_failures: chains.map(({ coin, failures }) => gauge(failures, { coin })),
    skerry_chain_height: chains.flatMap(({ coin, cursor }) => {
      const height = cursorHeight(cursor);
      return height === null ? [] : [gauge(height, { coin })];
    }),
    skerry_chain_lag_seconds: chains.flatMap(({ coin, read_at: readAt }) =>
      readAt === null ? [] : [gauge(Math.max(0, now - readAt.getTime()) / 1_000, { coin })],
    ),
    skerry_price_age_seconds: prices.map(({ coin, quoted_at: quotedAt }) =>
      gauge(Math.max(0, now - quotedAt.getTime()) / 1_000, { coin }),
    ),
    skerry_topups: topups.map(({ coin, status, n }) => gauge(n, { coin, status })),
    skerry_balances_dollars: [
      dollars(balances?.positive, 'positive'),
      dollars(balances?.negative, 'negative'),
    ],
  };
}

async function readService(service: Deps) {
  const { db } = service;
  const size = await readDatabaseSize(db);
  const connections = await countConnections(db);
  const switches = (await readSwitches(service)).filter(({ name }) => isServiceSwitch(name));
  const reports = await countReportsByState(db);
  const floods = await countOpenFloods(db);
  const files = await countImageFiles(db);
  const { bytes: copyBytes, ...copies } = await readCopyCounts(service);
  return {
    skerry_image_files: [gauge(files.n)],
    skerry_image_files_bytes: [gauge(files.bytes)],
    skerry_snapshot_copies: (['stored', 'waiting', 'late', 'failing', 'deleting'] as const).map((state) =>
      gauge(copies[state], { state }),
    ),
    skerry_snapshot_copies_bytes: [gauge(copyBytes)],
    skerry_abuse_reports: reports.map(({ state, kind, n }) => gauge(n, { state, kind })),
    skerry_floods: floods.map(({ direction, blackholed, n }) =>
      gauge(n, { direction, blackholed: blackholed ? 'yes' : 'no' }),
    ),
    skerry_blackholed_servers: [gauge(await countBlackholes(db))],
    skerry_switch_on: switches.map(({ name, on }) => gauge(on ? 1 : 0, { switch: name })),
    skerry_database_size_bytes: [gauge(size?.bytes ?? 0)],
    skerry_database_connections: connections.map(({ state, n }) => gauge(n, { state })),
    skerry_database_connections_max: [gauge(size?.connections_max ?? 0)],
  };
}
