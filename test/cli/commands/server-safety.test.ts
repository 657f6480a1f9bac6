/**
 * Server commands that cost money or reveal a secret: they ask first, print the resource, and protect the
 * secret.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NO_RATES, PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { createFolder } from '../support/folder.ts';
import { type Cli, createCli } from '../support/run-cli.ts';
import { CTRL_C, runOnTerminal } from '../support/run-on-terminal.ts';

const ORDER = ['--plan', 's1', '--region', 'par', '--image', 'debian'];

describe('skerry server', FULL_ONLY, () => {
  let world: World;
  let cli: Cli;
  before(async () => {
    world = await startWorld(NO_RATES);
    const customer = await world.customer();
    await world.addBalance(customer, 20_000n);
    cli = createCli({ url: world.url, token: await createApiToken(customer, 'write') });
    await cli.json('ssh-key', 'create', '--name', 'laptop', '--public-key', PUBLIC_KEY);
    await cli.json('server', 'create', 'web-1', ...ORDER);
  });
  after(() => world.close());

  it('server console --open hides the URL and the token from other processes', async () => {
    const bin = createFolder();
    const seen = join(bin, 'seen');
    const script = [
      '#!/bin/sh',
      `stat -c %a "$1" > ${seen}.new`,
      `echo "$SKERRY_TOKEN|$*" >> ${seen}.new`,
      `cat "$1" >> ${seen}.new`,
      `mv ${seen}.new ${seen}\n`,
    ].join('\n');
    writeFileSync(join(bin, 'xdg-open'), script);
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':0' };
    const { code, stdout } = await cli.with({ env }, 'server', 'console', 'web-1', '--open');
    assert.equal(code, 0);
    const [mode, called = '', ...page] = readFileSync(seen, 'utf8').split('\n');
    assert.deepEqual([mode, /^\|\/.*console\.html$/.test(called)], ['600', true], called);
    assert.ok(page.join('\n').includes(`url=${stdout.trim().replaceAll('&', '&amp;')}`));
    assert.ok(!existsSync(called.slice(1)), 'the page is deleted');
  });

  it('server start asks before it charges another cycle for a server that was not renewed', async () => {
    await cli.json('server', 'create', 'month-1', ...ORDER, '--no-auto-renew');
    await world.advance(32 * 24 * 3_600);
    assert.equal((await cli.json('server', 'describe', 'month-1')).suspended_reason, 'not_renewed');
    const { code, stderr } = await cli('server', 'start', 'month-1');
    assert.equal(code, 11);
    assert.match(stderr, /charge \d+\.\d\d USD for another month of server month-1/);
    const [quote] = await cli.json('quote', '--start', 'month-1');
    assert.ok(stderr.includes(`charge ${quote.due_now_usd.toFixed(2)} USD`), stderr);
    const low = await cli('server', 'start', 'month-1', '--yes', '--max-price', '0.01');
    assert.deepEqual([low.code, /price usd \d+\.\d\d/.test(low.stderr)], [6, true], low.stderr);
    const price = String(quote.due_now_usd);
    const started = await cli.json('server', 'start', 'month-1', '--yes', '--max-price', price);
    assert.equal(started.status, 'running');
  });

  it('server set-backups shows the price, and asks before it charges', async () => {
    await world.opened.db.run('update plans set backup_percent = 20');
    const off = await cli.json('server', 'create', 'backup-1', ...ORDER);
    const { code, stderr } = await cli('server', 'set-backups', 'backup-1', '--daily');
    assert.equal(code, 11);
    assert.match(stderr, /turn on backups of server backup-1 .*: 1\.4\d USD are charged now, and 1\.47 USD/);
    const low = await cli('server', 'set-backups', 'backup-1', '--yes', '--max-price', '0.5');
    assert.deepEqual([low.code, /price usd \d+\.\d\d/.test(low.stderr)], [6, true], low.stderr);
    const on = await cli.json('server', 'set-backups', 'backup-1', '--yes');
    assert.deepEqual([on.enabled, on.price_usd_cycle, on.price_usd_now], [true, 1.47, 0]);
    const back = await cli.json('server', 'set-backups', 'backup-1', '--off');
    assert.equal(back.enabled, false);
    assert.equal((await cli.json('server', 'describe', 'backup-1')).price_usd_cycle, off.price_usd_cycle);
    const created = await cli.json('server', 'create', 'backup-2', ...ORDER, '--backups');
    assert.equal(created.price_usd_cycle, 8.82);
    await world.opened.db.run('update plans set backup_percent = 0');
  });

  it('server resize shows the price, asks, and waits until the server has its plan', async () => {
    const args = ['server', 'resize', 'web-1', '--plan', 's2'];
    const { code, stderr } = await cli(...args, '--restart');
    const [quote] = await cli.json('quote', '--resize', 'web-1', '--plan', 's2');
    assert.equal(code, 11);
    assert.match(
      stderr,
      /resize server web-1 \(srv_\w+\) from s1 to s2 and restart it: \d+\.\d\d USD are charged/,
    );
    assert.ok(stderr.includes(`${quote.due_now_usd.toFixed(2)} USD are charged now`), stderr);
    const running = await cli(...args, '--yes');
    assert.deepEqual([running.code, /set `restart` to true/.test(running.stderr)], [6, true], running.stderr);
    const low = await cli(...args, '--restart', '--yes', '--max-price', '0.01');
    assert.deepEqual([low.code, /Nothing was charged/.test(low.stderr)], [6, true], low.stderr);
    const resized = await cli.json(...args, '--restart', '--yes');
    assert.deepEqual([resized.plan, resized.status], ['s2', 'running']);
    await world.sandbox('faults', { driver: 'compute', operation: 'resize', times: 1 });
    const failed = await cli('server', 'resize', 'web-1', '--plan', 's3', '--restart', '--yes');
    assert.equal(failed.code, 10);
    assert.match(failed.stderr, /server\.resize failed \(host_failed\).* went back to your balance/);
    // It restarts with its previous plan.
    await world.settle();
    await cli.json('server', 'resize', 'web-1', '--plan', 's1', '--restart', '--yes');
  });

  it('server create --max-price creates nothing above the price', async () => {
    const [{ due_now_usd: price }] = await cli.json('quote', '--plan', 's1', '--billing-months', '1');
    const low = await cli('server', 'create', 'max-1', ...ORDER, '--max-price', String(price - 0.01));
    assert.deepEqual([low.code, /Nothing was charged/.test(low.stderr)], [6, true], low.stderr);
    assert.deepEqual(await cli.json('server', 'list', '--name', 'max-1'), []);
    const created = await cli.json('server', 'create', 'max-1', ...ORDER, '--max-price', String(price));
    assert.equal(created.price_usd_cycle, price);
    const [deletion] = await cli.json('quote', '--delete', 'max-1');
    assert.deepEqual([deletion.credit_usd, deletion.available], [0, true]);
  });

  it('server create prints the server when the wait times out', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    const words = ['server', 'create', 'late-1', ...ORDER, '--timeout', '1', '-o', 'json'];
    const { code, stdout, stderr } = await cli(...words);
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.settle();
    assert.deepEqual([code, JSON.parse(stdout).name, /still/.test(stderr)], [9, 'late-1', true]);
  });

  it('server create prints the server when it is interrupted, and the operation continues', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    const keys = [{ after: 'slow [', press: CTRL_C }];
    const { code, screen } = await runOnTerminal(
      { env: cli.env, keys },
      'server',
      'create',
      'slow',
      ...ORDER,
    );
    assert.equal(code, 130);
    assert.match(screen, /Id: +srv_/);
    assert.match(screen, /stopped waiting for slow; the operation continues/);
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.settle();
    assert.equal((await cli.json('server', 'describe', 'slow')).status, 'running');
  });
});
