/** Runs one action. An action may run twice; a resource is created once across all runs of a plan. */
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
import { mergeLabels, updateLabels, userDataDigest, withPending } from '../labels.ts';
import type { Action, Labels } from '../plan/plan.ts';
import { type CreatedResource, type CreateRequest, createIdempotently } from './create-idempotently.ts';
import type { FirewallMembers } from './firewall-members.ts';
import type { ServerStopper } from './server-stopper.ts';
import type { ResourceIds } from './state.ts';

export interface ActionContext {
  readonly skerry: Skerry;
  readonly ids: ResourceIds;
  readonly firewallMembers: FirewallMembers;
  readonly stopper: ServerStopper;
  readonly signal: AbortSignal;
  readonly project: string;
  /** The account as it was compared. */
  readonly actual: Actual;
  /** Unique per run: a retry within the run takes effect once; a later run makes a new request. */
  readonly nonce: string;
}

/** All actions except waiting, which is done for all servers at once. */
export type ExecutableAction = Exclude<Action, { do: 'wait_server' | 'settle_server' }>;
type Handlers = {
  readonly [Name in ExecutableAction['do']]: (
    act: Extract<ExecutableAction, { do: Name }>,
    hands: ActionContext,
  ) => Promise<void>;
};

export function isWaitAction(act: Action): act is Exclude<Action, ExecutableAction> {
  return act.do === 'wait_server' || act.do === 'settle_server';
}

export async function executeAction(act: ExecutableAction, hands: ActionContext): Promise<void> {
  await (HANDLERS[act.do] as (act: ExecutableAction, hands: ActionContext) => Promise<void>)(act, hands);
}

const HANDLERS: Handlers = {
  create_key: async ({ key }, hands) => {
    const { skerry, signal } = hands;
    const body = { name: key.name, public_key: key.publicKey };
    await createResource(hands, 'ssh_key', body, hands.actual.keys, {
      create: (call) => skerry.sshKeys.create(body, call),
      get: (id) => skerry.sshKeys.get(id, { signal }),
      list: () => skerry.sshKeys.list({}, { signal }).all(),
    });
  },
  create_group: async ({ group }, hands) => {
    const { skerry, signal } = hands;
    const { name, defaultAction, rules = [] } = group;
    const body = { name, default_action: defaultAction, rules: [...rules] };
    await createResource(hands, 'firewall_group', body, hands.actual.groups, {
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
    await createResource(hands, 'volume', body, hands.actual.volumes, {
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
    const body = createServerBody(act, hands.ids);
    await createResource(hands, 'server', body, hands.actual.servers, {
      create: (call) => skerry.servers.create(body, call),
      get: (id) => skerry.servers.get(id, { signal }),
      list: () => skerry.servers.list({}, { signal }).all(),
    });
  },
  rebuild_server: async (act, hands) => {
    const { id, image, labels, labelsBefore, server } = act;
    const body: RebuildServer = { image, ssh_keys: keyIds(server, hands.ids), ...userDataField(server) };
    await hands.skerry.servers.rebuild(id, body, callOptions(act, hands));
    const pending = { before: userDataDigest(labelsBefore), after: userDataDigest(labels) };
    await updateLabels(hands, id, (now) => withPending(now, pending));
  },
  apply_group: async (act, { firewallMembers }) => {
    await firewallMembers.apply(act);
  },
  stop_server: async ({ id }, { stopper }) => {
    await stopper.stop(id);
  },
  detach_volume: async ({ volume }, hands) => {
    await detach(hands.ids.get('volume', volume), hands);
  },
  attach_volume: async (act, hands) => {
    const server = hands.ids.get('server', act.server);
    const id = hands.ids.get('volume', act.volume);
    try {
      await hands.skerry.volumes.attach(id, { server }, callOptions(act, hands));
    } catch (error) {
      // Another run of this file may have attached it first.
      if (!isApiError(error, 'conflict_state') || (await getAttachedServer(id, hands)) !== server)
        throw error;
    }
  },
  set_rdns: async (act, hands) => {
    await hands.skerry.servers.setRdns(
      hands.ids.get('server', act.server),
      act.rdns,
      callOptions(act, hands),
    );
  },
  delete_group: async ({ id }, { skerry, signal, firewallMembers }) => {
    await unlessGone(firewallMembers.removeAll(id).then(() => skerry.firewallGroups.delete(id, { signal })));
  },
  delete_volume: async ({ id }, hands) => {
    await unlessGone(detach(id, hands).then(() => hands.skerry.volumes.delete(id, { signal: hands.signal })));
  },
  destroy_server: async ({ id }, { skerry, signal }) => {
    await unlessGone(skerry.servers.delete(id, { signal }));
  },
};

type Calls = Pick<CreateRequest, 'create' | 'get' | 'list'>;

async function createResource(
  { ids, project, signal }: ActionContext,
  kind: Parameters<ResourceIds['set']>[0],
  body: { readonly name: string },
  before: readonly CreatedResource[],
  calls: Calls,
): Promise<void> {
  const { name } = body;
  const seen = before.filter((one) => one.name === name).map(({ id }) => id);
  ids.set(
    kind,
    name,
    await createIdempotently({ keyParts: [project, kind, name, body], name, seen, signal, ...calls }),
  );
}

/** Writes only the labels that differ from those that were compared. */
async function changeLabels(hands: ActionContext, id: string, labels: Labels): Promise<void> {
  const before = hands.actual.servers.find((server) => server.id === id)?.labels ?? {};
  await updateLabels(hands, id, (now) => mergeLabels(now, before, labels));
}

async function getAttachedServer(volume: string, { skerry, signal }: ActionContext): Promise<string | null> {
  return (await skerry.volumes.get(volume, { signal })).attached_to;
}

/** Succeeds if the volume is already detached. */
async function detach(volume: string, hands: ActionContext): Promise<void> {
  if ((await getAttachedServer(volume, hands)) === null) return;
  const idempotencyKey = `apply-${hands.nonce}-detach-${volume}`;
  try {
    await hands.skerry.volumes.detach(volume, { signal: hands.signal, idempotencyKey });
  } catch (error) {
    if (!isApiError(error, 'conflict_state') || (await getAttachedServer(volume, hands)) !== null)
      throw error;
  }
}

function createServerBody(
  act: Extract<ExecutableAction, { do: 'create_server' }>,
  ids: ResourceIds,
): CreateServer {
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
    ...userDataField(server),
  };
}

function userDataField({ userData: data }: WantedServer): { readonly user_data_b64?: string } {
  return data ? { user_data_b64: data.base64 } : {};
}

function keyIds({ sshKeys }: WantedServer, ids: ResourceIds): string[] {
  return [...new Set(sshKeys.map((key) => ids.get('ssh_key', key)))];
}

/** The same action in the same run has the same key. */
function callOptions(act: ExecutableAction, { nonce, signal }: ActionContext): CallOptions {
  const digest = createHash('sha256').update(JSON.stringify(act)).digest('base64url');
  return { signal, idempotencyKey: `apply-${nonce}-${act.do}-${digest}` };
}

/** Succeeds if the resource is already deleted. */
async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
  }
}
