import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseId } from '../../../src/kernel/ids.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { NO_RATES, PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { createFolder } from '../support/folder.ts';
import { type Cli, createCli } from '../support/run-cli.ts';
import { runOnTerminal } from '../support/run-on-terminal.ts';

const ORDER = ['--plan', 's1', '--region', 'par', '--image', 'debian'];
const WIDE_ENOUGH = 120;

let world: World;
let cli: Cli;
let api: V1Client;
let token: string;
before(async () => {
  world = await startWorld(NO_RATES);
  const customer = await world.customer();
  await world.addBalance(customer, 20_000n);
  token = await createApiToken(customer, 'write');
  cli = createCli({ url: world.url, token });
  api = V1Client.forUrl(world.url, token);
});
after(() => world.close());

const columns = async (...words: readonly string[]) => {
  const { code, stdout, stderr } = await cli(...words);
  assert.equal(code, 0, stderr);
  return stdout.split('\n').slice(1).join('\n').trim();
};

describe('skerry server in an empty account', () => {
  it('server list in an empty account prints only the headings', async () => {
    assert.deepEqual(await cli('server', 'list'), {
      code: 0,
      stdout: 'ID   NAME   STATUS   PLAN   REGION   IPV4   PAID UNTIL\n',
      stderr: '',
    });
  });

  it('server list -o json prints the API objects', async () => {
    assert.deepEqual(await cli.json('server', 'list'), []);
  });

  it('server create in an account without SSH keys explains how to add one', async () => {
    const { code, stderr } = await cli('server', 'create', 'web-1', ...ORDER);
    assert.equal(code, 2);
    assert.match(stderr, /no SSH key; add one with `skerry ssh-key create/);
  });
});

describe('skerry server', () => {
  let made: { readonly id: string; readonly ipv4: { readonly address: string } };
  before(async () => {
    assert.equal((await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).status, 201);
    const options = ['--tag', 'web,prod', '--label', 'env=prod', '--billing-months', '3', '--no-auto-renew'];
    const words = ['server', 'create', 'web-1', ...ORDER, ...options, '--user-data-file', '-', '-o', 'json'];
    const { code, stdout, stderr } = await cli.with({ input: '#cloud-config\n' }, ...words);
    assert.equal(code, 0, stderr);
    made = JSON.parse(stdout);
  });

  it('server create waits until the server is running, with the only key and the given options', () => {
    const { status, tags, labels, billing_months, auto_renew, ssh_keys } = made as never as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      { status, tags, labels, billing_months, auto_renew },
      {
        status: 'running',
        tags: ['web', 'prod'],
        labels: { env: 'prod' },
        billing_months: 3,
        auto_renew: false,
      },
    );
    assert.equal((ssh_keys as string[]).length, 1);
  });

  it('server create rejects user data of more than 64 KiB before it sends anything', async () => {
    const input = 'x'.repeat(64 * 1024 + 1);
    const words = ['server', 'create', 'web-2', ...ORDER, '--user-data-file', '-'];
    const { code, stderr } = await cli.with({ input }, ...words);
    assert.deepEqual(
      [code, stderr],
      [2, 'skerry: --user-data-file: - is larger than 64 KiB; nothing was sent\n'],
    );
  });

  it('server create reports the refund if the server could not be provisioned', FULL_ONLY, async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
    try {
      const { code, stdout, stderr } = await cli('server', 'create', 'doomed', ...ORDER);
      assert.equal(code, 10);
      assert.match(stdout, /^Id: +srv_/, 'the server is printed despite the failure');
      assert.match(
        stderr,
        /^skerry: doomed: server\.create failed \(\w+\)\. .*7\.35 went back to your balance\./,
      );
    } finally {
      await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
      await world.settle();
    }
  });

  it('server list omits the ID if the terminal is too narrow for ID and name', FULL_ONLY, async () => {
    const { env } = cli;
    const narrow = await runOnTerminal({ env }, 'server', 'list');
    assert.match(narrow.screen, /^NAME +STATUS +PLAN +REGION +IPV4 +PAID UNTIL\r\n/);
    assert.ok(narrow.screen.split('\r\n').every((line) => line.length <= 80));
    const wide = await runOnTerminal({ env, columns: WIDE_ENOUGH }, 'server', 'list');
    assert.match(wide.screen, /^ID +NAME/);
  });

  it('server update changes the given fields, and an empty value clears them', async () => {
    const words = ['--tag', '', '--label', 'a=b=c', '--auto-renew', 'true'];
    const chosen = ['-o', 'columns=name,tags,labels,auto_renew'];
    assert.equal(
      await columns('server', 'update', 'web-1', ...words, ...chosen),
      'web-1   -      a=b=c    yes',
    );
    const { code, stderr } = await cli('server', 'update', 'web-1');
    assert.deepEqual([code, /nothing to change; specify --name/.test(stderr)], [2, true]);
  });

  it('server update adds and removes single tags and labels and keeps the others', FULL_ONLY, async () => {
    await columns('server', 'update', 'web-1', '--tag', 'web,old', '--label', 'a=1', '--label', 'b=2');
    const words = ['--add-tag', 'new', '--remove-tag', 'old', '--add-label', 'c=3', '--remove-label', 'a'];
    const shown = await columns('server', 'update', 'web-1', ...words, '-o', 'columns=tags,labels');
    assert.equal(shown, 'web,new   b=2,c=3');
    const { code, stderr } = await cli('server', 'update', 'web-1', '--tag', 'x', '--add-tag', 'y');
    assert.deepEqual([code, /--tag replaces all/.test(stderr)], [2, true]);
  });

  it('server set-rdns sets and removes host names', FULL_ONLY, async () => {
    const chosen = ['-o', 'columns=ipv4_rdns,ipv6_rdns'];
    const set = ['--ipv4', 'web.example.org', '--ipv6', 'six.example.org'];
    assert.equal(
      await columns('server', 'set-rdns', made.id, ...set, ...chosen),
      'web.example.org   six.example.org',
    );
    assert.equal(
      await columns('server', 'set-rdns', made.id, '--ipv4', '', ...chosen),
      '-           six.example.org',
    );
  });

  it('server ssh runs the local ssh and exits with its exit code', async () => {
    const bin = createFolder();
    writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nfor word; do echo "$word"; done\ncat\nexit 7\n');
    chmodSync(join(bin, 'ssh'), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const words = [
      'server',
      'ssh',
      'web-1',
      '--user',
      'admin',
      '--port',
      '2222',
      '-i',
      'key',
      '--',
      'ls',
      '-l',
      'a b',
    ];
    assert.deepEqual(await cli.with({ env, input: 'typed\n' }, ...words), {
      code: 7,
      stdout: `-p\n2222\n-i\nkey\nadmin@${made.ipv4.address}\nls\n-l\na b\ntyped\n`,
      stderr: '',
    });
    const plain = await cli.with(
      { env },
      'server',
      'ssh',
      'web-1',
      '-i',
      'key',
      'ls',
      '-la',
      '-o',
      'x',
      '--help',
    );
    assert.equal(plain.stdout, `-i\nkey\nroot@${made.ipv4.address}\nls\n-la\n-o\nx\n--help\n`);
    const none = await cli.with({ env: { PATH: createFolder() } }, 'server', 'ssh', 'web-1');
    assert.match(none.stderr, /ssh not found on this computer; connect to root@/);
  });

  it('server reboot waits for its action', FULL_ONLY, async () => {
    assert.equal(await columns('server', 'reboot', 'web-1', '--hard', '-o', 'columns=status'), 'running');
    const { body } = await api.get(`/audit/events?filter[resource]=${made.id}&filter[action]=server.reboot`);
    assert.equal(body.data.length, 1);
  });

  it('server reboot polls if the event stream is unavailable', FULL_ONLY, async () => {
    const left = new AbortController();
    const headers = { authorization: `Bearer ${token}`, 'x-service-beta': 'true' };
    const open = () => fetch(`${world.url}/v1/events`, { headers, signal: left.signal });
    try {
      const streams = await Promise.all(Array.from({ length: LIMITS.eventStreamsPerCustomer }, open));
      assert.ok(streams.every(({ status }) => status === 200));
      const words = ['server', 'reboot', 'web-1', '--hard'];
      const { code, screen } = await runOnTerminal({ env: cli.env }, ...words);
      assert.equal(code, 0, screen);
      assert.match(screen, /web-1 \[#*\.*\] +\d+%/);
    } finally {
      left.abort();
    }
  });

  it('server metrics summarizes for people and prints the API object as JSON', FULL_ONLY, async () => {
    await world.advance(3 * 3_600);
    const { stdout } = await cli('server', 'metrics', 'web-1');
    assert.match(
      stdout,
      /^SERIES +NOW +AVERAGE +MAXIMUM\ncpu_pct +[\d.]+ % +[\d.]+ % +[\d.]+ %\nram_mb +\d+ MiB/,
    );
    const { series } = await cli.json('server', 'metrics', 'web-1');
    assert.deepEqual(series, (await api.get(`/servers/${made.id}/metrics`)).body.series);
  });

  it('server console prints only a URL', FULL_ONLY, async () => {
    const { code, stdout, stderr } = await cli('server', 'console', 'web-1');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${world.url}/console\\?path=\\S+\\n$`));
  });

  it('server rebuild and delete do nothing without a confirmation', FULL_ONLY, async () => {
    for (const verb of ['rebuild', 'delete']) {
      const { code, stderr } = await cli('server', verb, 'web-1');
      assert.equal(code, 11);
      assert.match(stderr, /all data on its disk/);
    }
    assert.equal((await api.get(`/servers/${made.id}`)).body.status, 'running');
  });

  it('server rebuild installs another image by its name', FULL_ONLY, async () => {
    const image = await columns(
      'server',
      'rebuild',
      'web-1',
      '--image',
      'alpine',
      '--yes',
      '-o',
      'columns=image',
    );
    const { body } = await api.get(`/images/${image}`);
    assert.equal(body.family, 'alpine');
  });

  it('server rescue prints the password once, also with --no-wait', FULL_ONLY, async () => {
    const { stdout, stderr } = await cli('server', 'rescue', 'web-1', '--no-wait', '-o', 'json');
    assert.equal(JSON.parse(stdout).rescue.username, 'root');
    assert.match(stderr, /shown only once/);
    await world.settle();
  });

  it('server stop, start, and restore end in the expected status', FULL_ONLY, async () => {
    assert.equal(await columns('server', 'stop', 'web-1', '-o', 'columns=status'), 'stopped');
    const stopped = await cli('server', 'ssh', 'web-1');
    assert.deepEqual([stopped.code, /`skerry server start web-1`/.test(stopped.stderr)], [6, true]);
    assert.equal(await columns('server', 'start', 'web-1', '-o', 'columns=status'), 'running');
    await api.post(`/servers/${made.id}/snapshots`, { name: 'before' });
    await world.settle();
    const words = ['restore', 'web-1', '--snapshot', 'before', '--yes', '-o', 'columns=status'];
    assert.equal(await columns('server', ...words), 'running');
  });

  it('server delete waits for the deletion and prints nothing for scripts', async () => {
    assert.deepEqual(await cli('server', 'delete', 'web-1', '--yes'), { code: 0, stdout: '', stderr: '' });
    assert.equal((await api.get(`/servers/${made.id}`)).status, 404);
  });

  it('server stop fails if the service gives up', FULL_ONLY, async () => {
    const { id } = await cli.json('server', 'create', 'lost', ...ORDER);
    await world.simulator.loseMachine(parseId('server', id) ?? '');
    const { code, stderr } = await cli('server', 'stop', 'lost');
    assert.deepEqual(
      [code, stderr],
      [
        10,
        'skerry: lost: server.stop failed (host_failed). The host could not complete it. ' +
          'Nothing was charged.\n',
      ],
    );
  });
});
