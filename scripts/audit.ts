/**
 * Asks the package registry for known vulnerabilities of the packages at run time: `node scripts/audit.ts`.
 * Fails on a high or critical one. A registry that does not answer is reported and fails nothing, because a
 * build must not depend on it.
 */
import { spawnSync } from 'node:child_process';

const FAILING: readonly string[] = ['high', 'critical'];
const TIMEOUT_MS = 60_000;

interface Report {
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
}

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=1'], {
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
  maxBuffer: 64 * 1024 ** 2,
});
const found = readReport(stdout ?? '').vulnerabilities;
if (found === undefined) {
  const reason = error === undefined ? 'it sent no report' : error.message;
  process.stdout.write(`Not audited: the package registry does not answer (${reason}).\n`);
} else {
  const all = Object.values(found);
  const failing = all.filter(({ severity }) => FAILING.includes(severity));
  for (const { name, severity, range } of all) process.stdout.write(`${severity}: ${name} ${range}\n`);
  process.stdout.write(`${all.length} vulnerable packages, ${failing.length} of them high or critical.\n`);
  if (failing.length > 0) process.exitCode = 1;
}

/** npm prints an object with an error instead of a report when the registry fails, or nothing. */
function readReport(text: string): Report {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return {};
  }
}
