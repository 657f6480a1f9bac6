/**
 * `npm run bench`: measures figures, mostly ratios to a baseline in the same run, on a temporary database.
 * Prints one line per figure with its limit and its goal; exits 1 if a figure misses its limit. These are not
 * tests: run them on an idle machine. `npm run bench -- benchReal` runs one bench, and exits 1 if this
 * machine cannot measure it.
 *
 *     npm run bench -- [bench…] [--rounds 5] [--json FILE] [--plot FILE.png] [--against FILE-or-REF]
 *
 * `--against` compares with a file of `--json`, or with `bench/baseline.json` of a Git revision.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchCli } from './cli.ts';
import { benchConsole } from './console.ts';
import { benchCustomerYear } from './customer-year.ts';
import { benchDeliver } from './deliver.ts';
import { benchClaim } from './deliver-claim.ts';
import { benchDeadReceiver } from './deliver-dead.ts';
import { benchFanOutLatency } from './deliver-latency.ts';
import { benchDeploy } from './deploy.ts';
import { benchFleetYear } from './fleet-year.ts';
import { benchGrowth } from './growth.ts';
import { benchHosts } from './hosts.ts';
import { benchLists } from './lists.ts';
import { benchLive } from './live.ts';
import { benchLiveMemory } from './live-memory.ts';
import { benchLivePages } from './live-pages.ts';
import { benchOrder } from './order.ts';
import { benchOverload } from './overload.ts';
import { benchPaint } from './paint.ts';
import { benchPanel } from './panel.ts';
import { benchPanelPictures } from './panel-pictures.ts';
import { plotReport } from './plot.ts';
import { benchProcesses } from './processes.ts';
import { benchReal } from './real.ts';
import { benchRenew } from './renew.ts';
import { compareReports, type Report } from './report.ts';
import { benchRest } from './rest.ts';
import { benchRetain } from './retain.ts';
import { runBenches } from './run.ts';
import { benchServe } from './serve.ts';
import { benchStart } from './start.ts';
import { benchSteady } from './steady.ts';
import { benchUpload } from './upload.ts';
import { benchWatchedEvm } from './watched-evm.ts';
import { benchWatchedMonero } from './watched-monero.ts';
import { benchWatchedUtxo } from './watched-utxo.ts';

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '1' },
    json: { type: 'string' },
    plot: { type: 'string' },
    against: { type: 'string' },
  },
});
const output = {
  out: (line: string) => void process.stdout.write(`${line}\n`),
  err: (line: string) => void process.stderr.write(`${line}\n`),
};
/** Read first: a mistyped name must not cost a run. */
const earlier = values.against === undefined ? null : readReport(values.against);
const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-'));
// When root runs the benches, the database runs as another user, who must be able to enter this folder.
await chmod(folder, 0o755);
try {
  const benches = [
    benchStart,
    benchServe,
    benchDeploy,
    benchOrder,
    benchRest,
    benchProcesses,
    benchOverload,
    benchSteady,
    benchUpload,
    benchHosts,
    benchLists,
    benchConsole,
    benchLive,
    benchLivePages,
    benchLiveMemory,
    benchRetain,
    benchGrowth,
    benchRenew,
    benchCustomerYear,
    benchFleetYear,
    benchDeliver,
    benchClaim,
    benchDeadReceiver,
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
  const rounds = Number(values.rounds);
  const { passed, figures } = await runBenches(benches, { wanted, rounds, folder }, output);
  const report: Report = { commit: git('rev-parse', 'HEAD').trim(), node: process.version, figures };
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
  if (values.plot !== undefined) await writeFile(values.plot, plotReport(report));
  if (earlier !== null) compareReports(report, earlier).forEach(output.out);
  process.exitCode = passed ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' });
}

function readReport(name: string): Report {
  const text = existsSync(name) ? readFileSync(name, 'utf8') : git('show', `${name}:bench/baseline.json`);
  return JSON.parse(text) as Report;
}
