/** How the service stands: what an operator looks at first, and what he should look at next. */
import { showId } from '../kernel/ids.ts';
import { MINUTE_MS, sessionTime } from '../kernel/time.ts';
import { LIMITS } from '../spec/limits.ts';
import { countPool } from '../store/addresses.ts';
import {
  type Counts,
  countFailingTasks,
  countSealedWebhooks,
  countServers,
  countWork,
  listStuck,
  listUnread,
  type StuckRow,
} from '../store/status.ts';
import type { Service } from './context.ts';
import { nameFaults } from './dns/faults.ts';
import { listDedicated } from './inventory/by-hand.ts';
import { listMaintenance } from './rules/maintenance.ts';
import { listPolicies } from './rules/policies.ts';
import { machineFaults } from './servers/found.ts';
import { readSwitches, type SwitchState } from './switches/switch.ts';
import { coinAlarms } from './topups/coin-alarms.ts';

export interface Finding {
  /** `look`: something does not get on; `note`: the operator wanted it so, or wants to know. */
  readonly level: 'ok' | 'note' | 'look';
  readonly what: string;
  readonly says: string;
}

/** Work that was due before that has waited too long; an operation that takes longer does not get on. */
const LATE_MS = 10 * MINUTE_MS;
const LONG_MS = 30 * MINUTE_MS;
const FAILED_OFTEN = 10;
const STUCK_SHOWN = 10;
const MACHINES_SHOWN = 10;
const FINDINGS_SHOWN = 20;
/** Of a pool of addresses: less than a quarter is free. */
const FEW_SHARE = 4n;

type Parts = Pick<Service, 'db' | 'clock' | 'keys' | 'compute' | 'chains' | 'rates' | 'settings'>;

export async function readStatus(service: Parts): Promise<Finding[]> {
  const { db, clock } = service;
  const now = clock.now().getTime();
  const counts = await countWork(db, new Date(now - LATE_MS));
  const switches = await readSwitches(service);
  if (!counts) return [];
  const since = new Date(now - LONG_MS);
  const stuck = await listStuck(db, { attempts: FAILED_OFTEN, since, limit: STUCK_SHOWN });
  return [
    await servers(service),
    ...operations(counts, stuck),
    ...(await machineFaults(service, FINDINGS_SHOWN)),
    ...(await tasksAndChains(service)),
    ...(await coinAlarms(service)),
    ...queues(counts, switches),
    ...(await secrets(service)),
    ...(await addresses(service)),
    ...(await nameFaults(service)),
    ...(await dedicated(service)),
    ...levers(counts, switches),
    ...(await rules(service)),
  ];
}

async function servers({ db }: Parts): Promise<Finding> {
  const rows = await countServers(db);
  const all = rows.reduce((sum, row) => sum + row.n, 0n);
  const each = rows.map((row) => `${row.n} ${row.status}`).join(', ');
  return { level: 'ok', what: 'servers', says: rows.length === 0 ? 'none' : `${all}: ${each}` };
}

function operations({ operations: n }: Counts, stuck: readonly StuckRow[]): Finding[] {
  const what = 'operations';
  const each = stuck.map((row): Finding => {
    const where = row.host === null ? '' : ` on ${row.host}`;
    const fault = row.last_fault === null ? '' : `: ${row.last_fault}`;
    const tries = row.attempts > 0 ? `, ${row.attempts} tries failed` : '';
    const begun = `since ${sessionTime(row.created_at)} UTC`;
    const says = `${showId('server', row.server_id)} ${row.kind} at ${row.step}${where} ${begun}${tries}${fault}`;
    return { level: 'look', what, says };
  });
  return each.length > 0 ? each : [{ level: 'ok', what, says: `${n} under way` }];
}

async function tasksAndChains({ db }: Parts): Promise<Finding[]> {
  const tasks = (await countFailingTasks(db, FAILED_OFTEN)).map(
    ({ kind, n }): Finding => ({
      level: 'look',
      what: 'tasks',
      says: `${n} of kind ${kind} fail again and again`,
    }),
  );
  const chains = (await listUnread(db, FAILED_OFTEN)).map((row): Finding => {
    const { code, failures, read_at, last_fault } = row;
    const until = read_at === null ? 'never read' : `read up to ${sessionTime(read_at)} UTC`;
    const fault = last_fault === null ? '' : `: ${last_fault}`;
    const says = `${code}: ${failures} polls failed in a row, ${until}${fault}`;
    return { level: 'look', what: 'chains', says };
  });
  return [...tasks, ...chains];
}

/** What waits longer than it should; of what is switched off nothing is late. */
function queues(counts: Counts, switches: readonly SwitchState[]): Finding[] {
  const isOn = (name: string) => switches.some((each) => each.name === name && each.on);
  const late = (what: string, n: bigint, says: string, on = true): Finding[] =>
    on && n > 0n ? [{ level: 'look', what, says: `${n} ${says}` }] : [];
  return [
    ...late('calendar', counts.late_servers, 'servers are due and not looked at', isOn('renewals')),
    ...late('events', counts.late_events, 'wait to be numbered'),
    ...late('webhooks', counts.late_webhooks, 'subscriptions are due and not sent to', isOn('webhooks')),
    ...late('mail', counts.late_mails, 'are due and not sent', isOn('mail')),
    ...late('mail', counts.faulty_mails, 'could not be sent yet', isOn('mail')),
  ];
}

/** What is sealed with a key that was taken out of the list too early. */
async function secrets({ db, keys }: Parts): Promise<Finding[]> {
  const lost = (await countSealedWebhooks(db)).filter(({ key_id }) => !keys.has(key_id));
  return lost.map(({ key_id, n }) => ({
    level: 'look',
    what: 'webhooks',
    says: `${n} subscriptions get nothing: SKERRY_SECRET_KEY lacks ${key_id}, which sealed their secrets`,
  }));
}

async function addresses({ db, clock }: Parts): Promise<Finding[]> {
  const pool = (await countPool(db, clock.now())).filter(({ family }) => family === 4);
  return pool.flatMap(({ region_id, free, held, resting, blocked }): Finding[] => {
    if (free >= LIMITS.ipv4PoolWarning) return [];
    // A pool that is small from the start would be looked at for ever.
    const all = free + held + resting + blocked;
    const level = free * FEW_SHARE < all ? 'look' : 'note';
    return [{ level, what: 'addresses', says: `${free} of ${all} free in ${region_id}` }];
  });
}

/** What hands have to do to dedicated machines; those of a suspended server run for free until they do. */
async function dedicated(service: Parts): Promise<Finding[]> {
  const what = 'dedicated';
  const waiting = Map.groupBy(await listDedicated(service), ({ toDo }) => toDo);
  return [...waiting].flatMap(([toDo, some]): Finding[] => {
    if (toDo === null) return [];
    const names = some.slice(0, MACHINES_SHOWN).map(({ name }) => name);
    const more = some.length > names.length ? ` and ${some.length - names.length} more` : '';
    const level = toDo === 'switch it off' || toDo === 'switch it on' ? 'look' : 'note';
    return [{ level, what, says: `${names.join(', ')}${more}: ${toDo}` }];
  });
}

function levers(counts: Counts, switches: readonly SwitchState[]): Finding[] {
  const off = switches.filter(({ on }) => !on);
  const turned = off.map(({ name, since, reason }): Finding => {
    const why = reason === null ? '' : ` (${reason})`;
    return {
      level: 'note',
      what: 'switch',
      says: `${name} is off${since ? ` since ${sessionTime(since)} UTC` : ''}${why}`,
    };
  });
  const note = (what: string, n: bigint, says: string): Finding[] =>
    n > 0n ? [{ level: 'note', what, says: `${n} ${says}` }] : [];
  return [
    ...turned,
    ...(off.some(({ name }) => name === 'mail') ? note('mail', counts.waiting_mails, 'wait') : []),
    ...note('servers', counts.frozen_servers, 'frozen'),
    ...note('servers', counts.held_servers, 'under a legal hold'),
    ...note('customers', counts.frozen_customers, 'frozen'),
    ...note('top-ups', counts.held_topups, 'with held payments'),
    ...note('top-ups', counts.unsent_topups, 'with a refund to be sent'),
  ];
}

async function rules(service: Parts): Promise<Finding[]> {
  const windows = (await listMaintenance(service)).map((row): Finding => {
    const until = `until ${sessionTime(row.ends_at)} UTC`;
    return {
      level: 'note',
      what: 'maintenance',
      says: `${row.operation ?? 'every operation'} is closed ${until}`,
    };
  });
  const policies = (await listPolicies(service)).length;
  const blocks: Finding[] =
    policies > 0 ? [{ level: 'note', what: 'policies', says: `${policies} in force` }] : [];
  return [...windows, ...blocks];
}
