/** What samples name by made-up ids, made for a customer: anew for each sample, so that none is in another's way. */
import assert from 'node:assert/strict';
import { made, publicKey } from '../panel/support/estate.ts';
import { isoFile } from '../support/iso.ts';
import type { Body, V1Client } from '../support/v1-client.ts';
import type { World } from '../support/world.ts';

/** Of every id in a sample, behind its prefix. */
const LETTERS = 'aaaqk3m7qzb5x2l6v4t7n8wyja';
const IDS = new RegExp(`\\b([a-z]+_)${LETTERS}\\b`, 'g');

/** Within that time a server has been switched, installed or put back. */
const SWITCH_S = 300;

type Ids = Readonly<Record<string, string>>;

export class SampleThings {
  readonly #world: World;
  readonly #api: V1Client;
  #made = 0;
  #server: string | null = null;

  constructor(world: World, api: V1Client) {
    this.#world = world;
    this.#api = api;
  }

  /** The sample of an operation with ids of things that are there, in the state that it needs. */
  async putInto(operation: string, sample: string): Promise<string> {
    const ids: Record<string, string> = {};
    for (const [, prefix = ''] of sample.matchAll(IDS)) {
      if (ids[prefix] === undefined) Object.assign(ids, await this.#make(prefix));
    }
    if (operation === 'servers.start') {
      made(await this.#api.post(`/servers/${ids.srv_}/stop`));
      await this.#reach(ids.srv_ ?? '', 'stopped');
    }
    if (operation === 'volumes.detach') {
      made(await this.#api.post(`/volumes/${ids.vol_}/attach`, { server: await this.#runningServer() }));
    }
    await this.#world.settle();
    return sample.replaceAll(IDS, (whole, prefix: string) => ids[prefix] ?? whole);
  }

  async #make(prefix: string): Promise<Ids> {
    const name = `thing-${++this.#made}`;
    const post = async (path: string, body?: object): Promise<Body> => made(await this.#api.post(path, body));
    switch (prefix) {
      case 'srv_':
        return { srv_: await this.#runningServer() };
      case 'img_':
        return { img_: await this.#image() };
      case 'custom_':
        return { custom_: await this.#upload(name) };
      case 'k_':
        return { k_: (await post('/ssh-keys', { name, public_key: publicKey(this.#made, name) })).id };
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
      case 'tok_':
        return { tok_: (await post('/account/tokens', { name, scope: 'read' })).id };
      case 'top_':
        return { top_: (await post('/billing/topup', { coin: 'LTC', amount_usd: 50 })).id };
      case 'audit_':
        return { audit_: made(await this.#api.get('/audit/events')).data[0].id };
      default:
        throw new Error(`nothing has ids that begin with ${prefix}`);
    }
  }

  async #runningServer(): Promise<string> {
    this.#server ??= await this.#deploy();
    await this.#world.advance(SWITCH_S);
    const { status } = made(await this.#api.get(`/servers/${this.#server}`));
    if (status === 'stopped') made(await this.#api.post(`/servers/${this.#server}/start`));
    await this.#reach(this.#server, 'running');
    return this.#server;
  }

  /** Until what was begun with a server is over; what is simulated takes its time. */
  async #reach(id: string, status: string): Promise<void> {
    await this.#world.advance(SWITCH_S);
    assert.equal(made(await this.#api.get(`/servers/${id}`)).status, status);
  }

  async #deploy(): Promise<string> {
    const { k_: key } = await this.#make('k_');
    const order = { name: 'shown', plan: 's1', region: 'par', image: await this.#image() };
    return made(await this.#api.post('/servers', { ...order, ssh_keys: [key], billing_months: 1 })).id;
  }

  async #image(): Promise<string> {
    const { data } = made(await this.#api.get('/images?family=debian&sort=-created_at'));
    return (data as Body[]).find(({ deprecated_at }) => deprecated_at === null).id;
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
