/** Findings about the running service, for `status`. */
import { formatId } from '../../kernel/ids.ts';
import { formatCents } from '../../kernel/money.ts';
import { DAY_MS, formatSessionTime, MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { NEEDED_SEALED } from '../../spec/sealed.ts';
import { WORK_LIMITS } from '../../spec/staff/work.ts';
import { isServiceSwitch } from '../../spec/switches.ts';
import { sumNegativeBalances } from '../../store/billing/negative.ts';
import { countLowIpv4Pools } from '../../store/inventory/addresses.ts';
import { countSealedByKey } from '../../store/service/sealed.ts';
import {
  countFailingTasks,
  countGivenUp,
  countServersByStatus,
  countWebhooksByKey,
  countWork,
  listFailingChains,
  listStuckOperations,
  type StuckOperationRow,
  sumReversedTopups,
  type WorkCounts,
} from '../../store/service/status.ts';
import { leapFindings } from '../billing/leap.ts';
import type { Service } from '../context.ts';
import { nameFindings } from '../dns/ensure.ts';
import { distributionFindings } from '../images/distribute.ts';
import { listDedicated } from '../inventory/manual-machines.ts';
import { listMaintenance } from '../rules/maintenance.ts';
import { listPolicies } from '../rules/policies.ts';
import { readSwitches, type SwitchState } from '../rules/switches.ts';
import { floodFindings } from '../servers/floods/read.ts';
import { listMachineFindings } from '../servers/machines/findings.ts';
import { readMovesInBrief } from '../servers/moves/describe.ts';
import { copyFindings } from '../snapshots/copies/read.ts';
import { abuseFindings } from '../staff/abuse/counts.ts';
import { legalFindings } from '../staff/legal/read.ts';
import { coinFindings } from '../topups/chains/coin-findings.ts';
import { backupFindings, recoveryFindings, walFindings } from './backups.ts';
import { certificateFindings } from './host-certificates.ts';
import { hostFindings } from './hosts.ts';
import { countLarge } from './large-counts.ts';
import { lostHostFindings } from './lost-hosts.ts';
import { replicaFindings } from './replica.ts';

export interface Finding {
  /** `fail`: something does not work; `warn`: needs attention soon; `note`: intended, or good to know. */
  readonly level: 'ok' | 'note' | 'warn' | 'fail';
  readonly subject: string;
  readonly message: string;
}

const LATE_MS = WORK_LIMITS.lateMinutes * MINUTE_MS;
const STUCK_AFTER_MS = WORK_LIMITS.stuckMinutes * MINUTE_MS;
const FAILURES_WARNING = 10;
const STUCK_SHOWN = 10;
const MACHINES_SHOWN = 10;
const FINDINGS_SHOWN = 20;
const REVERSALS_SHOWN = 5;
const CUSTOMERS_SHOWN = 5;
const REVERSALS_SHOWN_DAYS = 30;
/** Warn when less than this fraction of an address pool is free (a quarter). */
const LOW_POOL_SHARE = 4n;

type Deps = Pick<
  Service,
  'db' | 'replica' | 'clock' | 'keys' | 'compute' | 'chains' | 'rates' | 'settings' | 'backups'
>;

export async function readStatus(service: Deps): Promise<Finding[]> {
  const { db, clock } = service;
  const now = clock.now().getTime();
  const counts = await countWork(db, new Date(now - LATE_MS));
  const switches = await readSwitches(service);
  if (!counts) return [];
  const since = new Date(now - STUCK_AFTER_MS);
  const stuck = await listStuckOperations(db, { attempts: FAILURES_WARNING, since, limit: STUCK_SHOWN });
  return [
    ...replicaFindings(service),
    ...(await recoveryFindings(service)),
    ...(await leapFindings(service)),
    ...(await backupFindings(service)),
    ...(await walFindings(service)),
    await serverFinding(service),
    ...operationFindings(counts, stuck),
    ...(await moveFindings(service)),
    ...(await lostHostFindings(service)),
    ...(await listMachineFindings(service, FINDINGS_SHOWN)),
    ...(await distributionFindings(service)),
    ...(await copyFindings(service)),
    ...(await taskAndChainFindings(service)),
    ...(await coinFindings(service)),
    ...(await reversalFindings(service)),
    ...(await negativeBalanceFindings(service)),
    ...queueFindings(counts, switches),
    ...(await secretFindings(service)),
    ...(await keyFindings(service)),
    ...(await addressFindings(service)),
    ...(await nameFindings(service)),
    ...(await dedicatedFindings(service)),
    ...(await floodFindings(service)),
    ...(await abuseFindings(service)),
    ...(await hostFindings(service)),
    ...(await certificateFindings(service)),
    ...(await legalFindings(service)),
    ...controlFindings(counts, switches),
    ...(await ruleFindings(service)),
  ];
}

async function serverFinding({ db }: Deps): Promise<Finding> {
  const rows = await countLarge(
    db,
    'servers',
    () => countServersByStatus(db),
    ({ n }) => n,
  );
  const all = rows.reduce((sum, row) => sum + row.n, 0n);
  const each = rows.map((row) => `${row.n} ${row.status}`).join(', ');
  return { level: 'ok', subject: 'servers', message: rows.length === 0 ? 'none' : `${all}: ${each}` };
}

function operationFindings({ operations: n }: WorkCounts, stuck: readonly StuckOperationRow[]): Finding[] {
  const subject = 'operations';
  const each = stuck.map((row): Finding => {
    const where = row.host === null ? '' : ` on ${row.host}`;
    const fault = row.last_fault === null ? '' : `: ${row.last_fault}`;
    const tries = row.attempts > 0 ? `, ${row.attempts} attempts failed` : '';
    const startedAt = `since ${formatSessionTime(row.created_at)} UTC`;
    const operation = `${formatId('server', row.server_id)} ${row.kind} at ${row.step}${where}`;
    const message = `${operation} ${startedAt}${tries}${fault}`;
    return { level: 'fail', subject, message };
  });
  return each.length > 0 ? each : [{ level: 'ok', subject, message: `${n} in progress` }];
}

async function moveFindings({ db }: Deps): Promise<Finding[]> {
  const subject = 'moves';
  const moves = await readMovesInBrief(db);
  if (moves === null) return [];
  return [
    { level: 'note', subject, message: `${moves.underWay} under way, ${moves.queued} queued` },
    ...moves.failing.map((message): Finding => ({ level: 'warn', subject, message })),
  ];
}

async function taskAndChainFindings({ db }: Deps): Promise<Finding[]> {
  const tasks = (await countFailingTasks(db, FAILURES_WARNING)).map(
    ({ kind, n }): Finding => ({
      level: 'fail',
      subject: 'tasks',
      message: `${n} of kind ${kind} keep failing`,
    }),
  );
  const chains = (await listFailingChains(db, FAILURES_WARNING)).map((row): Finding => {
    const { code, failures, read_at, last_fault } = row;
    const until = read_at === null ? 'never read' : `last read ${formatSessionTime(read_at)} UTC`;
    const fault = last_fault === null ? '' : `: ${last_fault}`;
    const message = `${code}: ${failures} polls failed in a row, ${until}${fault}`;
    return { level: 'fail', subject: 'chains', message };
  });
  const givenUp = (await countGivenUp(db)).map(({ queue, n }): Finding => {
    const message = `${n} of queue ${queue} given up: see \`skerryd work list --state given_up\``;
    return { level: 'warn', subject: 'work', message };
  });
  return [...tasks, ...chains, ...givenUp];
}

/** Returns credits that were taken back lately. An attack on a chain shows here first. */
async function reversalFindings({ db, clock }: Deps): Promise<Finding[]> {
  const since = new Date(clock.now().getTime() - REVERSALS_SHOWN_DAYS * DAY_MS);
  const reversed = await sumReversedTopups(db, { since, shown: REVERSALS_SHOWN });
  if (!reversed || reversed.n === 0n) return [];
  const { n, cents, ids } = reversed;
  const names = ids.map((id) => formatId('topup', id)).join(', ');
  const more = n > ids.length ? ` and ${n - BigInt(ids.length)} more` : '';
  const message =
    `${formatCents(cents)} USD taken back in the last ${REVERSALS_SHOWN_DAYS} days, because payments ` +
    `left the chain: ${names}${more}`;
  return [{ level: 'note', subject: 'top-ups', message }];
}

async function negativeBalanceFindings({ db }: Deps): Promise<Finding[]> {
  const negative = await sumNegativeBalances(db, { shown: CUSTOMERS_SHOWN });
  if (!negative || negative.n === 0n) return [];
  const { n, cents, worst } = negative;
  const each = worst.map((row) => `${row.email} ${formatCents(BigInt(row.cents))}`).join(', ');
  const more = n > worst.length ? ` and ${n - BigInt(worst.length)} more` : '';
  const total = `${formatCents(cents)} USD in all`;
  const message = `${n} below zero, ${total}, after reversed payments: ${each}${more}`;
  return [{ level: 'warn', subject: 'balances', message }];
}

/** Returns overdue work, except work whose switch is off. */
function queueFindings(counts: WorkCounts, switches: readonly SwitchState[]): Finding[] {
  const isOn = (name: string) => switches.some((each) => each.name === name && each.on);
  const late = (subject: string, n: bigint, says: string, on = true): Finding[] =>
    on && n > 0n ? [{ level: 'fail', subject, message: `${n} ${says}` }] : [];
  return [
    ...late('calendar', counts.late_servers, 'servers are due but not processed', isOn('renewals')),
    ...late('events', counts.late_events, 'are waiting for their sequence number'),
    ...late('webhooks', counts.late_webhooks, 'webhooks have overdue deliveries', isOn('webhooks')),
    ...late('mail', counts.late_mails, 'mails are overdue', isOn('mail')),
    ...late('mail', counts.faulty_mails, 'mails could not be sent yet', isOn('mail')),
  ];
}

/** Returns webhooks whose secrets were sealed with a key that was removed from the settings too early. */
async function secretFindings({ db, keys }: Deps): Promise<Finding[]> {
  const lost = (await countWebhooksByKey(db)).filter(({ key_id }) => !keys.has(key_id));
  return lost.map(({ key_id, n }) => ({
    level: 'fail',
    subject: 'webhooks',
    message: `${n} webhooks receive nothing: SKERRY_SECRET_KEY lacks ${key_id}, which sealed their secrets`,
  }));
}

/** Returns secrets that the newest key does not seal yet, or that no configured key opens. */
async function keyFindings({ db, keys }: Deps): Promise<Finding[]> {
  const counts = (await countSealedByKey(db, NEEDED_SEALED)).filter(({ key_id }) => key_id !== keys.newestId);
  return counts.map(
    ({ key_id: id, n }): Finding =>
      keys.has(id)
        ? { level: 'note', subject: 'key', message: `${n} secrets are sealed with ${id}: keep it for now` }
        : {
            level: 'fail',
            subject: 'key',
            message: `SKERRY_SECRET_KEY lacks ${id}: ${n} secrets do not open`,
          },
  );
}

async function addressFindings({ db, clock }: Deps): Promise<Finding[]> {
  const pools = await countLowIpv4Pools(db, clock.now(), LIMITS.ipv4PoolWarning);
  return pools.map(({ region_id, free, held, resting, blocked }): Finding => {
    // A pool that was small from the start would warn permanently.
    const all = free + held + resting + blocked;
    const level = free * LOW_POOL_SHARE < all ? (free === 0n ? 'fail' : 'warn') : 'note';
    return { level, subject: 'addresses', message: `${free} of ${all} free in ${region_id}` };
  });
}

/** Returns manual work on dedicated machines. A suspended server runs for free until it is powered off. */
async function dedicatedFindings(service: Deps): Promise<Finding[]> {
  const subject = 'dedicated';
  const waiting = Map.groupBy(await listDedicated(service), ({ pendingAction }) => pendingAction);
  return [...waiting].flatMap(([toDo, some]): Finding[] => {
    if (toDo === null) return [];
    const names = some.slice(0, MACHINES_SHOWN).map(({ name }) => name);
    const more = some.length > names.length ? ` and ${some.length - names.length} more` : '';
    const level = toDo === 'power it off' || toDo === 'power it on' ? 'fail' : 'note';
    return [{ level, subject, message: `${names.join(', ')}${more}: ${toDo}` }];
  });
}

function controlFindings(counts: WorkCounts, switches: readonly SwitchState[]): Finding[] {
  const off = switches.filter(({ name, on }) => !on && isServiceSwitch(name));
  const switchFindings = off.map(({ name, since, reason }): Finding => {
    const why = reason === null ? '' : ` (${reason})`;
    return {
      level: 'note',
      subject: 'switch',
      message: `${name} is off${since ? ` since ${formatSessionTime(since)} UTC` : ''}${why}`,
    };
  });
  const note = (subject: string, n: bigint, says: string): Finding[] =>
    n > 0n ? [{ level: 'note', subject, message: `${n} ${says}` }] : [];
  return [
    ...switchFindings,
    ...(off.some(({ name }) => name === 'mail')
      ? note('mail', counts.waiting_mails, 'mails are waiting')
      : []),
    ...note('servers', counts.frozen_servers, 'frozen'),
    ...note('servers', counts.held_servers, 'under a legal hold'),
    ...note('customers', counts.frozen_customers, 'frozen'),
    ...note('top-ups', counts.held_topups, 'with withheld payments'),
    ...note('top-ups', counts.unsent_topups, 'with a pending refund'),
  ];
}

async function ruleFindings(service: Deps): Promise<Finding[]> {
  const windows = (await listMaintenance(service)).map((row): Finding => {
    const until = `until ${formatSessionTime(row.ends_at)} UTC`;
    return {
      level: 'note',
      subject: 'maintenance',
      message: `${row.operation ?? 'every operation'} is closed ${until}`,
    };
  });
  const policies = (await listPolicies(service)).length;
  const blocks: Finding[] =
    policies > 0 ? [{ level: 'note', subject: 'policies', message: `${policies} in force` }] : [];
  return [...windows, ...blocks];
}
