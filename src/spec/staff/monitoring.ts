/**
 * The metrics of /metrics that are ours. The library adds those of the process. No label has the name or id
 * of a customer or server, so the number of series depends on the routes, coins, hosts, and regions alone.
 */

export interface MetricRow {
  readonly help: string;
  readonly labels: readonly string[];
}

/** Of this process since it started. */
export const REQUEST_METRICS = {
  skerry_requests_total: {
    help: 'Requests of customers, by surface, route, method, and class of the status.',
    labels: ['surface', 'route', 'method', 'status'],
  },
  skerry_request_duration_seconds: {
    help: 'Time until the response was sent. Uploads and streams are left out.',
    labels: ['surface'],
  },
  skerry_requests_refused_total: { help: 'Requests refused because of overload.', labels: [] },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** Read from the database, so every process reports the same. */
export const DATABASE_METRICS = {
  skerry_info: { help: 'Always 1. The version of Skerry, and the mode.', labels: ['version', 'mode'] },
  skerry_replica_current: { help: '1: the replica answers, as this process sees it.', labels: [] },
  skerry_replica_lag_seconds: { help: 'How far the replica is behind, at most.', labels: [] },
  skerry_queue_due: { help: 'Rows whose time has come, and that no worker has finished.', labels: ['queue'] },
  skerry_queue_age_seconds: { help: 'How long the oldest of these rows is overdue.', labels: ['queue'] },
  skerry_operations: { help: 'Operations in progress.', labels: ['kind'] },
  skerry_operations_failing: { help: 'Operations whose last attempt failed.', labels: ['kind'] },
  skerry_operation_oldest_seconds: { help: 'Age of the oldest operation, moves excepted.', labels: [] },
  skerry_tasks_failing: { help: 'Tasks whose last attempt failed.', labels: ['kind'] },
  skerry_work_given_up: { help: 'Work that staff gave up.', labels: ['queue'] },
  skerry_mails_failing: {
    help: 'Queued mails that failed at least once: the server was unreachable, or deferred them.',
    labels: ['fault'],
  },
  skerry_servers: { help: 'Servers.', labels: ['region', 'status'] },
  skerry_host_ram_bytes: { help: 'Memory of a host: promised, used, available.', labels: ['host', 'state'] },
  skerry_host_disk_bytes: { help: 'Disk space of a host: promised, used, free.', labels: ['host', 'state'] },
  skerry_host_servers: { help: 'Servers of a host.', labels: ['host'] },
  skerry_host_load_per_core: { help: 'Load of a host, per core.', labels: ['host'] },
  skerry_host_draining: { help: '1: no new servers are placed on the host.', labels: ['host'] },
  skerry_host_up: { help: '1: the host answers. Lost and revoked hosts are left out.', labels: ['host'] },
  skerry_host_away_seconds: { help: 'How long the host has not answered.', labels: ['host'] },
  skerry_host_certificate_seconds: {
    help: 'Time until the certificate of a host expires.',
    labels: ['host'],
  },
  skerry_addresses: { help: 'IPv4 addresses.', labels: ['region', 'state'] },
  skerry_chain_up: { help: '1: the last poll of the node succeeded.', labels: ['coin'] },
  skerry_chain_failures: { help: 'Polls that failed in a row.', labels: ['coin'] },
  skerry_chain_height: { help: 'The block up to which payments were read.', labels: ['coin'] },
  skerry_chain_lag_seconds: { help: 'Time since the chain was read up to its tip.', labels: ['coin'] },
  skerry_price_age_seconds: { help: 'Age of the newest price of a coin.', labels: ['coin'] },
  skerry_topups: { help: 'Top-ups of the last 30 days.', labels: ['coin', 'status'] },
  skerry_topups_withheld: { help: 'Top-ups with withheld payments.', labels: [] },
  skerry_topups_refund_pending: { help: 'Top-ups with an approved refund that was not sent.', labels: [] },
  skerry_balances_dollars: { help: 'What all customers together have.', labels: ['sign'] },
  skerry_abuse_reports: { help: 'Reports of abuse that are kept.', labels: ['state', 'kind'] },
  skerry_image_files: { help: 'Files of images that customers uploaded.', labels: [] },
  skerry_image_files_bytes: { help: 'Size of these files.', labels: [] },
  skerry_snapshot_copies: {
    help: 'Copies of snapshots in the file store: stored, waiting, late (for a day), failing, deleting.',
    labels: ['state'],
  },
  skerry_snapshot_copies_bytes: { help: 'Size of those that are stored.', labels: [] },
  skerry_floods: { help: 'Floods of packets that have not ended.', labels: ['direction', 'blackholed'] },
  skerry_blackholed_servers: { help: 'Servers whose packets are dropped.', labels: [] },
  skerry_switch_on: { help: '1: the switch is on.', labels: ['switch'] },
  skerry_backup_age_seconds: {
    help: 'Time since the newest verified backup, or since the first attempt. Absent if none are scheduled.',
    labels: [],
  },
  skerry_backup_failed: { help: '1: the latest backup failed.', labels: [] },
  skerry_backup_size_bytes: { help: 'Size of the newest verified backup.', labels: [] },
  skerry_wal_waiting_seconds: {
    help: 'How long the oldest segment of the write-ahead log waits for its archive, or infinity.',
    labels: [],
  },
  skerry_wal_base_age_seconds: {
    help: 'Time since the newest base for point-in-time recovery. Without one, time since it was needed.',
    labels: [],
  },
  skerry_wal_base_failed: {
    help: '1 if the newest base that was tried for point-in-time recovery could not be restored, or 0.',
    labels: [],
  },
  skerry_wal_verified_base_age_seconds: {
    help: 'Time since the newest base that was restored to verify it. Without one, since the first base.',
    labels: [],
  },
  skerry_database_size_bytes: { help: 'Size of the database.', labels: [] },
  skerry_database_connections: { help: 'Connections to the database, of all programs.', labels: ['state'] },
  skerry_database_connections_max: { help: 'Connections that the database allows.', labels: [] },
} as const satisfies Readonly<Record<string, MetricRow>>;

export type DatabaseMetric = keyof typeof DATABASE_METRICS;

/** Upper bounds of the histogram of durations, in seconds. */
export const DURATION_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export const METRICS_PATH = '/metrics';
