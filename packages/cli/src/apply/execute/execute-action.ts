/** Runs one action. An action may run twice; a resource is created once across all runs of a plan. */
import { createHash } from 'node:crypto';
import {
  type CallOptions,
  type CreateAlert,
  type CreateServer,
  isApiError,
  type Pages,
  type RebuildServer,
} from '@skerry/sdk';
import { nullIf } from '../../find.ts';
import { ROUNDING_USD } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import type { WantedServer } from '../desired.ts';
import { mergeLabels, updateLabels, userDataDigest, withPending } from '../labels.ts';
import type { Action, Labels } from '../plan/plan.ts';
import { type CreatedResource, createIdempotently } from './create-idempotently.ts';
import type { FirewallMembers } from './firewall-members.ts';
import type { ServerStopper } from './server-stopper.ts';
import type { ResourceIds, RunContext } from './state.ts';

export interface ActionContext extends Omit<RunContext, 'terminal' | 'noWait' | 'timeoutMs'> {
  readonly ids: ResourceIds;
  readonly firewallMembers: FirewallMembers;
  readonly stopper: ServerStopper;
  readonly project: string;
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
    const body = { name: key.name, public_key: key.publicKey };
    await createResource(hands, 'ssh_key', body, hands.actual.keys, hands.skerry.sshKeys);
  },
  create_group: async ({ group }, hands) => {
    const { name, defaultAction, rules = [] } = group;
    const body = { name, default_action: defaultAction, rules: [...rules] };
    await createResource(hands, 'firewall_group', body, hands.actual.groups, hands.skerry.firewallGroups);
  },
  update_group: async ({ group, defaultAction }, { skerry, ids, signal }) => {
    const id = ids.get('firewall_group', group);
    await skerry.firewallGroups.update(id, { default_action: defaultAction }, { signal });
  },
  replace_rules: async ({ group, rules }, { skerry, ids, signal }) => {
    await skerry.firewallRules.replace(ids.get('firewall_group', group), { rules: [...rules] }, { signal });
  },
  create_volume: async ({ volume }, hands) => {
    const { name, sizeGb: size_gb, region, encrypted, filesystem, protection } = volume;
    const body = { name, size_gb, region, ...omitUndefined({ encrypted, filesystem, protection }) };
    await createResource(hands, 'volume', body, hands.actual.volumes, hands.skerry.volumes);
  },
  update_volume: async ({ volume, patch }, { skerry, ids, signal }) => {
    await skerry.volumes.update(ids.get('volume', volume), patch, { signal });
  },
  update_server: async ({ id, patch }, hands) => {
    const { labels, ...others } = patch;
    if (Object.keys(others).length > 0)
      await hands.skerry.servers.update(id, others, { signal: hands.signal });
    if (labels) await changeLabels(hands, id, labels);
  },
  set_backups: async ({ id, policy }, { skerry, actual, signal }) => {
    // No more than the plan shows.
    const max_price_usd = (actual.backups?.get(id)?.price_usd_now ?? 0) + ROUNDING_USD;
    const body = policy.enabled ? { ...policy, max_price_usd } : policy;
    await skerry.backupPolicies.replace(id, body, { signal });
  },
  mark_replaced: async ({ id, labels }, hands) => {
    await changeLabels(hands, id, labels);
  },
  create_server: async (act, hands) => {
    const body = createServerBody(act, hands.ids);
    await createResource(hands, 'server', body, hands.actual.servers, hands.skerry.servers);
  },
  rebuild_server: async (act, hands) => {
    const { id, image, labels, labelsBefore, server } = act;
    const body: RebuildServer = { image, ssh_keys: keyIds(server, hands.ids), ...userDataField(server) };
    await hands.skerry.servers.rebuild(id, body, callOptions(act, hands));
    const pending = { before: userDataDigest(labelsBefore), after: userDataDigest(labels) };
    await updateLabels(hands, id, (now) => withPending(now, pending));
  },
  resize_server: async (act, hands) => {
    const { id, plan } = act;
    // No more than the plan shows.
    const max_price_usd = hands.actual.resizes?.get(id)?.due_now_usd ?? 0;
    const body = { plan, restart: true, max_price_usd };
    const begun = await hands.skerry.servers.resize(id, body, callOptions(act, hands));
    await hands.stopper.waitForResize(begun);
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
    const id = hands.ids.get('server', act.server);
    await hands.skerry.servers.setRdns(id, act.rdns, callOptions(act, hands));
  },
  create_alert: async ({ alert }, hands) => {
    const { name, metric, compare, value, window, servers, labelSelector, enabled } = alert;
    const watched = servers
      ? { servers: serverIds(servers, hands.ids) }
      : { label_selector: labelSelector ?? '' };
    const body = { name, metric, ...omitUndefined({ compare, value, window, enabled }), ...watched };
    await createResource(hands, 'alert', body as CreateAlert, hands.actual.alerts, hands.skerry.alerts);
  },
  update_alert: async ({ alert, patch, servers }, { skerry, ids, signal }) => {
    const watched = servers ? { servers: serverIds(servers, ids) } : {};
    await skerry.alerts.update(ids.get('alert', alert), { ...patch, ...watched }, { signal });
  },
  delete_alert: async ({ id }, { skerry, signal }) => {
    await nullIf('not_found', skerry.alerts.delete(id, { signal }));
  },
  delete_group: async ({ id }, { skerry, signal, firewallMembers }) => {
    const deleted = firewallMembers.removeAll(id).then(() => skerry.firewallGroups.delete(id, { signal }));
    await nullIf('not_found', deleted);
  },
  delete_volume: async ({ id }, hands) => {
    const { skerry, signal } = hands;
    await nullIf(
      'not_found',
      detach(id, hands).then(() => skerry.volumes.delete(id, { signal })),
    );
  },
  destroy_server: async ({ id }, { skerry, signal }) => {
    await nullIf('not_found', skerry.servers.delete(id, { signal }));
  },
};

/** A kind of resource in the SDK. */
interface Resource<Body> {
  create(body: Body, call: CallOptions): Promise<CreatedResource>;
  get(id: string, call: CallOptions): Promise<CreatedResource>;
  list(query: object, call: CallOptions): Pages<CreatedResource>;
}

async function createResource<Body extends { readonly name: string }>(
  { ids, project, signal }: ActionContext,
  kind: Parameters<ResourceIds['set']>[0],
  body: Body,
  before: readonly CreatedResource[],
  resource: Resource<Body>,
): Promise<void> {
  const { name } = body;
  const id = await createIdempotently({
    keyParts: [project, kind, name, body],
    name,
    seen: before.filter((one) => one.name === name).map((one) => one.id),
    signal,
    create: (call) => resource.create(body, call),
    get: (wanted) => resource.get(wanted, { signal }),
    list: () => resource.list({}, { signal }).all(),
  });
  ids.set(kind, name, id);
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
  const volumes = act.volumes.map((name) => ids.get('volume', name));
  const firewall_groups = act.groups.map((name) => ids.get('firewall_group', name));
  return {
    name: server.name,
    plan: server.plan,
    region: server.region,
    image,
    ssh_keys: keyIds(server, ids),
    labels: { ...labels },
    billing_months: months,
    ...omitUndefined({
      tags: server.tags && [...server.tags],
      auto_renew: server.autoRenew,
      protection: server.protection,
      start: server.start,
      backups: server.backups,
    }),
    ...(volumes.length > 0 ? { volumes } : {}),
    ...(firewall_groups.length > 0 ? { firewall_groups } : {}),
    ...userDataField(server),
  };
}

function userDataField({ userData: data }: WantedServer): { readonly user_data_b64?: string } {
  return data ? { user_data_b64: data.base64 } : {};
}

function keyIds({ sshKeys }: WantedServer, ids: ResourceIds): string[] {
  return [...new Set(sshKeys.map((key) => ids.get('ssh_key', key)))];
}

function serverIds(names: readonly string[], ids: ResourceIds): string[] {
  return names.map((name) => ids.get('server', name));
}

/** The same action in the same run has the same key. */
function callOptions(act: ExecutableAction, { nonce, signal }: ActionContext): CallOptions {
  const digest = createHash('sha256').update(JSON.stringify(act)).digest('base64url');
  return { signal, idempotencyKey: `apply-${nonce}-${act.do}-${digest}` };
}
