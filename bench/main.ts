/**
 * `npm run bench`: figures as ratios in one run against something bare, on a database of its own. Prints a line each,
 * with what it is held to and the goal; ends with 1 when one is missed. Nothing here is a test: run it on an idle machine.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchDeliver } from './deliver.ts';
import { benchClaim } from './deliver-claim.ts';
import { benchFanOutLatency } from './deliver-latency.ts';
import { benchDeploy } from './deploy.ts';
import type { Figure } from './figure.ts';
import { benchLists } from './lists.ts';
import { benchLives } from './lives.ts';
import { benchPanel } from './panel.ts';
import { benchPanelPictures } from './panel-pictures.ts';
import { benchRenew } from './renew.ts';
import { benchRest } from './rest.ts';
import { benchRetain } from './retain.ts';
import { benchServe } from './serve.ts';
import { benchStart } from './start.ts';
import { benchUpload } from './upload.ts';

const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-'));
// Root's database runs as another user, who must be able to pass through.
await chmod(folder, 0o755);
let missed = 0;
try {
  for (const bench of [
    benchStart,
    benchServe,
    benchDeploy,
    benchRest,
    benchUpload,
    benchLists,
    benchRetain,
    benchRenew,
    benchLives,
    benchDeliver,
    benchClaim,
    benchFanOutLatency,
    benchPanel,
    benchPanelPictures,
  ]) {
    for (const figure of await bench(folder)) report(figure);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = missed > 0 ? 1 : 0;

function report(figure: Figure): void {
  const { value, heldTo, goal, bound } = figure;
  const within = (limit: number) => (bound === 'min' ? value >= limit : value <= limit);
  const verdict = within(goal) ? 'goal met' : within(heldTo) ? 'held' : 'MISSED';
  if (verdict === 'MISSED') missed += 1;
  const sign = bound === 'min' ? '≥' : '≤';
  process.stdout.write(
    `${figure.name.padEnd(58)} ${value.toFixed(2).padStart(9)} ${figure.unit.padEnd(3)} (${sign} ${heldTo}, goal ${sign} ${goal}) ${verdict}\n`,
  );
}
