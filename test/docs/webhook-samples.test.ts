/** The webhooks guide matches its sample files and the event table, and its samples work. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { verify } from '../../docs/samples/webhooks/receive.ts';
import { EVENTS } from '../../src/spec/events.ts';
import { FULL_ONLY } from '../support/runs.ts';
import {
  PROGRAM_LIMITS,
  SAMPLES_FOLDER,
  type SampleReceiver,
  SECRET,
  sampleDeliveries,
  sign,
  skipWithout,
  startReceiver,
} from './sample-receivers.ts';

const GUIDE = readFileSync(new URL('../../docs/customers/webhooks.md', import.meta.url), 'utf8');
const readSample = (path: string) => readFileSync(join(SAMPLES_FOLDER, path), 'utf8');

describe('the webhooks guide', () => {
  it('shows the sample files unchanged', () => {
    for (const [language, path] of [
      ['ts', 'webhooks/receive.ts'],
      ['ts', 'webhooks/receive-sdk.ts'],
      ['python', 'webhooks/receive.py'],
      ['go', 'webhooks/receive.go'],
      ['sh', 'webhooks/verify.sh'],
      ['ts', 'events/follow.ts'],
    ] as const) {
      assert.ok(
        GUIDE.includes(`\`\`\`${language}\n${readSample(path)}\`\`\`\n`),
        `${path} differs from the guide`,
      );
    }
  });

  it('lists every event with the name of its object', () => {
    const rows = [...GUIDE.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| `([a-z_]+)` \|/gm)].map(([, type, key]) => [
      type,
      key,
    ]);
    assert.deepEqual(
      rows,
      Object.entries(EVENTS).map(([type, { key }]) => [type, key]),
    );
  });
});

/** Computed with openssl. Do not change any byte. */
const GOLDEN = {
  secret: 'whsec_2vj3kq5x7m4n6p8r2t4v6x8z2b4d6f8h2k4m6p8r2t4v6x8z2b4d',
  t: 1_769_860_800,
  body:
    '{"id":"evt_aaaqk3m7qzb5x2l6v4t7n8wyja","object":"event","type":"ping",' +
    '"created_at":"2026-01-31T12:00:00Z","data":{"webhook":{"note":"✓ é"}}}',
  v1: 'ebec99da3fbfd592991270537a35ac92b32fa04bd6a0d4e3202b99cbdbb68569',
};

describe('a signature computed with openssl', () => {
  const header = `t=${GOLDEN.t},v1=${GOLDEN.v1}`;
  const body = Buffer.from(GOLDEN.body);

  it('equals the signature of the tests', () => {
    assert.equal(sign(GOLDEN.secret, GOLDEN.t, body), GOLDEN.v1);
  });
  it('is valid in TypeScript for 300 seconds before and after its time', () => {
    for (const [offsetMs, genuine] of [
      [0, true],
      [300_999, true],
      [301_000, false],
      [-300_000, true],
      [-300_001, false],
    ] as const) {
      assert.equal(
        verify(GOLDEN.secret, header, body, GOLDEN.t * 1_000 + offsetMs),
        genuine,
        String(offsetMs),
      );
    }
  });
  it('is valid in Python for 300 seconds before and after its time', {
    skip: skipWithout('python3', '--version'),
  }, () => {
    const code = `import json, sys
sys.path.insert(0, sys.argv[1])
from receive import verify
g = json.load(sys.stdin)
print([verify(g["secret"], sys.argv[2], g["body"].encode(), g["t"] + s) for s in (0, 300, 301, -300, -301)])`;
    const args = ['-B', '-c', code, join(SAMPLES_FOLDER, 'webhooks'), header];
    const { stdout, stderr } = spawnSync('python3', args, {
      input: JSON.stringify(GOLDEN),
      ...PROGRAM_LIMITS,
    });
    assert.equal(stdout.toString(), '[True, True, False, True, False]\n', stderr.toString());
  });
  it('is valid in the shell for 300 seconds before and after its time', {
    skip: skipWithout('openssl', 'version'),
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skerry-clock-'));
    try {
      for (const [offsetS, genuine] of [
        [300, true],
        [301, false],
        [-300, true],
        [-301, false],
      ] as const) {
        writeFileSync(join(folder, 'date'), `#!/bin/sh\necho ${GOLDEN.t + offsetS}\n`);
        chmodSync(join(folder, 'date'), 0o755);
        const env = { PATH: `${folder}:${process.env.PATH}`, WEBHOOK_SECRET: GOLDEN.secret };
        assert.equal(await verifyWithShell(env, header, GOLDEN.body), genuine, String(offsetS));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function verifyWithShell(env: Record<string, string>, header: string, body: string): Promise<boolean> {
  const child = spawn('sh', [join(SAMPLES_FOLDER, 'webhooks/verify.sh'), header], {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...PROGRAM_LIMITS,
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // The script does not read its input if it rejects the header.
  child.stdin.on('error', () => undefined).end(body);
  const [code] = await once(child, 'exit');
  assert.equal(stderr, '');
  return code === 0;
}

const RESPONSE_TIMEOUT_MS = 30_000;
const skipGo = skipWithout('go', 'version');
const RECEIVERS = [
  {
    language: 'TypeScript',
    skip: false,
    command: () => [process.execPath, join(SAMPLES_FOLDER, 'webhooks/receive.ts')],
  },
  {
    language: 'TypeScript with the SDK',
    skip: false,
    command: () => [process.execPath, join(SAMPLES_FOLDER, 'webhooks/receive-sdk.ts')],
  },
  {
    language: 'Python',
    skip: skipWithout('python3', '--version'),
    command: () => ['python3', join(SAMPLES_FOLDER, 'webhooks/receive.py')],
  },
  // Compilation takes longer than all other receivers together.
  {
    language: 'Go',
    skip: skipGo || FULL_ONLY.skip,
    command: compileGoReceiver,
  },
] as const;

const buildFolder = mkdtempSync(join(tmpdir(), 'skerry-go-'));
after(() => rmSync(buildFolder, { recursive: true, force: true }));

function compileGoReceiver(): string[] {
  const program = join(buildFolder, 'receive');
  cpSync(join(SAMPLES_FOLDER, 'webhooks/receive.go'), join(buildFolder, 'receive.go'));
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOFLAGS: '',
    GOCACHE: join(buildFolder, 'cache'),
    GOPATH: buildFolder,
  };
  const compilation = spawnSync('go', ['build', '-o', program, 'receive.go'], {
    cwd: buildFolder,
    env,
    ...PROGRAM_LIMITS,
  });
  assert.equal(compilation.status, 0, compilation.stderr.toString());
  return [program];
}

for (const { language, skip, command } of RECEIVERS) {
  it(`the receiver in ${language} accepts each genuine event once and rejects all others`, {
    skip,
  }, async () => {
    const receiver: SampleReceiver = await startReceiver(command(), { WEBHOOK_SECRET: SECRET });
    const post = (init: RequestInit) =>
      fetch(receiver.url, { method: 'POST', signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS), ...init });
    try {
      for (const { name, header, body, genuine } of sampleDeliveries()) {
        const headers = { 'content-type': 'application/json', 'x-service-signature': header };
        const response = await post({ body, headers });
        assert.equal(response.status, genuine ? 204 : 400, name);
      }
      const unsigned = await post({ body: '{}' });
      assert.equal(unsigned.status, 400);
      assert.deepEqual(receiver.eventLines(), ['evt_1 server.running', 'evt_2 server.running']);
    } finally {
      await receiver.stop();
    }
  });
}

it('the shell script accepts genuine deliveries and rejects all others', {
  skip: skipWithout('openssl', 'version'),
}, async () => {
  const env = { PATH: process.env.PATH ?? '', WEBHOOK_SECRET: SECRET };
  const verdicts = await Promise.all(
    sampleDeliveries().map(async ({ name, header, body, genuine }) => [
      name,
      await verifyWithShell(env, header, body),
      genuine,
    ]),
  );
  for (const [name, verdict, genuine] of verdicts) assert.equal(verdict, genuine, String(name));
});
