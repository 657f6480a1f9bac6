/**
 * Resources for the placeholder ids in samples: created again for each sample, so that samples do not
 * interfere.
 */
import assert from 'node:assert/strict';
import { expectSuccess, publicKey } from '../panel/support/estate.ts';
import { isoFile } from '../support/iso.ts';
import type { JsonBody, V1Client } from '../support/v1-client.ts';
import type { World } from '../support/world.ts';

/** The suffix of every placeholder id in a sample. */
const ID_SUFFIX = 'aaaqk3m7qzb5x2l6v4t7n8wyja';
const IDS = new RegExp(`\\b([a-z]+_)${ID_SUFFIX}\\b`, 'g');

/** Long enough for a server to change its power state, be installed, or be restored. */
const TRANSITION_S = 300;

type Ids = Readonly<Record<string, string>>;

export class SampleResources {
  readonly #world: World;
  readonly #api: V1Client;
  #createdCount = 0;
  #server: string | null = null;

  constructor(world: World, api: V1Client) {
    this.#world = world;
    this.#api = api;
  }

  /** Replaces the ids in an operation's sample with real resources in the required state. */
  async fillIn(operation: string, sample: string): Promise<string> {
    const ids: Record<string, string> = {};
    for (const [, prefix = ''] of sample.matchAll(IDS)) {
      if (ids[prefix] === undefined) Object.assign(ids, await this.#create(prefix));
    }
    if (operation === 'servers.start') {
      expectSuccess(await this.#api.post(`/servers/${ids.srv_}/stop`));
      await this.#waitForStatus(ids.srv_ ?? '', 'stopped');
    }
    if (operation === 'webhooks.end_rotation')
      expectSuccess(await this.#api.post(`/webhooks/${ids.whk_}/rotate-secret`));
    if (operation === 'volumes.detach') {
      expectSuccess(
        await this.#api.post(`/volumes/${ids.vol_}/attach`, { server: await this.#runningServer() }),
      );
    }
    await this.#world.settle();
    return sample.replaceAll(IDS, (placeholder, prefix: string) => ids[prefix] ?? placeholder);
  }

  async #create(prefix: string): Promise<Ids> {
    const name = `sample-${++this.#createdCount}`;
    const post = async (path: string, body?: object): Promise<JsonBody> =>
      expectSuccess(await this.#api.post(path, body));
    switch (prefix) {
      case 'srv_':
        return { srv_: await this.#runningServer() };
      case 'img_':
        return { img_: await this.#image() };
      case 'custom_':
        return { custom_: await this.#upload(name) };
      case 'k_':
        return {
          k_: (await post('/ssh-keys', { name, public_key: publicKey(this.#createdCount, name) })).id,
        };
      case 'vol_':
        return { vol_: (await post('/volumes', { name, size_gb: 100, region: 'par' })).id };
      case 'snap_': {
        const { id } = await post(`/servers/${await this.#runningServer()}/snapshots`, { name });
        return { snap_: id };
      }
      case 'fwg_':
      case 'fwr_': {
        const rule = { direction: 'in', proto: 'tcp', port: '22', source: '0.0.0.0/0', action: 'accept' };
        const group = await post('/firewall/groups', { name, default_action: 'drop', rules: [rule] });
        return { fwg_: group.id, fwr_: group.rules[0].id };
      }
      case 'whk_':
      case 'del_': {
        const webhook = await post('/webhooks', { url: 'https://example.com/hooks', events: ['*'] });
        return { whk_: webhook.id, del_: (await post(`/webhooks/${webhook.id}/test`)).id };
      }
      case 'alr_': {
        const body = { name, metric: 'cpu_pct', value: 90, servers: [await this.#runningServer()] };
        return { alr_: (await post('/alerts', body)).id };
      }
      case 'tkt_':
        return { tkt_: (await post('/tickets', { subject: name, text: name })).id };
      case 'act_':
        await this.#runningServer();
        return { act_: expectSuccess(await this.#api.get('/actions')).data[0].id };
      case 'tok_':
        return { tok_: (await post('/account/tokens', { name, scope: 'read' })).id };
      case 'top_':
        return { top_: (await post('/billing/topup', { coin: 'LTC', amount_usd: 50 })).id };
      case 'audit_':
        return { audit_: expectSuccess(await this.#api.get('/audit/events')).data[0].id };
      default:
        throw new Error(`no sample resource for ids that start with ${prefix}`);
    }
  }

  async #runningServer(): Promise<string> {
    this.#server ??= await this.#deploy();
    await this.#world.advance(TRANSITION_S);
    const { status } = expectSuccess(await this.#api.get(`/servers/${this.#server}`));
    if (status === 'stopped') expectSuccess(await this.#api.post(`/servers/${this.#server}/start`));
    await this.#waitForStatus(this.#server, 'running');
    return this.#server;
  }

  /** Advances the simulation until a server's transition is complete, and asserts its status. */
  async #waitForStatus(id: string, status: string): Promise<void> {
    await this.#world.advance(TRANSITION_S);
    assert.equal(expectSuccess(await this.#api.get(`/servers/${id}`)).status, status);
  }

  async #deploy(): Promise<string> {
    const { k_: key } = await this.#create('k_');
    const order = { name: 'shown', plan: 's1', region: 'par', image: await this.#image() };
    return expectSuccess(await this.#api.post('/servers', { ...order, ssh_keys: [key], billing_months: 1 }))
      .id;
  }

  async #image(): Promise<string> {
    const { data } = expectSuccess(await this.#api.get('/images?family=debian&sort=-created_at'));
    return (data as JsonBody[]).find(({ deprecated_at }) => deprecated_at === null).id;
  }

  async #upload(name: string): Promise<string> {
    const form = new FormData();
    form.append('name', name);
    form.append('version', '1');
    form.append('file', new Blob([new Uint8Array(isoFile())]), 'image.iso');
    const authorization = `Bearer ${this.#api.token}`;
    const init = { method: 'POST', body: form, headers: { authorization } };
    const response = await fetch(`${this.#world.url}/v1/images`, init);
    return ((await response.json()) as { id: string }).id;
  }
}
