/** `skerry apply`: reads the file, compares it with the account, shows the plan, asks, and runs it. */
import { randomUUID } from 'node:crypto';
import type { Skerry } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { nullIf } from '../find.ts';
import { confirm } from '../terminal/terminal.ts';
import type { WaitFlags } from '../terminal/wait.ts';
import { type Actual, type FetchedAccount, fetchActual } from './actual.ts';
import type { Desired } from './desired.ts';
import { runPlan } from './execute/run.ts';
import type { ItemResult } from './execute/state.ts';
import { failOnFaults } from './faults.ts';
import { loadSources } from './file/load.ts';
import { readFiles } from './file/read.ts';
import { updateLabels, withDigest } from './labels.ts';
import { type Cost, calculateCost } from './plan/cost.ts';
import { compare } from './plan/diff.ts';
import { describeConsequences, formatPlan, formatResults, toPlanJson, toResultJson } from './plan/format.ts';
import { onlyWaits, type Plan } from './plan/plan.ts';

const TIMEOUT_S = 600;
const SECOND_MS = 1_000;

interface ApplyOptions extends WaitFlags {
  readonly file: readonly string[];
  readonly dryRun: boolean;
  readonly resize: boolean;
  readonly yes: boolean;
}

export async function apply(
  context: Context,
  { file, dryRun, resize, yes, ...waits }: ApplyOptions,
): Promise<void> {
  const { skerry, terminal, output, signal } = context;
  const { desired, faults } = readFiles(await loadSources(file, terminal));
  failOnFaults(faults);
  if (desired === null) return;
  const { plan, cost, actual } = await createPlan(skerry, desired, { signal, resize });
  const unready = findUnready(plan, actual);
  const isDone = plan.items.length === 0 && unready.size === 0;
  if (!dryRun) await updateFinishedLabels(skerry, actual, signal);
  if (isDone || dryRun) {
    output.text(formatPlan(plan, cost), toPlanJson(plan, cost));
    return;
  }
  requireSufficientBalance(plan, cost, context);
  const needsConfirmation = !(yes || onlyWaits(plan));
  // A program gets a single object at the end; a person must see the plan before confirming it.
  if (!output.isMachineReadable) output.text(`${formatPlan(plan, cost)}\n`, null);
  else if (needsConfirmation) terminal.warn(formatPlan(plan, cost));
  if (needsConfirmation) {
    await confirm(terminal, yes, describeConsequences(plan, cost));
    await requireUnchanged(plan, context, { desired, resize });
  }
  const results = await runPlan(plan, unready, {
    skerry,
    terminal,
    signal,
    actual,
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
  options: { readonly signal: AbortSignal; readonly resize: boolean },
): Promise<{ readonly plan: Plan; readonly cost: Cost; readonly actual: FetchedAccount }> {
  const [actual, balance] = await Promise.all([
    fetchActual(skerry, desired, options),
    // Null: the token may create servers, but not read the balance.
    nullIf('forbidden_scope', skerry.balance.get({ signal: options.signal })),
  ]);
  const { plan, faults } = compare(desired, actual);
  failOnFaults(faults);
  return { plan, cost: calculateCost(plan, desired, actual, balance?.usd ?? null), actual };
}

/** The confirmation is for the plan that was shown, which may be out of date by now. */
async function requireUnchanged(
  shown: Plan,
  { skerry, signal }: Context,
  { desired, resize }: { readonly desired: Desired; readonly resize: boolean },
): Promise<void> {
  const { plan } = await createPlan(skerry, desired, { signal, resize });
  const [before, now] = [shown, plan].map(({ items, ids }) =>
    JSON.stringify([items, Object.values(ids).map((known) => [...known])]),
  );
  if (before === now) return;
  throw new Failure(
    'conflict',
    'nothing was changed: the account has changed since the plan was shown; run the command again',
  );
}

/** IDs by name of the file's servers that exist and are still being installed. */
function findUnready({ ids }: Plan, { servers }: Actual): ReadonlyMap<string, string> {
  const busy = new Set(
    servers.filter(({ status }) => status === 'provisioning' || status === 'installing').map(({ id }) => id),
  );
  return new Map([...ids.server].filter(([, id]) => busy.has(id)));
}

/** Removes the marks of rebuilds that an earlier run did not wait for and that have finished since. */
async function updateFinishedLabels(
  skerry: Skerry,
  { finalDigests }: FetchedAccount,
  signal: AbortSignal,
): Promise<void> {
  for (const [id, digest] of finalDigests) {
    await updateLabels({ skerry, signal }, id, (now) => withDigest(now, digest));
  }
}

function requireSufficientBalance(plan: Plan, cost: Cost, { output, terminal }: Context): void {
  const after = cost.balance_after_usd;
  if (after === null || after >= 0 || cost.charged_usd === 0) return;
  if (output.isMachineReadable) terminal.warn(formatPlan(plan, cost));
  else output.text(`${formatPlan(plan, cost)}\n`, null);
  const shortfall = `insufficient balance, you're short by $${(-after).toFixed(2)}`;
  throw new Failure('refused', `nothing was changed: ${shortfall}; top up with \`skerry topup\``);
}

/** Completed steps stay; the exit code tells that others failed. */
function throwOnFailures(results: readonly ItemResult[], signal: AbortSignal): void {
  const failed = results.filter(({ status }) => status === 'failed' || status === 'skipped');
  if (signal.aborted) throw new Failure('interrupted', 'interrupted; run the command again to continue');
  if (failed.length === 0) return;
  const onlyTimeouts = failed.every(({ status, timedOut }) => timedOut || status === 'skipped');
  const rest = 'completed steps stay; run the command again to continue';
  throw new Failure(
    onlyTimeouts ? 'timeout' : 'failed',
    `${failed.length} of ${results.length} failed: ${rest}`,
  );
}
