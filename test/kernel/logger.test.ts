import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { describeError, summarizeError } from '../../src/kernel/logger.ts';
import { runLineOnTerminal } from '../cli/support/run-on-terminal.ts';

const LOGGER = new URL('../../src/kernel/logger.ts', import.meta.url).href;
const FAULT_LOG = new URL('../../src/kernel/faults/fault-log.ts', import.meta.url).href;
const CANARY = 'canary-7f3a';

/** Returns the words of a process that runs `body` with a `log`. */
function logProgram(body: string, level: string): string[] {
  const source = `import { createLogger } from ${JSON.stringify(LOGGER)};
    const log = createLogger(${JSON.stringify(level)});
    const CANARY = ${JSON.stringify(CANARY)};
    ${body}`;
  return [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', source];
}

/** Runs `body` with a `log` in a process and returns its stderr. */
function captureLog(body: string, level = 'trace'): string {
  const [program = '', ...args] = logProgram(body, level);
  const run = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  assert.equal(run.stdout, '');
  return run.stderr;
}

/** Runs `body` with a `log` on a terminal and returns the lines of its screen. */
async function captureTerminal(body: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const words = logProgram(body, 'trace').map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const { screen } = await runLineOnTerminal({ env, columns: 200 }, words.join(' '));
  return screen.trimEnd().split('\r\n');
}

const NAMES = [
  ...['password', 'password_confirm', 'current_password', 'new_password', 'root_password', 'recovery_code'],
  ...['token', '_token', 'csrf', 'secret', 'email', 'cookie', 'authorization', 'ip', 'remoteAddress', 'key'],
];

const LOG_SECRETS = `
    for (const name of ${JSON.stringify(NAMES)}) {
      const secret = { [name]: CANARY };
      log.info(secret, 'bare');
      log.warn({ form: secret }, 'in a form');
      log.error({ req: { headers: secret } }, 'in the headers of a request');
      log.child(secret).info('bound to a child');
    }`;

test('a value under the name of a secret is never logged, at any depth of a line', () => {
  const text = captureLog(LOG_SECRETS);
  assert.equal(text.trimEnd().split('\n').length, NAMES.length * 4);
  assert.ok(!text.includes(CANARY), text);
  assert.match(text, /\[redacted\]/);
});

test('a log line is one JSON object with a UTC time and a message, and no host or process', () => {
  const lines = captureLog(`log.info({ orders: 3 }, 'two\\nlines'); log.debug('kept');`)
    .trimEnd()
    .split('\n');
  const [line = {}, ...others] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.equal(others.length, 1);
  assert.deepEqual(Object.keys(line).sort(), ['level', 'msg', 'orders', 'time']);
  assert.equal(line.msg, 'two\nlines');
  assert.match(String(line.time), /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
});

test('a log line on a terminal is one readable line with time, message, and fields', async () => {
  const lines = await captureTerminal(`log.info({ orders: 3 }, 'two\\nlines'); log.warn('careful');`, {
    NO_COLOR: '1',
  });
  const [first = '', second = ''] = lines;
  assert.match(first, /^\[\d{4}-\d{2}-\d{2}T[\d:.]+Z\] INFO: two lines \{"orders":3\}$/);
  assert.match(second, /\] WARN: careful$/);
});

test('log lines on a terminal have colors unless NO_COLOR is set', async () => {
  const isColored = async (env: Record<string, string>) =>
    (await captureTerminal(`log.info('hello');`, env)).join('').includes('\u001b[');
  assert.equal(await isColored({}), true);
  assert.equal(await isColored({ NO_COLOR: '1' }), false);
  assert.equal(await isColored({ TERM: 'dumb' }), false);
});

test('a value under the name of a secret is not shown on a terminal either', async () => {
  const lines = await captureTerminal(LOG_SECRETS);
  assert.equal(lines.length, NAMES.length * 4);
  assert.ok(!lines.join('\n').includes(CANARY), lines.join('\n'));
  assert.match(lines.join('\n'), /\[redacted\]/);
});

test('values that others chose do not control the terminal, and a stack keeps its lines', async () => {
  const hostile = 'a\\u001b[2J\\u009b2Jb\\u202ec\\r\\nd';
  const body = `log.info({ flat: '${hostile}', in: { list: ['${hostile}'] } }, '${hostile}');
    log.error({ err: new Error('${hostile}') }, 'fault');`;
  const lines = await captureTerminal(body, { NO_COLOR: '1' });
  assert.doesNotMatch(lines.join(''), /\p{C}/u);
  assert.match(
    lines[0] ?? '',
    /a \[2J 2Jb c d \{"flat":"a \[2J 2Jb c d","in":\{"list":\["a \[2J 2Jb c d"\]\}\}$/,
  );
  assert.ok(lines.filter((line) => /^\s+at /.test(line)).length > 1, lines.join('\n'));
});

test('a line on a terminal is written even if the process is killed at once', async () => {
  const lines = await captureTerminal(`log.error('the last word'); process.kill(process.pid, 'SIGKILL');`);
  assert.match(lines.join('\n'), /the last word/);
});

test('a repeated fault is shown on a terminal at growing intervals, with its count', async () => {
  const body = `
    const { logFault } = await import(${JSON.stringify(FAULT_LOG)});
    const err = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const startedAt = Math.ceil(performance.now()); // Whole milliseconds add up exactly.
    let nowMs = startedAt;
    performance.now = () => nowMs;
    for (; nowMs < startedAt + 60_000; nowMs += 100) logFault(log, 'warn', 'database is away', { err });`;
  const lines = (await captureTerminal(body, { NO_COLOR: '1' })).filter((line) => /WARN/.test(line));
  const counts = lines.map((line) => Number(/database is away \{"count":(\d+)\}$/.exec(line)?.[1] ?? 1));
  assert.deepEqual(counts, [1, 10, 50, 300]);
});

test('lines below the log level are not written', () => {
  const text = captureLog(`log.info('below'); log.warn('at it'); log.error('above');`, 'warn');
  assert.match(text, /at it.*\n.*above/);
  assert.doesNotMatch(text, /below/);
});

test('a line logged just before the process exits is written', () => {
  assert.match(captureLog(`log.error('the last word'); process.exit(0);`), /the last word/);
});

test('an error is logged without the properties that a database or an HTTP client adds', () => {
  const text = captureLog(`
    const cause = new Error('the cause says ' + CANARY);
    const error = Object.assign(new Error('duplicate key', { cause }), {
      code: '23505', detail: 'Key (email)=(' + CANARY + ') already exists.', where: CANARY,
      config: { headers: CANARY }, parameters: [CANARY], address: CANARY,
    });
    log.error({ err: error }, 'could not write');`);
  assert.ok(!text.includes(CANARY), text);
  assert.match(text, /"message":"duplicate key"/);
  assert.match(text, /"errorCode":"23505"/);
});

test('only the beginning of a long message is kept, in the stack as well', () => {
  const error = new Error(`${'a'.repeat(300)}${CANARY}\n    and on the next line ${CANARY}`);
  const described = JSON.stringify(describeError(error));
  assert.ok(!described.includes(CANARY), described);
  assert.match(described, /logger\.test\.ts/);
});

test('a thrown value that is not an error is logged as its type only', () => {
  assert.deepEqual(describeError(`text with ${CANARY}`), { type: 'string' });
  assert.deepEqual(describeError(null), { type: 'object' });
  assert.deepEqual(describeError(undefined), { type: 'undefined' });
});

test('a message is kept without its secrets and addresses', () => {
  const redacted = (message: string, code?: string) =>
    (describeError(Object.assign(new Error(message), code ? { code } : {})) as { message: string }).message;
  for (const [message, expected] of [
    [
      'no answer from http://rpc:hunter2@node:8332/wallet',
      'no answer from http://[redacted]@node:8332/wallet',
    ],
    ['GET https://rates.example/v1?key=abc&x=1 failed', 'GET https://rates.example/v1?[redacted] failed'],
    ['no mailbox for jane.doe@example.org.', 'no mailbox for [redacted]'],
    ['connect ECONNREFUSED 203.0.113.7:5432', 'connect ECONNREFUSED [redacted]:5432'],
    ['connect ETIMEDOUT 2001:db8::7:5432 at 12:30:45', 'connect ETIMEDOUT [redacted] at 12:30:45'],
    [`skerry_live_${'ab2'.repeat(17)}x is no token`, '[redacted] is no token'],
    ['unknown address bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'unknown address [redacted]'],
    ['GET https://eth.example/v3/0123456789abcdef0123456789abcdef', 'GET https://eth.example/v3/[redacted]'],
  ] as const) {
    assert.equal(redacted(message), expected);
  }
  const values = redacted('invalid input syntax for type inet: "not an address"', '22P02');
  assert.equal(values, 'invalid input syntax for type inet: "[redacted]"');
});

test('summarizeError returns one line without terminal control and text direction characters', () => {
  assert.equal(summarizeError(new Error('it\u001b[2J says\r\n\u202eno\u0000\u0007')), 'it [2J says no');
});

test('a message without secrets or addresses stays unchanged', () => {
  for (const message of [
    'duplicate key value violates unique constraint "topups_deposit_address_key"',
    'column "seen_at" does not exist',
    'Foo::bar took 1.5 s at 2030-01-31T12:00:00.000Z, block 840000, version 1.2.3',
    'a customer who @ answers: yes',
  ]) {
    assert.equal((describeError(new Error(message)) as { message: string }).message, message);
  }
});
