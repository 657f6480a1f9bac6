/**
 * `npm run bench`: measures figures, mostly ratios to a baseline in the same run, on a temporary database.
 * Prints one line per figure with its limit and its goal; exits 1 if a figure misses its limit. These are not
 * tests: run them on an idle machine. `npm run bench -- benchReal` runs one bench, and exits 1 if this
 * machine cannot measure it.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchCli } from './cli.ts';
import { benchConsole } from './console.ts';
import { benchCustomerYear } from './customer-year.ts';
import { benchDeliver } from './deliver.ts';
import { benchClaim } from './deliver-claim.ts';
import { benchFanOutLatency } from './deliver-latency.ts';
import { benchDeploy } from './deploy.ts';
import { benchHosts } from './hosts.ts';
import { benchLists } from './lists.ts';
import { benchLive } from './live.ts';
import { benchLiveMemory } from './live-memory.ts';
import { benchLivePages } from './live-pages.ts';
import { benchOverload } from './overload.ts';
import { benchPaint } from './paint.ts';
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
// When root runs the benches, the database runs as another user, who must be able to enter this folder.
await chmod(folder, 0o755);
try {
  const benches = [
    benchStart,
    benchServe,
    benchDeploy,
    benchRest,
    benchOverload,
    benchUpload,
    benchHosts,
    benchLists,
    benchConsole,
    benchLive,
    benchLivePages,
    benchLiveMemory,
    benchRetain,
    benchRenew,
    benchCustomerYear,
    benchDeliver,
    benchClaim,
    benchFanOutLatency,
    benchPaint,
    benchPanel,
    benchPanelPictures,
    benchCli,
    benchReal,
    benchWatchedEvm,
    benchWatchedMonero,
    benchWatchedUtxo,
  ];
  const wanted = process.argv.slice(2);
  const passed = await runBenches(benches, wanted, folder, {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
  });
  process.exitCode = passed ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
