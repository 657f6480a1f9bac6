import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { seedSandbox } from '../../src/domain/catalogue/load.ts';
import { runOperator } from '../../src/operator/run.ts';
import { readBalance } from '../../src/store/ledger/ledger.ts';
import { insertTestCustomer } from '../domain/fixture.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let operator: OperatorFixture;
let customerId: string;
before(async () => {
  operator = await openOperatorFixture();
  await seedSandbox(operator.backend.service, operator.backend.register);
  customerId = await insertTestCustomer(operator.backend.db, 'Ann@example.org');
});
after(() => operator.backend.close());

/** Runs a command that must succeed and returns its standard output. */
async function ok(...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.deepEqual([result.code, result.err], [0, '']);
  return result.out;
}

/** Runs a command that must fail with this code and returns its one line of standard error. */
async function fails(code: 1 | 2, ...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.equal(result.code, code, result.err);
  assert.match(result.err, /^skerryd: [^\n]+$/);
  return result.err;
}

/** Returns the audit actions recorded after the first `before`. */
async function auditedSince(before: number): Promise<string[]> {
  return (await operator.backend.auditedActions()).slice(before);
}

describe('incorrect usage', () => {
  it('any incorrect usage exits 2 with one line', async () => {
    await fails(2, 'hosts', 'add', 'h1');
    await fails(2, 'hosts', 'add', 'h1', '--region', 'par', '--cpu', 'x', '--ram-mb', '1', '--disk-gb', '1');
    await fails(2, 'hosts', 'drain');
    await fails(2, 'verify', '--loud');
    await fails(2, 'verify', 'twice');
    await fails(2, 'switch', 'topup-credt', 'on');
    await fails(2, 'switch', 'topup-credit', 'maybe');
    await fails(2, 'credit', 'ann@example.org', '5');
    assert.match(await fails(2, 'verfy'), /Did you mean verify/);
  });

  it('--help exits 0 and lists every command', async () => {
    const said = await operator.run(['--help']);
    assert.equal(said.code, 0);
    for (const verb of [
      'migrate',
      'catalogue',
      'hosts',
      'machines',
      'ips',
      'credit',
      'switch',
      'verify',
      'config',
    ]) {
      assert.match(said.out, new RegExp(`^ {2}${verb}\\b`, 'm'));
    }
    assert.equal((await operator.run(['hosts', 'add', '--help'])).code, 0);
  });
});

describe('--version', () => {
  it('--version prints the version of package.json', async () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { code, out, err } = await operator.run(['--version']);
    assert.deepEqual([code, out, err], [0, JSON.parse(manifest).version, '']);
  });

  it('every help description is a sentence fragment that starts with a capital letter', async () => {
    const descriptions: string[] = [];
    async function collect(words: readonly string[]): Promise<void> {
      const { out } = await operator.run([...words, '--help']);
      for (const [, text = ''] of out.matchAll(/^ {2}\S.*? {2,}(\S.*)$/gm)) descriptions.push(text);
      const [, list = ''] = out.split('Commands:');
      for (const [, name = ''] of list.matchAll(/^ {2}([a-z-]+)/gm)) {
        if (name !== 'help') await collect([...words, name]);
      }
    }
    await collect([]);
    assert.ok(descriptions.length > 100, `${descriptions.length} descriptions`);
    const wrong = descriptions.filter((text) => /\.$/.test(text) || !/^([A-Z(]|srv_|whk_|qcow2)/.test(text));
    assert.deepEqual(wrong, []);
  });
});

describe('commands added by the composition root', () => {
  it('a command of the composition root runs like any other', async () => {
    let served = false;
    const resources = {
      settings: () => [],
      database: async () => assert.fail('opened'),
      service: async () => assert.fail('opened'),
    };
    const terminal = { out: () => undefined, err: () => undefined, ask: null };
    const code = await runOperator(
      ['serve'],
      resources,
      (program) => {
        program.command('serve').action(() => {
          served = true;
        });
      },
      terminal,
    );
    assert.deepEqual([code, served], [0, true]);
  });
});

describe('config', () => {
  it('config prints the settings without opening the database', async () => {
    assert.match(
      await ok('config'),
      /^setting +value +source .*\nSKERRY_PORT +8080 +default +port to listen on$/,
    );
  });
});

describe('migrate', () => {
  it('migrate reports an up-to-date database', async () => {
    assert.equal(await ok('migrate'), 'the database is up to date');
  });
});

describe('verify', () => {
  it('verify prints each invariant with its count', async () => {
    const out = await ok('verify');
    assert.match(out, /^ +checked +invariant +description\nOK /);
    assert.match(out, /\nOK +16 +no host is overcommitted /);
    assert.match(out, /(\d+) of \1 invariants hold$/);
  });

  it('verify names a broken invariant and exits 1', async () => {
    await operator.backend.db.run(`update hosts set used_ram_mb = 1 where name in ('par-1', 'zrh-1')`);
    const said = await operator.run(['verify']);
    assert.equal(said.code, 1);
    assert.match(said.out, /\nBROKEN +16 +host usage matches servers and volumes/);
    assert.match(
      said.err,
      /^skerryd: BROKEN host usage matches servers and volumes: 2 rows: [0-9a-f-]{36} [0-9a-f-]{36}$/,
    );
    await operator.backend.db.run('update hosts set used_ram_mb = 0');
  });
});

describe('the inventory', () => {
  it('hosts, machines, and address blocks can be added', async () => {
    const size = ['--cpu', '8', '--ram-mb', '4096', '--disk-gb', '100'];
    assert.equal(
      await ok('hosts', 'add', 'h1', '--region', 'par', ...size),
      'host h1 accepts servers in par',
    );
    assert.match(await fails(1, 'hosts', 'add', 'h1', '--region', 'par', ...size), /named h1 already exists/);
    assert.match(await ok('hosts', 'list'), /\nh1 +par +not seen +8 +0\/4096 +0\/100 +0\n/);
    assert.equal(
      await ok('machines', 'add', 'm1', 'm2', '--region', 'buh', '--plan', 'r3'),
      '2 machines added: plan r3 in buh',
    );
    assert.match(await ok('machines', 'list'), /\nbuh +r3 +2 +2\n/);
    assert.equal(
      await ok('ips', 'add', '--region', 'par', '--block', '203.0.113.0/29'),
      '5 addresses added to par',
    );
    assert.equal(
      await ok('ips', 'add', '--region', 'par', '--block', '2001:db8:f::/64'),
      '1 /64 added to par',
    );
  });

  it('a host can grow but never shrink below the usage of its servers', async () => {
    const { db } = operator.backend;
    assert.equal(
      await ok('hosts', 'resize', 'h1', '--disk-gb', '200'),
      'host h1 has 8 cores, 4096 MiB and 200 GiB for servers',
    );
    await db.run("update hosts set used_disk_gb = 150 where name = 'h1'");
    assert.match(
      await fails(1, 'hosts', 'resize', 'h1', '--disk-gb', '149'),
      /^skerryd: the servers on h1 use 150 GiB/,
    );
    await db.run("update hosts set used_disk_gb = 0 where name = 'h1'");
    assert.match(await fails(1, 'hosts', 'resize', 'h1'), /pass at least one of --cpu/);
    assert.match(await fails(1, 'hosts', 'resize', 'h2', '--cpu', '1'), /host h2 not found/);
  });

  it('draining a host reports whether anything changed', async () => {
    assert.equal(await ok('hosts', 'drain', 'h1'), 'host h1 is drained and accepts no new servers');
    assert.match(await ok('hosts', 'drain', 'h1'), /\(unchanged\)$/);
    assert.equal(await ok('hosts', 'undrain', 'h1'), 'host h1 accepts servers');
  });

  it('addresses can be blocked and unblocked', async () => {
    assert.equal(await ok('ips', 'block', '203.0.113.0/29'), '5 addresses blocked');
    assert.match(await ok('ips', 'list'), /\npar +IPv4 +509 +0 +0 +5\n/);
    assert.equal(await ok('ips', 'unblock', '203.0.113.2'), '1 address unblocked');
    const shown = await ok('ips', 'show', '203.0.113.2', '--at', '2026-12-01T22:00:00Z');
    assert.match(shown, /^state +free$/m);
    assert.match(await fails(2, 'ips', 'show', '203.0.113.2', '--at', 'noon'), /RFC 3339/);
    assert.match(await fails(1, 'ips', 'block', '10.0.0.1'), /no address in 10\.0\.0\.1 is in the pool/);
  });
});

describe('credit', () => {
  it('credit adds the amount on every call and ignores the case of the email address', async () => {
    const before = (await operator.backend.auditedActions()).length;
    await ok('credit', 'ann@example.org', '25.50', '--reason', 'For the trouble');
    assert.equal(
      await ok('credit', 'ANN@example.org', '25.5', '--reason', 'For the trouble'),
      'credited 25.50 USD; the balance is 51.00 USD',
    );
    assert.equal(await readBalance(operator.backend.db, customerId), 5_100n);
    assert.deepEqual(await auditedSince(before), ['customer.credit', 'customer.credit']);
  });

  it('credit rejects an invalid amount, an unknown customer, and an empty reason', async () => {
    for (const amount of ['0', '1.005', 'much', '1e9', '999999999999']) {
      assert.match(
        await fails(1, 'credit', 'ann@example.org', amount, '--reason', 'x'),
        /the amount must be/,
      );
    }
    const unknown = await fails(1, 'credit', 'nobody@example.org', '5', '--reason', 'x');
    assert.equal(unknown, 'skerryd: no customer has this email address');
    assert.match(await fails(1, 'credit', 'ann@example.org', '5', '--reason', ' '), /the reason must have/);
    assert.equal(await readBalance(operator.backend.db, customerId), 5_100n);
  });
});

describe('customers', () => {
  it('a customer can be frozen and unfrozen', async () => {
    const before = (await operator.backend.auditedActions()).length;
    const frozen = async () =>
      (await operator.backend.db.row<{ frozen_at: Date | null }>('select frozen_at from customers'))
        ?.frozen_at;
    assert.equal(await ok('customers', 'freeze', 'ann@example.org'), 'the account is frozen');
    assert.ok(await frozen());
    assert.equal(await ok('customers', 'freeze', 'ann@example.org'), 'the account is frozen (unchanged)');
    assert.equal(await ok('customers', 'unfreeze', 'ann@example.org'), 'the account is not frozen');
    assert.equal(await frozen(), null);
    assert.deepEqual(await auditedSince(before), ['customer.freeze', 'customer.unfreeze']);
  });
});

describe('switch', () => {
  it('switch prints both states of the kill-switch', async () => {
    assert.match(await ok('switch'), /^topup-credit on \(the kill-switch is off\): /);
    assert.equal(await ok('switch', 'topup-credit', 'off'), 'topup-credit off (the kill-switch is on)');
    assert.equal(
      await ok('switch', 'topup-credit', 'off'),
      'topup-credit off (the kill-switch is on) (unchanged)',
    );
    assert.match(
      await ok('switch', 'topup-credit'),
      /^topup-credit off \(the kill-switch is on\) since \d{4}-\d\d-\d\d [0-9:]+ UTC: /,
    );
    assert.equal(await ok('switch', 'topup-credit', 'on'), 'topup-credit on (the kill-switch is off)');
  });

  it('switch lists every switch with its reason and audits every change', async () => {
    const before = (await operator.backend.auditedActions()).length;
    assert.deepEqual(
      (await ok('switch')).split('\n').map((line) => line.slice(0, line.indexOf(' '))),
      ['topup-credit', 'deploys', 'renewals', 'webhooks', 'mail', 'transparency', 'transparency-gagged'],
    );
    assert.equal(await ok('switch', 'mail', 'off', '--reason', 'relay is down'), 'mail off');
    assert.match(await ok('switch', 'mail'), /^mail off since .* UTC \(relay is down\): send mail; /);
    assert.equal(await ok('switch', 'mail', 'off', '--reason', 'relay is down'), 'mail off (unchanged)');
    assert.equal(await ok('switch', 'mail', 'off', '--reason', 'relay moves'), 'mail off');
    assert.equal(await ok('switch', 'mail', 'on'), 'mail on');
    assert.match(await ok('switch', 'mail'), /^mail on: /);
    assert.deepEqual(await auditedSince(before), ['switch.set', 'switch.set', 'switch.set']);
    assert.match(await fails(1, 'switch', 'mail', '--reason', 'why'), /--reason needs a new state/);
    assert.match(await fails(1, 'switch', 'mail', 'off', '--reason', 'a\nb'), /one line/);
  });
});

describe('topups', () => {
  it('an unknown top-up is rejected', async () => {
    assert.equal(await ok('topups', 'held'), 'order_ref  customer  withheld  refund pending  created (UTC)');
    assert.match(await fails(1, 'topups', 'release', 'x'), /top-up not found/);
  });
});
