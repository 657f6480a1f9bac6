import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { ApiToken } from '@skerry/sdk';
import { checkInUse } from '../../../packages/cli/src/commands/token.ts';
import { futureTime, pastTime } from '../../../packages/cli/src/options.ts';
import { NO_RATES } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

const DAY_MS = 86_400_000;

function tokenOf(id: string, lastUsedAt: string | null): ApiToken {
  const created_at = '2026-01-01T00:00:00Z';
  const fields = { name: id, scope: 'read', expires_at: null, created_at } as const;
  const unlimited = { created_by_token: null, limits: null, spent_usd: null };
  return { id, object: 'api_token', ...fields, last_used_at: lastUsedAt, ...unlimited };
}

test('the token in use is known if no other was used within the same minute', () => {
  const used = tokenOf('tok_1', '2026-01-02T12:00:00Z');
  const earlier = tokenOf('tok_2', '2026-01-02T11:58:59Z');
  const never = tokenOf('tok_3', null);
  const all = [used, earlier, never];
  assert.deepEqual(
    all.map((one) => checkInUse(one, all)),
    ['yes', 'no', 'no'],
  );
  const close = tokenOf('tok_4', '2026-01-02T11:59:30Z');
  assert.deepEqual(
    [used, close, never].map((one) => checkInUse(one, [...all, close])),
    ['perhaps', 'perhaps', 'no'],
  );
});

test('a time is RFC 3339, a date, or a duration from or before now', () => {
  const from = Date.now();
  const spanMs = (text: string, option = futureTime('')) => Date.parse(option.parse([text], '') ?? '') - from;
  assert.ok(Math.abs(spanMs('90d') - 90 * DAY_MS) < 5_000);
  assert.ok(Math.abs(spanMs('2w') - 14 * DAY_MS) < 5_000);
  assert.ok(Math.abs(spanMs('12h', pastTime('')) + DAY_MS / 2) < 5_000);
  assert.equal(futureTime('').parse(['2027-01-31'], ''), '2027-01-31T00:00:00Z');
  assert.equal(futureTime('').parse(['2027-01-31T12:00:00+01:00'], ''), '2027-01-31T12:00:00+01:00');
  assert.equal(futureTime('').parse(undefined, ''), undefined);
  for (const text of ['', '90', 'd', '-1d', '1.5h', 'tomorrow', '2027-01-31T12:00']) {
    assert.throws(
      () => futureTime('').parse([text], '--expires-at'),
      /^Error: --expires-at: ".*" is not a valid time/,
      text,
    );
  }
});

describe('skerry token', FULL_ONLY, () => {
  let world: World;
  let cli: Cli;
  before(async () => {
    world = await startWorld(NO_RATES);
    cli = createCli({ url: world.url, token: await createApiToken(await world.customer(), 'write') });
  });
  after(() => world.close());

  it('token create prints a working token on stdout and says that it is shown only once', async () => {
    const words = ['token', 'create', '--name', 'ci', '--scope', 'read', '--expires-at', '1d'];
    const { code, stdout, stderr } = await cli(...words, '-o', 'columns=token', '--no-header');
    assert.equal(code, 0);
    assert.match(stdout, /^skerry_live_[a-z2-7]{52}\n$/);
    assert.equal(stderr, 'skerry: the token is shown only once; store it now\n');
    const run = { env: { SKERRY_TOKEN: stdout.trim() } };
    assert.equal((await cli.with(run, 'server', 'list')).code, 0);
    assert.equal(
      (await cli.with(run, 'volume', 'create', 'x', '--size-gb', '10', '--region', 'par')).code,
      4,
    );
    assert.equal((await cli('token', 'revoke', 'ci', '--yes')).code, 0);
    assert.equal((await cli.with(run, 'server', 'list')).code, 3);
  });

  it('token create says if a token expires with its creator, and token list shows both', async () => {
    const short = ['token', 'create', '--name', 'short', '--scope', 'write', '--expires-at', '1d'];
    const parent = await cli.json(...short);
    const run = { env: { SKERRY_TOKEN: parent.token as string } };
    const made = ['token', 'create', '--name', 'child', '--scope', 'read'];
    const expiry = parent.expires_at.slice(0, 16).replace('T', ' ');
    for (const [wish, isClamped] of [
      [[], true],
      [['--expires-at', '9d'], true],
      [['--expires-at', '1h'], false],
    ] as const) {
      const { code, stderr } = await cli.with(run, ...made, ...wish);
      assert.equal(code, 0);
      assert.equal(
        stderr.includes(`expires at ${expiry} UTC, with the token that you use`),
        isClamped,
        stderr,
      );
    }
    const { stdout } = await cli('token', 'list', '--name', 'short');
    assert.match(
      stdout,
      new RegExp(`^ID +NAME +SCOPE +LAST USED AT +EXPIRES AT +LIMITED\\n.* ${expiry} +no\\n$`),
    );
    const creators = ['token', 'list', '--name', 'child', '-o', 'columns=created_by_token', '--no-header'];
    assert.equal((await cli(...creators)).stdout, `${parent.id}\n`.repeat(3));
  });

  it('token create cannot exceed the scope of the token in use', async () => {
    assert.equal((await cli('token', 'create', '--name', 'more', '--scope', 'billing')).code, 4);
  });

  it('token delete asks for an ID if two tokens share a name', async () => {
    const made = ['token', 'create', '--name', 'twin', '--scope', 'read'];
    const [one, other] = [await cli.json(...made), await cli.json(...made)];
    const { code, stderr } = await cli('token', 'delete', 'twin', '--yes');
    assert.equal(code, 5);
    assert.ok(stderr.includes(one.id) && stderr.includes(other.id), stderr);
  });

  it('token delete warns before it revokes the token in use', async () => {
    const { code, stderr } = await cli('token', 'delete', 'a write token');
    assert.equal(code, 11);
    assert.match(stderr, /^skerry: (you are using this token right now|this token was used within)/);
  });
});
