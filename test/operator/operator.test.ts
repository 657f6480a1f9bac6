import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedSandbox } from '../../src/domain/catalogue/seed.ts';
import { runOperator } from '../../src/operator/run.ts';
import { readBalance } from '../../src/store/ledger.ts';
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

/** Standard output of a command that must succeed. */
async function ok(...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.deepEqual([result.code, result.err], [0, '']);
  return result.out;
}

/** Standard error of a command that must fail with this code, in one line. */
async function fails(code: 1 | 2, ...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.equal(result.code, code, result.err);
  assert.match(result.err, /^skerryd: [^\n]+$/);
  return result.err;
}

/** Audit actions since `before` of them. */
async function auditedSince(before: number): Promise<string[]> {
  return (await operator.backend.auditedActions()).slice(before);
}

describe('misuse', () => {
  it('of every kind ends with 2 and one line', async () => {
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

  it('is not asking for help', async () => {
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

describe('commands that the composition root adds', () => {
  it('run beside the others', async () => {
    let served = false;
    const doors = {
      settings: () => [],
      database: async () => assert.fail('opened'),
      service: async () => assert.fail('opened'),
    };
    const terminal = { out: () => undefined, err: () => undefined, ask: null };
    const code = await runOperator(
      ['serve'],
      doors,
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
  it('prints settings without opening anything', async () => {
    assert.match(
      await ok('config'),
      /^setting +value +source .*\nSKERRY_PORT +8080 +default +port to listen on$/,
    );
  });
});

describe('migrate', () => {
  it('says when there is nothing to do', async () => {
    assert.equal(await ok('migrate'), 'the database is of this version already');
  });
});

describe('verify', () => {
  it('prints each invariant with its count', async () => {
    const out = await ok('verify');
    assert.match(out, /^ +checked +invariant +what holds\nok /);
    assert.match(out, /\nok +16 +no host is overfull /);
    assert.match(out, /(\d+) of \1 invariants hold$/);
  });

  it('names what is broken and ends with 1', async () => {
    await operator.backend.db.run(`update hosts set used_ram_mb = 1 where name in ('par-1', 'zrh-1')`);
    const said = await operator.run(['verify']);
    assert.equal(said.code, 1);
    assert.match(said.out, /\nBROKEN +16 +hosts carry what they count/);
    assert.match(
      said.err,
      /^skerryd: BROKEN hosts carry what they count: 2, namely [0-9a-f-]{36} [0-9a-f-]{36}$/,
    );
    await operator.backend.db.run('update hosts set used_ram_mb = 0');
  });
});

describe('the inventory', () => {
  it('grows by hosts, machines and blocks', async () => {
    const size = ['--cpu', '8', '--ram-mb', '4096', '--disk-gb', '100'];
    assert.equal(await ok('hosts', 'add', 'h1', '--region', 'par', ...size), 'host h1 takes servers in par');
    assert.match(await fails(1, 'hosts', 'add', 'h1', '--region', 'par', ...size), /named h1 already/);
    assert.match(await ok('hosts', 'list'), /\nh1 +par +8 +0\/4096 +0\/100 +0\n/);
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

  it('has hosts that grow, and never shrink below what their servers have', async () => {
    const { db } = operator.backend;
    assert.equal(
      await ok('hosts', 'resize', 'h1', '--disk-gb', '200'),
      'host h1 has 8 cores, and 4096 MiB and 200 GiB for servers',
    );
    await db.run("update hosts set used_disk_gb = 150 where name = 'h1'");
    assert.match(
      await fails(1, 'hosts', 'resize', 'h1', '--disk-gb', '149'),
      /^skerryd: h1: its servers have 150 GiB/,
    );
    await db.run("update hosts set used_disk_gb = 0 where name = 'h1'");
    assert.match(await fails(1, 'hosts', 'resize', 'h1'), /say what changes/);
    assert.match(await fails(1, 'hosts', 'resize', 'h2', '--cpu', '1'), /there is no host h2/);
  });

  it('drains, and says when nothing changed', async () => {
    assert.equal(await ok('hosts', 'drain', 'h1'), 'host h1 is drained: it takes no new servers');
    assert.match(await ok('hosts', 'drain', 'h1'), /\(as before\)$/);
    assert.equal(await ok('hosts', 'undrain', 'h1'), 'host h1 takes servers');
  });

  it('withholds addresses', async () => {
    assert.equal(await ok('ips', 'block', '203.0.113.0/29'), '5 addresses blocked');
    assert.match(await ok('ips', 'list'), /\npar +IPv4 +509 +0 +0 +5\n/);
    assert.equal(await ok('ips', 'unblock', '203.0.113.2'), '1 address unblocked');
    assert.match(await fails(1, 'ips', 'block', '10.0.0.1'), /pool has no address/);
  });
});

describe('credit', () => {
  it('books anew each time, to an account named in any case', async () => {
    const before = (await operator.backend.auditedActions()).length;
    await ok('credit', 'ann@example.org', '25.50', '--reason', 'For the trouble');
    assert.equal(
      await ok('credit', 'ANN@example.org', '25.5', '--reason', 'For the trouble'),
      'credited 25.50 USD; the balance is 51.00 USD',
    );
    assert.equal(await readBalance(operator.backend.db, customerId), 5_100n);
    assert.deepEqual(await auditedSince(before), ['customer.credit', 'customer.credit']);
  });

  it('refuses what is no amount, no customer, no reason', async () => {
    for (const amount of ['0', '1.005', 'much', '1e9', '999999999999']) {
      assert.match(await fails(1, 'credit', 'ann@example.org', amount, '--reason', 'x'), /the amount is/);
    }
    const unknown = await fails(1, 'credit', 'nobody@example.org', '5', '--reason', 'x');
    assert.equal(unknown, 'skerryd: there is no customer with this e-mail address');
    assert.match(await fails(1, 'credit', 'ann@example.org', '5', '--reason', ' '), /the reason is/);
    assert.equal(await readBalance(operator.backend.db, customerId), 5_100n);
  });
});

describe('customers', () => {
  it('are frozen and unfrozen', async () => {
    const before = (await operator.backend.auditedActions()).length;
    const frozen = async () =>
      (await operator.backend.db.row<{ frozen_at: Date | null }>('select frozen_at from customers'))
        ?.frozen_at;
    assert.equal(await ok('customers', 'freeze', 'ann@example.org'), 'the account is frozen');
    assert.ok(await frozen());
    assert.equal(await ok('customers', 'freeze', 'ann@example.org'), 'the account is frozen (as before)');
    assert.equal(await ok('customers', 'unfreeze', 'ann@example.org'), 'the account is not frozen');
    assert.equal(await frozen(), null);
    assert.deepEqual(await auditedSince(before), ['customer.freeze', 'customer.unfreeze']);
  });
});

describe('switch', () => {
  it('prints both words of the kill-switch', async () => {
    assert.match(await ok('switch'), /^topup-credit on \(the kill-switch is off\): /);
    assert.equal(await ok('switch', 'topup-credit', 'off'), 'topup-credit off (the kill-switch is on)');
    assert.equal(
      await ok('switch', 'topup-credit', 'off'),
      'topup-credit off (the kill-switch is on) (as before)',
    );
    assert.match(
      await ok('switch', 'topup-credit'),
      /^topup-credit off \(the kill-switch is on\) since \d{4}-\d\d-\d\d [0-9:]+ UTC: /,
    );
    assert.equal(await ok('switch', 'topup-credit', 'on'), 'topup-credit on (the kill-switch is off)');
  });

  it('lists all of them with their reasons, and audits each turn', async () => {
    const before = (await operator.backend.auditedActions()).length;
    assert.deepEqual(
      (await ok('switch')).split('\n').map((line) => line.slice(0, line.indexOf(' '))),
      ['topup-credit', 'deploys', 'renewals', 'webhooks', 'mail'],
    );
    assert.equal(await ok('switch', 'mail', 'off', '--reason', 'relay is down'), 'mail off');
    assert.match(await ok('switch', 'mail'), /^mail off since .* UTC \(relay is down\): send mail; /);
    assert.equal(await ok('switch', 'mail', 'off', '--reason', 'relay is down'), 'mail off (as before)');
    assert.equal(await ok('switch', 'mail', 'off', '--reason', 'relay moves'), 'mail off');
    assert.equal(await ok('switch', 'mail', 'on'), 'mail on');
    assert.match(await ok('switch', 'mail'), /^mail on: /);
    assert.deepEqual(await auditedSince(before), ['switch.set', 'switch.set', 'switch.set']);
    assert.match(await fails(1, 'switch', 'mail', '--reason', 'why'), /goes with turning a switch/);
    assert.match(await fails(1, 'switch', 'mail', 'off', '--reason', 'a\nb'), /one line/);
  });
});

describe('topups', () => {
  it('that are unknown are refused', async () => {
    assert.equal(await ok('topups', 'held'), 'order_ref  customer  held  to be sent back  made (UTC)');
    assert.match(await fails(1, 'topups', 'release', 'x'), /there is no such top-up/);
  });
});
