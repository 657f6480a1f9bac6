/** A customer with several resources of each kind. Their ids replace placeholders such as `@@server:0@@`. */
import assert from 'node:assert/strict';
import { base32 } from '../../../src/kernel/ids.ts';
import { isoFile } from '../../support/iso.ts';
import { createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import type { World } from '../../support/world.ts';
import type { TokenKind } from './fuzz-requests.ts';
import { publicKey } from './fuzz-values.ts';
import { MULTIPART, multipart } from './upload-world.ts';

const BALANCE_CENTS = 400_000n;
const PREFIXES: Readonly<Record<string, string>> = {
  server: 'srv_',
  image: 'img_',
  custom: 'custom_',
  plan: 's',
  region: 'x',
  ssh_key: 'k_',
  api_token: 'tok_',
  topup: 'top_',
  volume: 'vol_',
  snapshot: 'snap_',
  firewall_group: 'fwg_',
  firewall_rule: 'fwr_',
  webhook: 'whk_',
  webhook_delivery: 'del_',
  audit_event: 'audit_',
  quote: 'quo_',
  alert: 'alr_',
  ticket: 'tkt_',
};

export class Estate {
  readonly tokens: Readonly<Record<TokenKind, string | null>>;
  readonly #ids = new Map<string, string[]>();
  readonly #otherEstate: Estate | null;

  private constructor(tokens: Estate['tokens'], foreign: Estate | null) {
    this.tokens = tokens;
    this.#otherEstate = foreign;
  }

  /**
   * Creates a customer with some of everything. The previous customer is the stranger whose ids are known.
   */
  static async found(world: World, before: Estate | null): Promise<Estate> {
    const customer = await world.customer();
    await world.addBalance(customer, BALANCE_CENTS);
    const [billing, write, read] = await Promise.all([
      createApiToken(customer, 'billing'),
      createApiToken(customer, 'write'),
      createApiToken(customer, 'read'),
    ]);
    const foreign = before?.tokens.billing ?? null;
    const fixed = { none: null, nonsense: 'nonsense', basic: null };
    const estate = new Estate({ billing, write, read, foreign, ...fixed }, before);
    await estate.#setUp(world, V1Client.forApp(world.http, billing));
    return estate;
  }

  async #setUp(world: World, api: V1Client): Promise<void> {
    const make = async (path: string, body?: object): Promise<JsonBody> => {
      const answer = await api.post(path, body);
      assert.ok(answer.status < 300, `${path}: ${answer.text}`);
      this.learn(answer.body);
      return answer.body;
    };
    const list = async (path: string): Promise<JsonBody[]> => {
      const { data } = (await api.get(path)).body;
      for (const item of data) this.learn(item);
      return data;
    };
    const images = await list('/images?filter[type]=official');
    await Promise.all([list('/plans'), list('/regions')]);
    const file = { name: 'file', filename: 'a.iso', content: isoFile() };
    const upload = { headers: MULTIPART };
    this.learn((await api.raw('POST', '/images', multipart([file]).toString('latin1'), upload)).body);
    const keys = await Promise.all(
      [0, 1, 2].map((n) => make('/ssh-keys', { name: `k${n}`, public_key: publicKey(n) })),
    );
    const image = images.find((one) => one.family === 'debian' && one.deprecated_at === null).id;
    const order = { name: 'web-1', plan: 's1', image, ssh_keys: [keys[0].id] };
    const servers = await Promise.all(
      ['par', 'par', 'rkv', 'zrh'].map((region) => make('/servers', { ...order, region })),
    );
    const volumes = ['par', 'par', 'rkv'].map((region, n) =>
      make('/volumes', { name: `v${n}`, size_gb: 10, region }),
    );
    const [volume] = await Promise.all(volumes);
    const rule = { direction: 'in', proto: 'tcp', port: '443', source: '0.0.0.0/0', action: 'accept' };
    for (const name of ['one', 'two']) {
      const group = await make('/firewall/groups', {
        name,
        default_action: 'drop',
        rules: [rule],
        applied_to: [],
      });
      for (const one of group.rules) this.learn({ object: 'firewall_rule', id: one.id });
    }
    for (const name of ['one', 'two']) await make('/account/tokens', { name, scope: 'read' });
    for (const coin of ['BTC', 'LTC']) await make('/billing/topup', { coin, amount_usd: 50 });
    const webhook = await make('/webhooks', { url: 'https://example.org/hook', events: ['*'] });
    await make(`/webhooks/${webhook.id}/test`);
    const condition = { metric: 'cpu_pct', value: 90 };
    await make('/alerts', { ...condition, name: 'one', servers: [servers[0].id] });
    await make('/tickets', { subject: 'one', text: 'one' });
    await make('/alerts', { ...condition, name: 'two', label_selector: '' });
    await world.settle();
    await make('/quotes', { operation: 'server.create', params: { plan: 's1' } });
    await make('/quotes', { operation: 'server.start', resource: servers[0].id });
    await make(`/volumes/${volume.id}/attach`, { server: servers[0].id });
    await make(`/servers/${servers[1].id}/snapshots`, {});
    await list('/audit/events');
    for (const path of ['/servers', '/audit/events', '/ssh-keys']) {
      const page = (await api.get(`${path}?page_size=1`)).body;
      if (page.has_more) this.learn({ object: 'cursor', id: encodeURIComponent(page.next_cursor) });
    }
  }

  /** Remembers the ids in a response. */
  learn(body: JsonBody): void {
    if (typeof body?.id !== 'string' || typeof body.object !== 'string') return;
    const kind = body.id.startsWith('custom_') ? 'custom' : body.object;
    this.#remember(kind, body.id);
    if (kind === 'firewall_group') for (const rule of body.rules) this.#remember('firewall_rule', rule.id);
  }

  #remember(kind: string, id: string): void {
    const known = this.#ids.get(kind) ?? [];
    if (!known.includes(id)) this.#ids.set(kind, [...known, id].slice(-12));
  }

  of(kind: string): readonly string[] {
    return this.#ids.get(kind) ?? [];
  }

  forget(id: string): void {
    for (const [kind, known] of this.#ids)
      this.#ids.set(
        kind,
        known.filter((one) => one !== id),
      );
  }

  /** Replaces each `@@kind:n@@` with an id: own, of a stranger (`foreign_…`), or unknown (`missing_…`). */
  fill(text: string): string {
    return text.replace(
      /@@(?:(foreign|missing)_)?([a-z_]+):(\d+)@@/g,
      (_all, whose, kind: string, n: string) => {
        if (whose === 'missing') return missingId(kind);
        const known = (whose === 'foreign' ? this.#otherEstate?.of(kind) : this.of(kind)) ?? [];
        return known[Number(n) % Math.max(known.length, 1)] ?? missingId(kind);
      },
    );
  }
}

function missingId(kind: string): string {
  return `${PREFIXES[kind] ?? ''}${base32(Buffer.alloc(16, 7))}`;
}
