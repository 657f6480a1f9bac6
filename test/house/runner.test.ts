import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import report from '../../scripts/test-reporter.ts';
import { parseDatabaseUrl } from '../../scripts/test-server.ts';
import { FULL_ONLY } from '../support/runs.ts';

const file = join(process.cwd(), 'test/kernel/money.test.ts');
const location = { nesting: 0, testNumber: 1, file, entryFile: file, line: 7, column: 1 };

// The environment of this test run must not affect the output.
delete process.env.SKERRY_TEST_TIMES;

async function runReporter(...events: object[]): Promise<string> {
  const source = (async function* () {
    for (const event of events) yield event as TestEvent;
  })();
  let text = '';
  for await (const part of report(source)) text += part;
  return text;
}

const passEvent = (name: string, more: object = {}) => ({
  type: 'test:pass',
  data: { ...location, name, details: { duration_ms: 1 }, ...more },
});
const failEvent = (name: string, error: Error) => ({
  type: 'test:fail',
  data: { ...location, name, details: { duration_ms: 1, error } },
});
const stdoutEvent = (message: string) => ({ type: 'test:stdout', data: { file, entryFile: file, message } });

test('the report of passing tests contains only the summary', async () => {
  const counts = { type: 'test:diagnostic', data: { nesting: 0, message: 'tests 1', level: 'info' } };
  assert.equal(
    await runReporter(stdoutEvent('noise\n'), passEvent('a cent is a cent'), counts),
    'ℹ tests 1\n',
  );
});

test('the report of a failure has its location, its cause, and the output of its file', async () => {
  const text = await runReporter(
    stdoutEvent('seed 42\n'),
    failEvent('a cent is a cent', new Error('two cents')),
  );
  assert.match(text, /✖ a cent is a cent \(test\/kernel\/money\.test\.ts:7/);
  assert.match(text, /Error: two cents/);
  assert.match(text, /money\.test\.ts printed:\n {2}seed 42/);
});

test('a parent that fails only because of a child is not reported again', async () => {
  const error = Object.assign(new Error('1 subtest failed'), { failureType: 'subtestsFailed' });
  assert.doesNotMatch(await runReporter(failEvent('parent', error)), /parent/);
});

test('a skipped test is reported with its reason', async () => {
  const text = await runReporter(passEvent('boots a real guest', { skip: 'QEMU is not installed' }));
  assert.match(text, /skipped:\n.*boots a real guest.*: QEMU is not installed/);
});

test('an interrupted run reports running tests, failures not yet shown, and files not started', async () => {
  const [hanging, later] = ['test/a.test.ts', 'test/b.test.ts'].map((name) => join(process.cwd(), name));
  const event = (type: string, name: string, entryFile?: string, error?: Error) => {
    const data = { nesting: 0, name, type: 'test', line: 1, column: 1, details: { duration_ms: 1, error } };
    return { type: `test:${type}`, data: { ...data, ...(entryFile ? { entryFile, file: entryFile } : {}) } };
  };
  const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts'];
  const text = await runReporter(
    ...files.map((name) => event('enqueue', name)),
    ...files.slice(0, 2).map((name) => event('dequeue', name)),
    ...['short', 'endless'].map((name) => event('dequeue', name, hanging)),
    event('complete', 'short', hanging),
    event('dequeue', 'wrong', later),
    event('complete', 'wrong', later, new Error('two cents')),
    event('complete', 'test/b.test.ts'),
    { type: 'test:interrupted', data: { tests: files.map((name) => ({ name })) } },
  );
  assert.match(text, /^✖ stopped while running: test\/a\.test\.ts\n {4}in: endless\n✖ wrong \(test\/b\.test/);
  assert.match(text, /Error: two cents/);
  assert.match(text, /files not started: 1\n$/);
});

const FILE_HEADER = `import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { test } from 'node:test';
`;

/** Runs files with these contents through the test runner. They need no database. */
function runTestFiles(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-runner-'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, `${name}.test.ts`), `${FILE_HEADER}${text}`);
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    const line = ['scripts/test.ts', '--test-max', '1', '--file-max', '3', folder];
    return spawnSync(process.execPath, line, {
      env: { ...env, SKERRY_TEST_DATABASE_URL: 'postgres://nobody@localhost/nothing' },
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test(
  'a test that hangs fails by name, its leftovers do not block the run, and other tests are reported',
  FULL_ONLY,
  () => {
    const { status, stdout, stderr } = runTestFiles({
      hangs: `test('never resolves', () => {
  createServer().listen(0, '127.0.0.1');
  spawn('sleep', ['600']);
  return new Promise(() => {});
});
test('runs next', () => assert.fail('as expected'));\n`,
    });
    assert.equal(status, 1, stdout + stderr);
    assert.match(stdout, /✖ never resolves \(\S+hangs\.test\.ts.*\n.*timed out after 1000ms/);
    assert.match(stdout, /✖ runs next [^✖]*as expected/);
    assert.match(stdout, /ℹ tests 2\n/);
  },
);

test('a file that blocks is killed, and so is a leftover process that holds its output', FULL_ONLY, () => {
  const { status, stdout, stderr } = runTestFiles({
    // This blocks the thread, so the test's own timeout never fires.
    blocks: "test('blocks', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));\n",
    leaves: "test('leaves', () => spawn('sleep', ['600'], { stdio: 'inherit' }).unref());\n",
  });
  assert.equal(status, 1, stdout + stderr);
  assert.match(stdout, /✖ \S+blocks\.test\.ts .*\n {2}its process was killed by SIGKILL/);
  assert.match(stderr, /blocks\.test\.ts did not finish within 3 s; killing it/);
  assert.match(stderr, /a leftover process did not exit within 3 s; killing sleep/);
});

test('the test database URL names a host, or the folder of a Unix socket', () => {
  assert.deepEqual(parseDatabaseUrl('postgres://me:p%40ss@db.example:5433/scratch'), {
    host: 'db.example',
    port: 5433,
    user: 'me',
    database: 'scratch',
    password: 'p@ss',
  });
  assert.deepEqual(parseDatabaseUrl('postgresql://postgres@localhost/postgres?host=/tmp/pg'), {
    host: '/tmp/pg',
    port: 5432,
    user: 'postgres',
    database: 'postgres',
  });
});

test('an invalid test database URL is rejected without repeating its password', () => {
  for (const text of ['secret', 'mysql://me:secret@db/x']) {
    assert.throws(() => parseDatabaseUrl(text), {
      message: 'SKERRY_TEST_DATABASE_URL must have the form postgres://user@host:port/database.',
    });
  }
});
