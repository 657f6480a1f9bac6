/** One pass: reads fleet and queue, then takes the necessary steps. It can be killed at any point. */
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
  /** When aborted, the pass ends after the current step. */
  readonly signal?: AbortSignal;
}

/** Orders for the same name within this window are one order, also after a killed pass. */
const ORDER_WINDOW_MS = 10 * 60_000;
const DRAIN_TIMEOUT_MS = 60_000;

/** Returns the completed steps. */
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
      // Continue with the other steps; the next pass retries this one.
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
  if (!cycle) throw new Error(`plan ${soldPlan.id} has no monthly cycle`);
  return {
    servers: servers.filter(({ labels }) => labels.role === 'runner' && labels.fleet === settings.fleet),
    // Use the service's clock, because cycles end by it.
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
  // Derive the key from the order, so that a restarted program sends the same one. The window allows the name
  // to be ordered again later, when its server is gone.
  const timeWindow = Math.floor(nowMs / ORDER_WINDOW_MS);
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  await skerry.servers.create(body, { idempotencyKey: `${name}/${timeWindow}/${digest}` });
}

/** Turns renewal off, drains the runner, then sets the label. After a kill, all steps run again. */
async function retire({ skerry, settings }: ReconcileContext, server: Server): Promise<void> {
  if (server.auto_renew) await skerry.servers.update(server.id, { auto_renew: false });
  if (settings.drainCommand && server.status === 'running') {
    // Pass only what the command needs, not the tokens of this program.
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
