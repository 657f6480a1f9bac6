/**
 * `npm run bench`: figures as ratios in one run against something bare, on a database of its own. Prints a line each,
 * with what it is held to and the goal; ends with 1 when one is missed. Nothing here is a test: run it on an idle machine.
 * `npm run bench -- benchReal` runs one, and ends with 1 where this machine lacks what it needs.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchCli } from './cli.ts';
import { benchCustomerYear } from './customer-year.ts';
import { benchDeliver } from './deliver.ts';
import { benchClaim } from './deliver-claim.ts';
import { benchFanOutLatency } from './deliver-latency.ts';
import { benchDeploy } from './deploy.ts';
import { benchLists } from './lists.ts';
import { benchPanel } from './panel.ts';
import { benchPanelPictures } from './panel-pictures.ts';
import { benchReal } from './real.ts';
import { benchRenew } from './renew.ts';
import { benchRest } from './rest.ts';
import { benchRetain } from './retain.ts';
import { runBenches } from './run.ts';
import { benchServe } from './serve.ts';
import { benchStart } from './start.ts';
import { benchUpload } from './upload.ts';
import { benchWatchedEvm } from './watched-evm.ts';
import { benchWatchedMonero } from './watched-monero.ts';
import { benchWatchedUtxo } from './watched-utxo.ts';

const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-'));
// Root's database runs as another user, who must be able to pass through.
await chmod(folder, 0o755);
try {
  const benches = [
    benchStart,
    benchServe,
    benchDeploy,
    benchRest,
    benchUpload,
    benchLists,
    benchRetain,
    benchRenew,
    benchCustomerYear,
    benchDeliver,
    benchClaim,
    benchFanOutLatency,
    benchPanel,
    benchPanelPictures,
    benchCli,
    benchReal,
    benchWatchedEvm,
    benchWatchedMonero,
    benchWatchedUtxo,
  ];
  const wanted = process.argv.slice(2);
  const isWell = await runBenches(benches, wanted, folder, {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
  });
  process.exitCode = isWell ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
