/** The spend cap and the number of servers of a token, under concurrent deploys. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../../src/domain/verify/verify.ts';
import { byLevel } from '../../../support/runs.ts';
import type { SessionClient } from '../../../support/session-client.ts';
import {
  assertApiError,
  createApiToken,
  type JsonBody,
  V1Client,
  type V1Response,
} from '../../../support/v1-client.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from '../contract/estate.ts';
import { limited } from './limited-world.ts';

const DEPLOYS = byLevel({ sample: 60, full: 300, soak: 2_000 });
const CAP_USD = 50;
const DAY_S = 86_400;

describe('the budget of a limited token', () => {
  let world: World;
  let customer: SessionClient;
  let api: V1Client;
  let order: JsonBody;
  let price: number;

  before(async () => {
    world = await startWorld({ ...NO_RATES, SKERRY_QUOTAS: 'servers=1000,tokens=1000' });
    customer = await world.customer();
    await world.addBalance(customer, 1_000_000n);
    api = V1Client.forApp(world.http, await createApiToken(customer));
    const images = (await api.get('/images?family=debian')).body.data;
    const image = images.find(({ version }: JsonBody) => version === '12').id;
    const key = (await api.post('/ssh-keys', { name: 'ci', public_key: PUBLIC_KEY })).body.id;
    order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
    const quote = await api.post('/quotes', { operation: 'server.create', params: { plan: 's1' } });
    price = quote.body.due_now_usd;
  });
  after(() => world.close());

  const spentBy = async (id: string) => (await api.get(`/account/tokens/${id}`)).body.spent_usd;
  const serversOf = async () => {
    const row = await world.opened.db.row<{ count: bigint }>('select count(*) from servers');
    return Number(row?.count);
  };
  const inCents = (usd: number) => Math.round(usd * 100);

  /** An overloaded service turns requests away or runs out of time, so clients repeat them with their key. */
  async function deployAtOnce(from: V1Client, count: number): Promise<V1Response[]> {
    const answers: V1Response[] = [];
    let waiting = Array.from({ length: count }, (_, n) => `ci-${n}`);
    for (let round = 0; waiting.length > 0 && round < 1_000; round++) {
      const sent = await Promise.all(
        waiting.map(async (name) => ({
          name,
          answer: await from.post('/servers', { ...order, name }, { key: name }),
        })),
      );
      const isTurnedAway = ({ answer }: (typeof sent)[number]) => answer.status === 503;
      answers.push(...sent.filter((each) => !isTurnedAway(each)).map(({ answer }) => answer));
      waiting = sent.filter(isTurnedAway).map(({ name }) => name);
    }
    assert.equal(answers.length, count, 'every deploy was answered');
    return answers;
  }

  it(`a cap of $${CAP_USD} under ${DEPLOYS} concurrent deploys buys exactly what fits`, async () => {
    const token = await limited(api, { spend_usd: CAP_USD });
    const before = await serversOf();
    const answers = await deployAtOnce(token.api, DEPLOYS);
    const fits = Math.floor(inCents(CAP_USD) / inCents(price));
    assert.ok(fits >= 2 && fits < DEPLOYS);
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, fits);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      const [item] = assertApiError(answer, 422, 'unprocessable');
      assert.equal(item?.issue, 'limit_reached', answer.text);
      assert.equal(item.limit, CAP_USD);
      // It was the state at one moment while others deployed.
      assert.ok(inCents(item.used) + inCents(price) > inCents(CAP_USD), answer.text);
    }
    assert.equal(await serversOf(), before + fits);
    assert.equal(inCents(await spentBy(token.id)), fits * inCents(price));
  });

  it('the spending of a child counts for its parent, and neither exceeds its own cap', async () => {
    const parent = await limited(api, { spend_usd: price * 2.5 });
    const child = await limited(parent.api, { spend_usd: price * 1.5 }, 'write');
    const deploys = [child, child, parent, child, parent].map((one) => one.api.post('/servers', order));
    const made = (await Promise.all(deploys)).filter(({ status }) => status === 201);
    assert.equal(made.length, 2);
    assert.equal(inCents(await spentBy(parent.id)), 2 * inCents(price));
    assert.ok(inCents(await spentBy(child.id)) <= inCents(price));
  });

  it('a token has at most its number of servers, and a deletion makes room', async () => {
    const token = await limited(api, { max_servers: 2 });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => token.api.post('/servers', order)));
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 2);
    const refused = answers.find(({ status }) => status !== 201);
    const [item] = assertApiError(refused ?? assert.fail(), 422, 'unprocessable');
    const { field, issue, limit, used } = item ?? {};
    assert.deepEqual(
      { field, issue, limit, used },
      {
        field: 'limits.max_servers',
        issue: 'limit_reached',
        limit: 2,
        used: 2,
      },
    );
    await world.settle();
    assert.equal((await token.api.delete(`/servers/${made[0]?.body.id}`)).status, 202);
    await world.settle();
    assert.equal((await token.api.post('/servers', order)).status, 201);
  });

  it('a monthly cap starts again with the month, and a quote says when it is reached', async () => {
    const token = await limited(api, { spend_usd: price, spend_period: 'month' });
    const quote = async () => {
      const body = { operation: 'server.create', params: { plan: 's1', region: 'par' } };
      return (await token.api.post('/quotes', body)).body;
    };
    assert.equal((await quote()).available, true);
    assert.equal((await token.api.post('/servers', order)).status, 201);
    const { available, errors } = await quote();
    assert.deepEqual([available, errors[0].field, errors[0].used], [false, 'limits.spend_usd', price]);
    await world.settle();
    await world.advance(32 * DAY_S);
    await world.addBalance(customer, 1_000_000n);
    assert.equal((await quote()).available, true);
    assert.equal(await spentBy(token.id), 0);
  });

  it('renewals count for nothing, and the restart of a suspended server counts', async () => {
    const token = await limited(api, { spend_usd: price * 1.5 });
    const { id } = (await token.api.post('/servers', { ...order, auto_renew: false })).body;
    await world.settle();
    await world.advance(32 * DAY_S);
    assert.equal((await api.get(`/servers/${id}`)).body.status, 'suspended');
    const [item] = assertApiError(await token.api.post(`/servers/${id}/start`), 422, 'unprocessable');
    assert.deepEqual([item?.field, item?.issue], ['limits.spend_usd', 'limit_reached']);
    assert.equal((await api.post(`/servers/${id}/start`)).status, 202);
    assert.equal(await spentBy(token.id), price);
  });

  it('a server that never ran gives its price back to the cap', async () => {
    const token = await limited(api, { spend_usd: price });
    const { id } = (await token.api.post('/servers', order)).body;
    assert.equal(await spentBy(token.id), price);
    assert.equal((await token.api.delete(`/servers/${id}`)).body.refund_usd, price);
    await world.settle();
    assert.equal(await spentBy(token.id), 0);
    assert.equal((await token.api.post('/servers', order)).status, 201);
  });

  it('backups that another token pays for do not come back to the cap', async () => {
    await world.opened.db.run(`update plans set backup_percent = 100 where id = 's1'`);
    const token = await limited(api, { spend_usd: 2 * price });
    const [, unused] = [await token.api.post('/servers', order), await token.api.post('/servers', order)];
    const { id } = unused.body;
    assert.equal((await api.put(`/servers/${id}/backup-policy`, { enabled: true })).status, 200);
    assert.equal((await api.delete(`/servers/${id}`)).body.refund_usd, 2 * price);
    assert.equal(await spentBy(token.id), price);
    await world.opened.db.run(`update plans set backup_percent = 0 where id = 's1'`);
  });

  it('the counters are those of the servers that exist', async () => {
    const broken = (await verify({ db: world.opened.db })).filter((result) => result.broken > 0n);
    assert.deepEqual(broken, []);
  });
});
