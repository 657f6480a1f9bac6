/** One pass: looks at what there is and at the queue, and does what is to be done. Safe to be killed at any point. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { isApiError, type Server, type Skerry } from '@skerry/sdk';
import type { Demand } from './demand.ts';
import { type Fleet, plan, RETIRED, type Step } from './plan.ts';
import type { JobQueue } from './queue.ts';
import type { Settings } from './settings.ts';

export interface World {
  readonly skerry: Skerry;
  readonly queue: JobQueue;
  readonly demand: Demand;
  readonly settings: Settings;
  readonly say: (line: string) => void;
  /** Aborted: the pass ends after the step under way. */
  readonly signal?: AbortSignal;
}

/** Orders for one name within this time are one order: that of a pass that was killed, too. */
const ORDER_WINDOW_MS = 10 * 60_000;
const DRAIN_MAX_MS = 60_000;

/** Gives the steps that were taken. */
export async function reconcile(world: World, { dryRun = false } = {}): Promise<Step[]> {
  const { settings, queue, demand, say, signal } = world;
  const [fleet, jobs] = await Promise.all([look(world), queue.length()]);
  const wanted = demand.note(Math.ceil(jobs / settings.jobsPerRunner));
  const steps = plan(fleet, wanted, settings);
  const taken: Step[] = [];
  for (const step of steps) {
    if (signal?.aborted) break;
    try {
      if (!dryRun) await take(world, fleet, step);
      taken.push(step);
      say(describe(step));
    } catch (error) {
      // The other steps have nothing to do with it; the next pass tries this one again.
      say(`${describe(step)}: ${reasonOf(error)}`);
    }
  }
  say(`${jobs} jobs, ${fleet.servers.length} runners, ${taken.length} of ${steps.length} steps`);
  return taken;
}

async function look({ skerry, settings }: World): Promise<Fleet> {
  const [servers, balance, sold] = await Promise.all([
    skerry.servers.list().all(),
    skerry.balance.get(),
    skerry.plans.get(settings.plan),
  ]);
  const cycle = sold.cycles.find(({ billing_months }) => billing_months === 1);
  if (!cycle) throw new Error(`the plan ${sold.id} is not sold by the month`);
  return {
    servers: servers.filter(({ labels }) => labels.role === 'runner' && labels.fleet === settings.fleet),
    // The service's own time: what is paid until then is paid by its clock, not by ours.
    nowMs: Date.parse(balance.as_of),
    balanceUsd: balance.usd,
    priceUsd: cycle.price_usd,
    available: sold.available_in.includes(settings.region),
  };
}

async function take(world: World, { nowMs }: Fleet, step: Step): Promise<void> {
  const { skerry } = world;
  switch (step.what) {
    case 'create':
      return await create(world, step.name, nowMs);
    case 'start':
      return void (await skerry.servers.start(step.server.id));
    case 'renew':
      return void (await skerry.servers.update(step.server.id, { auto_renew: true }));
    case 'not renew':
      return void (await skerry.servers.update(step.server.id, { auto_renew: false }));
    case 'retire':
      return await retire(world, step.server);
    case 'destroy':
      return void (await skerry.servers.delete(step.server.id));
  }
}

async function create({ skerry, settings }: World, name: string, nowMs: number): Promise<void> {
  const body = {
    name,
    plan: settings.plan,
    region: settings.region,
    image: settings.image,
    ssh_keys: [...settings.sshKeys],
    labels: { role: 'runner', fleet: settings.fleet },
    user_data_b64: settings.userData.toString('base64'),
    billing_months: 1 as const,
    auto_renew: false,
  };
  // Made from what is ordered, not by chance: a program that was killed and started again sends the same one. The window
  // lets a name be ordered anew later, when its server is gone.
  const window = Math.floor(nowMs / ORDER_WINDOW_MS);
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  await skerry.servers.create(body, { idempotencyKey: `${name}/${window}/${digest}` });
}

/** First it is not renewed, then it takes no more jobs, then it says so: killed in between, all of it is done again. */
async function retire({ skerry, settings }: World, server: Server): Promise<void> {
  if (server.auto_renew) await skerry.servers.update(server.id, { auto_renew: false });
  if (settings.drainCommand && server.status === 'running') {
    // Its own and no more: the tokens of this program are nothing to it.
    const { PATH, HOME, SSH_AUTH_SOCK } = process.env;
    const runner = { RUNNER_NAME: server.name, RUNNER_ADDRESS: server.ipv4?.address ?? '' };
    const env = { PATH, HOME, SSH_AUTH_SOCK, ...runner };
    await promisify(execFile)('sh', ['-c', settings.drainCommand], { env, timeout: DRAIN_MAX_MS });
  }
  await skerry.servers.update(server.id, { labels: { ...server.labels, [RETIRED]: 'yes' } });
}

function describe(step: Step): string {
  return step.what === 'create' ? `create ${step.name}` : `${step.what} ${step.server.name}`;
}

function reasonOf(error: unknown): string {
  if (isApiError(error)) return `${error.message} (${error.requestId})`;
  return error instanceof Error ? error.message : String(error);
}
