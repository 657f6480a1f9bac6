/** `skerry apply`: reads, compares, shows, asks, acts. */
import { randomUUID } from 'node:crypto';
import { isApiError, type Skerry } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { confirm } from '../terminal/confirm.ts';
import type { WaitFlags } from '../terminal/wait.ts';
import { type Actual, type FetchedAccount, fetchActual } from './actual.ts';
import type { Desired } from './desired.ts';
import { updateLabels, withDigest } from './execute/labels.ts';
import { runPlan } from './execute/run.ts';
import type { ItemResult } from './execute/state.ts';
import { failOnFaults } from './faults.ts';
import { loadSources } from './file/load.ts';
import { readFiles } from './file/read.ts';
import { type Cost, calculateCost } from './plan/cost.ts';
import { compare } from './plan/diff.ts';
import { describeConsequences, formatPlan, toPlanJson } from './plan/format-plan.ts';
import { formatResults, toResultJson } from './plan/format-results.ts';
import { onlyWaits, type Plan } from './plan/plan.ts';

const TIMEOUT_S = 600;
const SECOND_MS = 1_000;

export interface ApplyOptions extends WaitFlags {
  readonly file: readonly string[];
  readonly dryRun: boolean;
  readonly yes: boolean;
}

export async function apply(context: Context, { file, dryRun, yes, ...waits }: ApplyOptions): Promise<void> {
  const { skerry, terminal, output, signal } = context;
  const { desired, faults } = readFiles(await loadSources(file, terminal));
  failOnFaults(faults);
  if (desired === null) return;
  const { plan, cost, actual } = await createPlan(skerry, desired, signal);
  const unready = findUnready(plan, actual);
  const isDone = plan.items.length === 0 && unready.size === 0;
  if (!dryRun) await updateFinishedLabels(skerry, actual, signal);
  if (isDone || dryRun) {
    output.text(formatPlan(plan, cost), toPlanJson(plan, cost));
    return;
  }
  requireSufficientBalance(plan, cost, context);
  const needsConfirmation = !(yes || onlyWaits(plan));
  // A program gets one object, at the end; whoever is asked has to see what about.
  if (!output.isMachineReadable) output.text(`${formatPlan(plan, cost)}\n`, null);
  else if (needsConfirmation) terminal.warn(formatPlan(plan, cost));
  if (needsConfirmation) {
    await confirm(terminal, yes, describeConsequences(plan, cost));
    await requireUnchanged(plan, context, desired);
  }
  const results = await runPlan(plan, unready, {
    ...{ skerry, terminal, signal, actual },
    nonce: randomUUID(),
    noWait: waits.noWait,
    timeoutMs: (waits.timeout ?? TIMEOUT_S) * SECOND_MS,
  });
  output.text(formatResults(results).join('\n'), {
    ...toPlanJson(plan, cost),
    results: results.map(toResultJson),
  });
  throwOnFailures(results, signal);
}

async function createPlan(
  skerry: Skerry,
  desired: Desired,
  signal: AbortSignal,
): Promise<{ readonly plan: Plan; readonly cost: Cost; readonly actual: FetchedAccount }> {
  const [actual, balanceUsd] = await Promise.all([
    fetchActual(skerry, desired, signal),
    getBalance(skerry, signal),
  ]);
  const { plan, faults } = compare(desired, actual);
  failOnFaults(faults);
  return { plan, cost: calculateCost(plan, desired, actual, balanceUsd), actual };
}

/** A yes is for what was shown, which may be an hour ago. */
async function requireUnchanged(shown: Plan, { skerry, signal }: Context, desired: Desired): Promise<void> {
  const { plan } = await createPlan(skerry, desired, signal);
  const [before, now] = [shown, plan].map(({ items, ids }) =>
    JSON.stringify([items, Object.values(ids).map((known) => [...known])]),
  );
  if (before === now) return;
  throw new Failure(
    'conflict',
    'nothing was done: the account has changed since the plan was shown; run it again',
  );
}

/** Id by name: servers of the file that are there, and are still being installed. */
function findUnready({ ids }: Plan, { servers }: Actual): ReadonlyMap<string, string> {
  const busy = new Set(
    servers.filter(({ status }) => status === 'provisioning' || status === 'installing').map(({ id }) => id),
  );
  return new Map([...ids.server].filter(([, id]) => busy.has(id)));
}

/** What a former run did not wait for has ended since: its mark goes. */
async function updateFinishedLabels(
  skerry: Skerry,
  { finalDigests }: FetchedAccount,
  signal: AbortSignal,
): Promise<void> {
  for (const [id, digest] of finalDigests) {
    await updateLabels({ skerry, signal }, id, (now) => withDigest(now, digest));
  }
}

/** Null: the token may order, but not look into the purse. */
async function getBalance(skerry: Skerry, signal: AbortSignal): Promise<number | null> {
  try {
    return (await skerry.balance.get({ signal })).usd;
  } catch (error) {
    if (isApiError(error, 'forbidden_scope')) return null;
    throw error;
  }
}

function requireSufficientBalance(plan: Plan, cost: Cost, { output, terminal }: Context): void {
  const after = cost.balance_after_usd;
  if (after === null || after >= 0 || cost.charged_usd === 0) return;
  if (output.isMachineReadable) terminal.warn(formatPlan(plan, cost));
  else output.text(`${formatPlan(plan, cost)}\n`, null);
  const missing = `USD ${(-after).toFixed(2)} are missing: see \`skerry topup\``;
  throw new Failure('refused', `nothing was done: the balance does not pay for all of it; ${missing}`);
}

/** What was done stays done; the exit says that it was not all. */
function throwOnFailures(results: readonly ItemResult[], signal: AbortSignal): void {
  const failed = results.filter(({ status }) => status === 'failed' || status === 'skipped');
  if (signal.aborted) throw new Failure('interrupted', 'stopped; run it again to do the rest');
  if (failed.length === 0) return;
  const onlyTimeouts = failed.every(({ status, timedOut }) => timedOut || status === 'skipped');
  const rest = 'what was done stays; run it again to do the rest';
  throw new Failure(
    onlyTimeouts ? 'timeout' : 'failed',
    `${failed.length} of ${results.length} failed: ${rest}`,
  );
}
