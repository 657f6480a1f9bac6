/** Someone signs in with a stolen password and leaves an API token and a webhook behind. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkConsoleAccess } from '../../../src/domain/servers/console.ts';
import { identify } from '../../../src/domain/sessions/identify.ts';
import { tasksJob } from '../../../src/workers/tasks.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';
import { lastMailedPath, queuedMails, tokenFromPath } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient, type SessionResponse } from '../../support/session-client.ts';

const NEW = 'a completely new password';

describe('taking an account back', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const account = (client: SessionClient, fields: Record<string, string>) =>
    client.post('/account-api.php', { current_password: PASSWORD, ...fields });
  const api = async (token: string, method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await world.app.inject({
      method,
      url: `/v1${url}`,
      headers,
      ...(body && { payload: body }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
  const newToken = async (client: SessionClient, scope = 'billing') =>
    String((await account(client, { action: 'create_token', name: 'ci', scope })).body.token);

  /** An account with a token, a token made by it, an active webhook, and a paused one. */
  async function intrudedAccount() {
    const client = await world.customer();
    const token = await newToken(client);
    const child = await api(token, 'POST', '/account/tokens', { name: 'child', scope: 'read' });
    const hook = { url: 'https://example.com/hooks', events: ['*'] };
    const webhook = await api(token, 'POST', '/webhooks', hook);
    const paused = await api(token, 'POST', '/webhooks', { ...hook, active: false });
    assert.deepEqual([child.status, webhook.status, paused.status], [201, 201, 201]);
    const ids = { webhook: String(webhook.body.id), paused: String(paused.body.id) };
    return { client, tokens: [token, String(child.body.token)], ...ids };
  }

  async function statesAfter(
    { tokens, webhook, paused }: Awaited<ReturnType<typeof intrudedAccount>>,
    owner: SessionClient,
    password: string,
  ) {
    const statuses = [];
    for (const token of tokens) statuses.push((await api(token, 'GET', '/servers')).status);
    const created = await account(owner, {
      ...{ action: 'create_token', name: 'mine', scope: 'billing', current_password: password },
    });
    const hooks = [];
    for (const id of [webhook, paused]) {
      const { active, paused_reason } = (await api(String(created.body.token), 'GET', `/webhooks/${id}`))
        .body;
      hooks.push([active, paused_reason]);
    }
    return { statuses, hooks };
  }

  const EVICTED = {
    statuses: [401, 401],
    hooks: [
      [false, 'access_revoked'],
      [false, null],
    ],
  };

  const ways: Readonly<Record<string, (client: SessionClient) => Promise<[SessionResponse, SessionClient]>>> =
    {
      'recovery with the recovery code': async ({ email, recoveryCode }) => {
        const owner = world.visitor();
        const form = { email, recovery_code: recoveryCode, password: NEW, password_confirm: NEW };
        return [await owner.post('/auth-api.php', { action: 'recover', ...form }), owner];
      },
      'a password reset by mail': async ({ email }) => {
        const owner = world.visitor();
        await owner.post('/auth-api.php', { action: 'request_reset', email });
        await tasksJob(world.service).run();
        const token = tokenFromPath(await lastMailedPath(world.service, 'reset_password', email));
        const form = { action: 'reset', token, password: NEW, password_confirm: NEW };
        return [await owner.post('/auth-api.php', form), owner];
      },
      'a password change with revoke_tokens=1': async (client) => [
        await account(client, { action: 'change_password', new_password: NEW, revoke_tokens: '1' }),
        client,
      ],
    };
  for (const [way, takeBack] of Object.entries(ways)) {
    it(`${way} revokes all API tokens, pauses all webhooks, and says so by mail`, async () => {
      const intruded = await intrudedAccount();
      const [answer, owner] = await takeBack(intruded.client);
      assert.deepEqual([answer.status, answer.body.ok], [200, true], answer.text);
      assert.deepEqual(await statesAfter(intruded, owner, NEW), EVICTED);
      const mails = await queuedMails(world.service, 'access_revoked', intruded.client.email);
      assert.deepEqual(
        mails.map(({ data }) => [data.tokens, data.webhooks]),
        [[2, 1]],
      );
      const revoked = await world.auditLines(intruded.client);
      assert.equal(revoked.filter((line) => line === 'token.revoke ok').length, 2);
      assert.equal(revoked.filter((line) => line === 'webhook.update ok').length, 1);
    });
  }

  it('a recovery closes the consoles of revoked tokens and ended sessions', async () => {
    const { client } = await intrudedAccount();
    const { email, recoveryCode } = client;
    const { session } = await identify(world.service, client.cookie);
    const customerId = await world.customerId(client);
    const token = await world.db.row<{ id: string }>('select id from api_tokens where customer_id = $1', [
      customerId,
    ]);
    const grant = { serverId: customerId, customerId, tokenId: null, sessionId: null, readOnly: false };
    const consoles = [
      { ...grant, tokenId: token?.id ?? assert.fail() },
      { ...grant, sessionId: session?.id ?? assert.fail() },
    ];
    const reasons = () => Promise.all(consoles.map((open) => checkConsoleAccess(world.service, open)));
    assert.deepEqual(await reasons(), [null, null]);
    const form = { email, recovery_code: recoveryCode, password: NEW, password_confirm: NEW };
    await world.visitor().post('/auth-api.php', { action: 'recover', ...form });
    assert.deepEqual(await reasons(), ['revoked', 'signed_out']);
  });

  it('a password change without revoke_tokens keeps tokens and webhooks', async () => {
    const { client, tokens, webhook } = await intrudedAccount();
    const [token = ''] = tokens;
    await account(client, { action: 'change_password', new_password: NEW });
    assert.equal((await api(token, 'GET', `/webhooks/${webhook}`)).body.active, true);
    assert.deepEqual(await queuedMails(world.service, 'access_revoked', client.email), []);
  });

  it('a password change with another value of revoke_tokens is refused and changes nothing', async () => {
    const { client } = await intrudedAccount();
    const change = { action: 'change_password', new_password: NEW };
    for (const value of ['true', 'on', '2', '1\0']) {
      const { status, body } = await account(client, { ...change, revoke_tokens: value });
      assert.deepEqual([status, body.error, body.field], [400, 'bad_request', 'revoke_tokens'], value);
    }
    assert.equal((await account(client, { ...change, revoke_tokens: '0' })).body.ok, true);
  });

  it('a webhook that is active or paused by its customer shows no reason', async () => {
    const { client, webhook } = await intrudedAccount();
    await account(client, { action: 'change_password', new_password: NEW, revoke_tokens: '1' });
    const mine = await account(client, {
      ...{ action: 'create_token', name: 'mine', scope: 'write', current_password: NEW },
    });
    const change = async (active: boolean) => {
      const { body } = await api(String(mine.body.token), 'PATCH', `/webhooks/${webhook}`, { active });
      return [body.active, body.paused_reason];
    };
    assert.deepEqual(await change(false), [false, 'access_revoked']);
    assert.deepEqual(await change(true), [true, null]);
    assert.deepEqual(await change(false), [false, null]);
  });

  it('no token or webhook of a request in flight survives a recovery', async () => {
    for (let round = 0; round < 5; round++) {
      const { client, tokens } = await intrudedAccount();
      const { email, recoveryCode } = client;
      const [token = ''] = tokens;
      const form = { email, recovery_code: recoveryCode, password: NEW, password_confirm: NEW };
      const owner = world.visitor();
      await owner.fetchCsrf();
      const thefts = Array.from({ length: 12 }, (_, n) =>
        n % 2 === 0
          ? api(token, 'POST', '/account/tokens', { name: 'late', scope: 'billing' })
          : api(token, 'POST', '/webhooks', { url: 'https://example.com/late', events: ['*'] }),
      );
      const recovered = owner.post('/auth-api.php', { action: 'recover', ...form });
      await Promise.all([recovered, ...thefts]);
      assert.equal((await recovered).status, 200);
      const customer = await world.customerId(client);
      const left = await world.db.rows(
        `select id from api_tokens where customer_id = $1
         union all select id from webhooks where customer_id = $1 and active`,
        [customer],
      );
      assert.deepEqual(left, []);
    }
  });

  it('new API tokens and webhooks are announced by mail, and the last mail of an hour says so', async () => {
    const client = await world.customer();
    const token = await newToken(client, 'write');
    await api(token, 'POST', '/webhooks', { url: 'https://example.com/hooks', events: ['server.running'] });
    for (let n = 0; n < 11; n++)
      await api(token, 'POST', '/account/tokens', { name: `t${n}`, scope: 'read' });
    const created = await queuedMails(world.service, 'token_created', client.email);
    assert.deepEqual(
      created.map(({ data }) => [data.name, data.byToken, data.isLast]),
      ['ci', ...Array.from({ length: 9 }, (_, n) => `t${n}`)].map((name, n) => [name, n > 0, n === 9]),
    );
    const [webhook] = await queuedMails(world.service, 'webhook_created', client.email);
    assert.deepEqual([webhook?.data.url, webhook?.data.byToken], ['https://example.com/hooks', true]);
  });
});
