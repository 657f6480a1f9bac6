/**
 * Keeps as many CI runners as the queue needs and the budget allows: `node runners.ts`. README.md lists the
 * settings. `--once` makes one pass; `--dry-run` makes one pass that only prints the steps.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Skerry } from '@skerry/sdk';
import { Demand } from './demand.ts';
import { HttpQueue } from './queue.ts';
import { reconcile } from './reconcile.ts';
import { readSettings } from './settings.ts';

const { values: flags } = parseArgs({
  options: {
    once: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
});
const settings = readSettings(process.env);
const once = flags.once || flags['dry-run'];
const stop = new AbortController();
// Finish the current step before exiting.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

const world = {
  settings,
  skerry: new Skerry({ baseUrl: settings.baseUrl, token: settings.token }),
  queue: new HttpQueue(settings.queueUrls, settings.queueHeaders),
  // A single pass has no history, so any demand counts.
  demand: new Demand(once ? 0 : settings.demandWindowMs),
  log: (line: string) => void process.stdout.write(`${new Date().toISOString()} ${line}\n`),
  signal: stop.signal,
};

while (!stop.signal.aborted) {
  try {
    await reconcile(world, { dryRun: flags['dry-run'] });
  } catch (error) {
    // Queue or service unreachable: nothing was changed, and the next pass retries.
    world.log(error instanceof Error ? error.message : String(error));
    if (once) process.exitCode = 1;
  }
  if (once) break;
  await sleep(settings.intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
}
