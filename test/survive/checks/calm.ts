/** Repairs everything, waits until no work is left, and compares the service with the model. */
import { setTimeout as pause } from 'node:timers/promises';
import { formatId } from '../../../src/kernel/ids.ts';
import { withTimeout } from '../../cli/support/with-timeout.ts';
import { postSandbox } from '../../support/answers.ts';
import type { Breaking } from '../faults/breaking.ts';
import { breaksHosts } from '../faults/names.ts';
import type { Model } from '../model/model.ts';
import type { World } from '../world/world.ts';
import type { Deliveries } from './deliveries.ts';
import { compareMachines } from './machines.ts';
import { compareMoney } from './money.ts';
import type { Problem } from './problem.ts';
import { compareResources, type ResourceFacts } from './resources.ts';
import { withTraces } from './trace.ts';
import { viewCustomer } from './view.ts';

const READY_WITHIN_MS = 120_000;
const REPAIRED_WITHIN_MS = 300_000;
const SETTLED_WITHIN_MS = 300_000;
/** One request may find that all sessions are half-open. */
const SERVED_WITHIN_MS = 30_000;
const SERVED_POLL_MS = 500;
const POLL_MS = 50;
const COINS = ['LTC', 'XMR', 'USDT'];
/** More than any coin requires, and than the chains still reorganize. */
const BLOCKS = 40;
/** Longer than the backoff of any work, and than all attempts of a delivery. */
const REST_S = 1_800;
const LAST_REST_S = 31 * 3_600;

export interface CalmFigures {
  calms: number;
  longestSettleMs: number;
  comparedResources: number;
  hosted: number;
}

interface Parts {
  readonly world: World;
  readonly model: Model;
  readonly breaking: Breaking;
  readonly deliveries: Deliveries;
  readonly figures: CalmFigures;
}

export async function calm(parts: Parts, isLast: boolean): Promise<Problem[]> {
  const { world, breaking, figures } = parts;
  await withTimeout(breaking.endAll(), 'the repair of every fault', REPAIRED_WITHIN_MS);
  await breaking.recovery.finish();
  const text = `not ready ${READY_WITHIN_MS / 1_000} s after every repair`;
  if (!(await isReady(world))) return [{ kind: 'stuck', text }, ...deaths(world), ...answers(world)];
  const settled = await settle(world, figures, isLast ? LAST_REST_S : REST_S);
  if (settled.length > 0) return [...settled, ...deaths(world), ...answers(world)];
  const problems = [
    ...(await compareCustomers(parts)),
    ...(await compareMachines(world, figures)),
    ...parts.deliveries.take(world.receiver.received),
    ...(await parts.deliveries.compare(world.db, webhooksOf(parts.model), isLast)),
    ...(await runVerify(world)),
    ...(await listWork(world)),
    ...deaths(world),
    ...answers(world),
  ];
  figures.calms += 1;
  return await withTraces(world, problems);
}

/** Waits until every process reads and writes again. */
async function isReady(world: World): Promise<boolean> {
  for (const until = performance.now() + READY_WITHIN_MS; performance.now() < until; await pause(POLL_MS))
    if (await world.processes.areReady()) return true;
  return false;
}

async function settle(world: World, figures: CalmFigures, restS: number): Promise<Problem[]> {
  const startedMs = performance.now();
  await world.untilDone(() => world.db.run('update sim.faults set remaining = 0 where remaining > 0'));
  const steps: readonly (readonly [name: string, body: object])[] = [
    ...COINS.map((coin) => ['blocks', { coin, count: BLOCKS }] as const),
    ['settle', {}],
    ['clock', { advance_s: restS }],
    ['settle', {}],
  ];
  for (const [name, body] of steps) {
    const { status, text } = await postUntilServed(world, name, body);
    if (status !== 200) return [{ kind: 'stuck', text: `/sandbox/${name}: ${status} ${text.slice(0, 500)}` }];
  }
  figures.longestSettleMs = Math.max(figures.longestSettleMs, Math.round(performance.now() - startedMs));
  return [];
}

/** A process that is ready may still have a session of the database that was restarted: it answers 503. */
async function postUntilServed(world: World, name: string, body: object) {
  for (const until = performance.now() + SERVED_WITHIN_MS; ; await pause(SERVED_POLL_MS)) {
    const url = await world.processes.url(0);
    const signal = AbortSignal.timeout(SETTLED_WITHIN_MS);
    const { status, text } = await postSandbox(url, name, body, signal).catch((error: Error) => ({
      status: 0,
      text: String(error.cause ?? error),
    }));
    if (status !== 503 || performance.now() > until) return { status, text };
  }
}

async function readFacts({ world, breaking }: Parts): Promise<ResourceFacts> {
  const lost = await world.db.rows<{ id: string }>(
    `select distinct data -> 'server' ->> 'id' as id from events where type = 'server.lost'`,
  );
  const attachments = await world.db.rows<{ id: string; status: string }>(
    `select distinct on (resource_id) resource_id as id, status from actions
      where command = 'volume.attach' order by resource_id, id desc`,
  );
  const refused = attachments.filter(({ status }) => status === 'error');
  return {
    lostServers: new Set(lost.map(({ id }) => id)),
    // Earlier orders have been compared.
    hostsFailed: [...breaking.takeRecent()].some(breaksHosts),
    refusedVolumes: new Set(refused.map(({ id }) => formatId('volume', id))),
  };
}

async function compareCustomers(parts: Parts): Promise<Problem[]> {
  const { world, model, figures } = parts;
  const deposits = await world.chains.deposits();
  const facts = await readFacts(parts);
  const problems: Problem[] = [];
  const addresses: string[] = [];
  for (const customer of model.customers) {
    if (customer.token === '') continue;
    const view = await viewCustomer(world.asker, customer);
    problems.push(...compareResources(customer, view, facts), ...compareMoney(customer, view, deposits));
    addresses.push(...view.servers.flatMap(({ ipv4 }) => (ipv4 === null ? [] : [ipv4.address])));
    figures.comparedResources += view.servers.length + view.volumes.length + view.ledger.length;
  }
  const repeated = addresses.length - new Set(addresses).size;
  if (repeated > 0) problems.push({ kind: 'doubled', text: `${repeated} addresses are assigned twice` });
  return problems;
}

const webhooksOf = ({ customers }: Model): string[] =>
  customers.flatMap(({ webhookId }) => (webhookId === '' ? [] : [webhookId]));

async function runVerify(world: World): Promise<Problem[]> {
  const { code, stdout, stderr } = await world.command('verify');
  return code === 0 ? [] : [{ kind: 'verify', text: `${stdout}${stderr}`.slice(-2_000) }];
}

async function listWork(world: World): Promise<Problem[]> {
  const { code, stdout, stderr } = await world.command('work', 'list', '-o', 'json');
  if (code !== 0) return [{ kind: 'stuck', text: `work list: ${stdout}${stderr}`.slice(-500) }];
  const listed: unknown = JSON.parse(stdout);
  const isEmpty = Array.isArray(listed) ? listed.length === 0 : !/"id"/.test(stdout);
  return isEmpty ? [] : [{ kind: 'stuck', text: `work list: ${stdout.slice(0, 1_000)}` }];
}

function deaths(world: World): Problem[] {
  return [...world.processes.all, world.host.process].flatMap(({ deaths }) =>
    deaths.splice(0).map(({ code, signal, stderr }) => ({
      kind: 'died' as const,
      text: `a process ended on its own: ${code ?? signal} ${stderr.slice(-1_500)}`,
    })),
  );
}

function answers({ asker }: World): Problem[] {
  return [
    ...asker.unexpected.splice(0).map((text) => ({ kind: 'unexpected' as const, text })),
    ...asker.undecided.splice(0).map((text) => ({ kind: 'stuck' as const, text: `no answer to ${text}` })),
  ];
}
