/** Findings about the partitions of the tables that only grow, for `doctor`. */
import { formatRfc3339 } from '../../kernel/time.ts';
import type { HostFinding } from '../../ports/compute.ts';
import {
  hasStrayRows,
  PARTITIONED,
  PARTITIONED_NAMES,
  type PartitionedName,
  readPartitions,
} from '../../store/service/partitions.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

/** Nothing is lost without partitions: rows are then in the default one, and deleted one by one. */
export async function partitionFindings(service: Deps): Promise<HostFinding[]> {
  const finding = (level: HostFinding['level'], message: string) => ({ level, subject: 'database', message });
  const found = [];
  for (const name of PARTITIONED_NAMES) found.push(await examine(service, name));
  if (found.every(({ isDivided }) => !isDivided))
    return [
      finding(
        'note',
        'the large tables have no partitions yet; a worker adds them, a week after an upgrade at the latest',
      ),
    ];
  const late = found.flatMap(({ late: of }) => of ?? []);
  const stray = found.flatMap(({ stray: of }) => of ?? []);
  const findings = [
    ...late.map((of) => finding('warn', `${of}; is a worker running, and does it log faults of retain?`)),
    ...stray.map((of) => finding('note', `${of}; they are deleted one by one when they expire`)),
  ];
  return findings.length > 0 ? findings : [finding('ok', 'the partitions of the next period are there')];
}

async function examine({ db, clock }: Deps, name: PartitionedName) {
  const partitioning = PARTITIONED[name];
  const { widthMs, purge } = partitioning;
  const { partitions } = await readPartitions(db, partitioning);
  const now = clock.now().getTime();
  const next = now - (now % widthMs) + widthMs;
  const first = partitions[0];
  const isReady = partitions.some(({ fromMs, untilMs }) => fromMs <= next && next < untilMs);
  const isStray = first !== undefined && (await hasStrayRows(db, partitioning, first.fromMs));
  return {
    isDivided: first !== undefined,
    late: isReady ? null : `${purge.table} has no partition for ${formatRfc3339(new Date(next))}`,
    stray: isStray
      ? `the default partition of ${purge.table} has rows of ${name} that others should have`
      : null,
  };
}
