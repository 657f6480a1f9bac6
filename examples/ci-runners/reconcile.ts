/** One pass: looks at what there is and at the queue, and does what is to be done. Safe to be killed at any point. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { isApiError, type Server, type Skerry } from '@skerry/sdk';
import type { Demand } from './demand.ts';
import { type Fleet, planSteps, RETIRED, type Step } from './plan.ts';
import type { JobQueue } from './queue.ts';
import type { Settings } from './settings.ts';

export interface ReconcileContext {
  readonly skerry: Skerry;
  readonly queue: JobQueue;
  readonly demand: Demand;
  readonly settings: Settings;
  readonly log: (line: string) => void;
  /** Aborted: the pass ends after the step under way. */
  readonly signal?: AbortSignal;
}

/** Orders for one name within this time are one order: that of a pass that was killed, too. */
const ORDER_WINDOW_MS = 10 * 60_000;
const DRAIN_TIMEOUT_MS = 60_000;

/** Gives the steps that were taken. */
export async function reconcile(world: ReconcileContext, { dryRun = false } = {}): Promise<Step[]> {
  const { settings, queue, demand, log, signal } = world;
  const [fleet, jobs] = await Promise.all([readFleet(world), queue.length()]);
  const wanted = demand.record(Math.ceil(jobs / settings.jobsPerRunner));
  const steps = planSteps(fleet, wanted, settings);
  const done: Step[] = [];
  for (const step of steps) {
    if (signal?.aborted) break;
    try {
      if (!dryRun) await applyStep(world, fleet, step);
      done.push(step);
      log(describeStep(step));
    } catch (error) {
      // The other steps have nothing to do with it; the next pass tries this one again.
      log(`${describeStep(step)}: ${errorMessage(error)}`);
    }
  }
  log(`${jobs} jobs, ${fleet.servers.length} runners, ${done.length} of ${steps.length} steps`);
  return done;
}

async function readFleet({ skerry, settings }: ReconcileContext): Promise<Fleet> {
  const [servers, balance, soldPlan] = await Promise.all([
    skerry.servers.list().all(),
    skerry.balance.get(),
    skerry.plans.get(settings.plan),
  ]);
  const cycle = soldPlan.cycles.find(({ billing_months }) => billing_months === 1);
  if (!cycle) throw new Error(`the plan ${soldPlan.id} is not sold by the month`);
  return {
    servers: servers.filter(({ labels }) => labels.role === 'runner' && labels.fleet === settings.fleet),
    // The service's own time: what is paid until then is paid by its clock, not by ours.
    nowMs: Date.parse(balance.as_of),
    balanceUsd: balance.usd,
    priceUsd: cycle.price_usd,
    available: soldPlan.available_in.includes(settings.region),
  };
}

async function applyStep(world: ReconcileContext, { nowMs }: Fleet, step: Step): Promise<void> {
  const { skerry } = world;
  switch (step.action) {
    case 'create':
      return await createServer(world, step.name, nowMs);
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

async function createServer(
  { skerry, settings }: ReconcileContext,
  name: string,
  nowMs: number,
): Promise<void> {
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
  const timeWindow = Math.floor(nowMs / ORDER_WINDOW_MS);
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  await skerry.servers.create(body, { idempotencyKey: `${name}/${timeWindow}/${digest}` });
}

/** First it is not renewed, then it takes no more jobs, then it says so: killed in between, all of it is done again. */
async function retire({ skerry, settings }: ReconcileContext, server: Server): Promise<void> {
  if (server.auto_renew) await skerry.servers.update(server.id, { auto_renew: false });
  if (settings.drainCommand && server.status === 'running') {
    // Its own and no more: the tokens of this program are nothing to it.
    const { PATH, HOME, SSH_AUTH_SOCK } = process.env;
    const runner = { RUNNER_NAME: server.name, RUNNER_ADDRESS: server.ipv4?.address ?? '' };
    const env = { PATH, HOME, SSH_AUTH_SOCK, ...runner };
    await promisify(execFile)('sh', ['-c', settings.drainCommand], { env, timeout: DRAIN_TIMEOUT_MS });
  }
  await skerry.servers.update(server.id, { labels: { ...server.labels, [RETIRED]: 'yes' } });
}

function describeStep(step: Step): string {
  return step.action === 'create' ? `create ${step.name}` : `${step.action} ${step.server.name}`;
}

function errorMessage(error: unknown): string {
  if (isApiError(error)) return `${error.message} (${error.requestId})`;
  return error instanceof Error ? error.message : String(error);
}
