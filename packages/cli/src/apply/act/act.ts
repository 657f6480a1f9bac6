/** One act: the calls that it takes. Each may be done twice, and what is made by it is made once, by however many runs of one plan. */
import { createHash } from 'node:crypto';
import {
  type CallOptions,
  type CreateServer,
  isApiError,
  type RebuildServer,
  type Skerry,
} from '@skerry/sdk';
import type { Actual } from '../actual.ts';
import type { WantedServer } from '../desired.ts';
import type { Act, Labels } from '../plan/plan.ts';
import type { Filters } from './filters.ts';
import type { Ids } from './ids.ts';
import { type Made, type Making, makeOnce } from './keys.ts';
import { digestOf, mergedLabels, pendingLabels, writeLabels } from './labels.ts';
import type { Stops } from './stops.ts';

export interface Hands {
  readonly skerry: Skerry;
  readonly ids: Ids;
  readonly filters: Filters;
  readonly stops: Stops;
  readonly signal: AbortSignal;
  readonly project: string;
  /** As it was compared. */
  readonly actual: Actual;
  /** Of the run: what is sent again within it is done once, what a later run sends is another thing. */
  readonly nonce: string;
}

/** Everything but waiting, which is done for all at once. */
export type Deed = Exclude<Act, { do: 'wait_server' | 'settle_server' }>;
type Deeds = {
  readonly [Name in Deed['do']]: (act: Extract<Deed, { do: Name }>, hands: Hands) => Promise<void>;
};

export function isWait(act: Act): act is Exclude<Act, Deed> {
  return act.do === 'wait_server' || act.do === 'settle_server';
}

export async function carryOut(act: Deed, hands: Hands): Promise<void> {
  await (DEEDS[act.do] as (act: Deed, hands: Hands) => Promise<void>)(act, hands);
}

const DEEDS: Deeds = {
  create_key: async ({ key }, hands) => {
    const { skerry, signal } = hands;
    const body = { name: key.name, public_key: key.publicKey };
    await make(hands, 'ssh_key', body, hands.actual.keys, {
      create: (call) => skerry.sshKeys.create(body, call),
      get: (id) => skerry.sshKeys.get(id, { signal }),
      list: () => skerry.sshKeys.list({}, { signal }).all(),
    });
  },
  create_group: async ({ group }, hands) => {
    const { skerry, signal } = hands;
    const { name, defaultAction, rules = [] } = group;
    const body = { name, default_action: defaultAction, rules: [...rules] };
    await make(hands, 'firewall_group', body, hands.actual.groups, {
      create: (call) => skerry.firewallGroups.create(body, call),
      get: (id) => skerry.firewallGroups.get(id, { signal }),
      list: () => skerry.firewallGroups.list({}, { signal }).all(),
    });
  },
  update_group: async ({ group, defaultAction }, { skerry, ids, signal }) => {
    const id = ids.get('firewall_group', group);
    await skerry.firewallGroups.update(id, { default_action: defaultAction }, { signal });
  },
  replace_rules: async ({ group, rules }, { skerry, ids, signal }) => {
    await skerry.firewallRules.replace(ids.get('firewall_group', group), { rules: [...rules] }, { signal });
  },
  create_volume: async ({ volume }, hands) => {
    const { skerry, signal } = hands;
    const { name, sizeGb, region, encrypted, filesystem } = volume;
    const body = {
      name,
      size_gb: sizeGb,
      region,
      ...(encrypted === undefined ? {} : { encrypted }),
      ...(filesystem === undefined ? {} : { filesystem }),
    };
    await make(hands, 'volume', body, hands.actual.volumes, {
      create: (call) => skerry.volumes.create(body, call),
      get: (id) => skerry.volumes.get(id, { signal }),
      list: () => skerry.volumes.list({}, { signal }).all(),
    });
  },
  grow_volume: async ({ volume, sizeGb }, { skerry, ids, signal }) => {
    await skerry.volumes.update(ids.get('volume', volume), { size_gb: sizeGb }, { signal });
  },
  update_server: async ({ id, patch }, hands) => {
    const { labels, ...others } = patch;
    if (Object.keys(others).length > 0)
      await hands.skerry.servers.update(id, others, { signal: hands.signal });
    if (labels) await changeLabels(hands, id, labels);
  },
  mark_replaced: async ({ id, labels }, hands) => {
    await changeLabels(hands, id, labels);
  },
  create_server: async (act, hands) => {
    const { skerry, signal } = hands;
    const body = orderBody(act, hands.ids);
    await make(hands, 'server', body, hands.actual.servers, {
      create: (call) => skerry.servers.create(body, call),
      get: (id) => skerry.servers.get(id, { signal }),
      list: () => skerry.servers.list({}, { signal }).all(),
    });
  },
  rebuild_server: async (act, hands) => {
    const { id, image, labels, labelsBefore, server } = act;
    const body: RebuildServer = { image, ssh_keys: keyIds(server, hands.ids), ...userData(server) };
    await hands.skerry.servers.rebuild(id, body, once(act, hands));
    const pending = { before: digestOf(labelsBefore), after: digestOf(labels) };
    await writeLabels(hands, id, (now) => pendingLabels(now, pending));
  },
  apply_group: async (act, { filters }) => {
    await filters.settle(act);
  },
  stop_server: async ({ id }, { stops }) => {
    await stops.stop(id);
  },
  detach_volume: async ({ volume }, hands) => {
    await detach(hands.ids.get('volume', volume), hands);
  },
  attach_volume: async (act, hands) => {
    const server = hands.ids.get('server', act.server);
    const id = hands.ids.get('volume', act.volume);
    try {
      await hands.skerry.volumes.attach(id, { server }, once(act, hands));
    } catch (error) {
      // Somebody was faster: another run of this file, say.
      if (!isApiError(error, 'conflict_state') || (await holderOf(id, hands)) !== server) throw error;
    }
  },
  set_rdns: async (act, hands) => {
    await hands.skerry.servers.setRdns(hands.ids.get('server', act.server), act.rdns, once(act, hands));
  },
  delete_group: async ({ id }, { skerry, signal, filters }) => {
    await unlessGone(filters.empty(id).then(() => skerry.firewallGroups.delete(id, { signal })));
  },
  delete_volume: async ({ id }, hands) => {
    await unlessGone(detach(id, hands).then(() => hands.skerry.volumes.delete(id, { signal: hands.signal })));
  },
  destroy_server: async ({ id }, { skerry, signal }) => {
    await unlessGone(skerry.servers.delete(id, { signal }));
  },
};

type Calls = Pick<Making, 'create' | 'get' | 'list'>;

async function make(
  { ids, project, signal }: Hands,
  kind: Parameters<Ids['set']>[0],
  body: { readonly name: string },
  before: readonly Made[],
  calls: Calls,
): Promise<void> {
  const { name } = body;
  const seen = before.filter((one) => one.name === name).map(({ id }) => id);
  ids.set(kind, name, await makeOnce({ what: [project, kind, name, body], name, seen, signal, ...calls }));
}

/** Changes what differs from the labels that were compared. */
async function changeLabels(hands: Hands, id: string, labels: Labels): Promise<void> {
  const before = hands.actual.servers.find((server) => server.id === id)?.labels ?? {};
  await writeLabels(hands, id, (now) => mergedLabels(now, before, labels));
}

async function holderOf(volume: string, { skerry, signal }: Hands): Promise<string | null> {
  return (await skerry.volumes.get(volume, { signal })).attached_to;
}

/** Found detached, it is done. */
async function detach(volume: string, hands: Hands): Promise<void> {
  if ((await holderOf(volume, hands)) === null) return;
  const idempotencyKey = `apply-${hands.nonce}-detach-${volume}`;
  try {
    await hands.skerry.volumes.detach(volume, { signal: hands.signal, idempotencyKey });
  } catch (error) {
    if (!isApiError(error, 'conflict_state') || (await holderOf(volume, hands)) !== null) throw error;
  }
}

function orderBody(act: Extract<Deed, { do: 'create_server' }>, ids: Ids): CreateServer {
  const { server, image, labels, months } = act;
  return {
    name: server.name,
    plan: server.plan,
    region: server.region,
    image,
    ssh_keys: keyIds(server, ids),
    labels: { ...labels },
    billing_months: months,
    ...(server.tags === undefined ? {} : { tags: [...server.tags] }),
    ...(server.autoRenew === undefined ? {} : { auto_renew: server.autoRenew }),
    ...userData(server),
  };
}

function userData({ userData: data }: WantedServer): { readonly user_data_b64?: string } {
  return data ? { user_data_b64: data.base64 } : {};
}

function keyIds({ sshKeys }: WantedServer, ids: Ids): string[] {
  return [...new Set(sshKeys.map((key) => ids.get('ssh_key', key)))];
}

/** The same act of the same run has the same key. */
function once(act: Deed, { nonce, signal }: Hands): CallOptions {
  const digest = createHash('sha256').update(JSON.stringify(act)).digest('base64url');
  return { signal, idempotencyKey: `apply-${nonce}-${act.do}-${digest}` };
}

/** Found gone, it is done. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
  }
}
