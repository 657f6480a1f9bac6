import type { CreateServer, Server, UpdateServer } from '@skerry/sdk';
import { InitFailed } from '../rpc/failure.ts';
import type { Values } from '../rpc/values.ts';
import { findImage, imageOf } from './images.ts';
import {
  bodyOf,
  type Call,
  type Created,
  FLAG,
  findOrNull,
  INTEGER,
  type Input,
  LABELS,
  NAME,
  type Output,
  PROTECTION,
  type Resource,
  TEXT,
  TEXTS,
  typeRef,
  waitUntilGone,
} from './resource.ts';

const INPUTS: Readonly<Record<string, Input>> = {
  name: NAME,
  plan: { shape: TEXT, about: 'ID of the plan.', required: true, change: 'replace' },
  region: { shape: TEXT, about: 'Code of the region.', required: true, change: 'replace' },
  image: {
    shape: TEXT,
    about: 'Image: an ID, a name such as `debian-13`, or a family for its newest version.',
    required: true,
    change: 'replace',
  },
  sshKeys: {
    shape: TEXTS,
    about: 'IDs of SSH keys, which are installed with the image.',
    required: true,
    change: 'replace',
    compare: 'set',
  },
  tags: { shape: TEXTS, about: 'Tags. Replaces all tags.', change: 'update', compare: 'set' },
  labels: LABELS,
  userData: { shape: TEXT, about: 'cloud-init user data.', change: 'replace', secret: true },
  billingMonths: { shape: INTEGER, about: 'Months paid in advance: 1, 3, 6, or 12.', change: 'replace' },
  autoRenew: { shape: FLAG, about: 'Whether the next cycle is charged automatically.', change: 'update' },
  protection: PROTECTION,
  firewallGroups: {
    shape: TEXTS,
    about: 'IDs of firewall groups. They filter a new server from its first packet on.',
    change: 'update',
    compare: 'set',
  },
  rdns: {
    shape: typeRef('Rdns'),
    about: 'Host names of the addresses. Members that you omit stay unchanged.',
    change: 'update',
    compare: 'members',
  },
  maxPriceUsd: {
    shape: { type: 'number' },
    about: 'A new server whose first cycle costs more is not ordered.',
    change: 'order',
  },
};

const OUTPUTS: Readonly<Record<string, Output>> = {
  status: { shape: TEXT, about: 'Status when the server was last read.' },
  ipv4: { shape: TEXT, about: 'IPv4 address.' },
  ipv6: { shape: TEXT, about: 'IPv6 address.' },
  imageId: { shape: TEXT, about: 'ID of the installed image.' },
  paidUntil: { shape: TEXT, about: 'End of the current billing cycle.' },
  priceUsdCycle: { shape: { type: 'number' }, about: 'Price of a billing cycle in US dollars.' },
};

const ORDERED = ['name', 'plan', 'region', 'sshKeys', 'tags', 'labels', 'billingMonths', 'autoRenew'];
const PATCHED = ['name', 'tags', 'labels', 'autoRenew', 'protection'];

export const server: Resource = {
  type: 'skerry:index:Server',
  about:
    'A virtual or dedicated server. A new one charges its first billing cycle, and so does a replacement. ' +
    'A replacement has new addresses and an empty disk.',
  inputs: INPUTS,
  outputs: OUTPUTS,
  create,
  read: async (call, id, state) => {
    const found = await findServer(call, id);
    return found && (await valuesOf(call, found, state));
  },
  update,
  delete: async (call, id) => {
    const { skerry, signal } = call;
    if ((await findOrNull(skerry.servers.delete(id, { signal }))) === null) return;
    await waitUntilGone(call, `server ${id}`, () => findOrNull(skerry.servers.get(id, { signal })));
  },
};

async function create(call: Call, inputs: Values): Promise<Created> {
  const { skerry, signal, timeoutMs } = call;
  const { userData, maxPriceUsd, rdns } = inputs;
  const image = await findImage(call, String(inputs.image));
  const body: CreateServer = {
    ...bodyOf<CreateServer>(inputs, [...ORDERED, 'protection', 'firewallGroups']),
    image,
    ...(typeof userData === 'string' ? { user_data_b64: Buffer.from(userData).toString('base64') } : {}),
    ...(typeof maxPriceUsd === 'number' ? { max_price_usd: maxPriceUsd } : {}),
  };
  const ordered = await skerry.servers.create(body, { signal });
  // From here on, the server is paid for: a failure must not lose its ID.
  try {
    await skerry.waitFor(ordered, 'running', { signal, timeoutMs });
    if (rdns !== undefined) await skerry.servers.setRdns(ordered.id, rdns as object, { signal });
    const running = await skerry.servers.get(ordered.id, { signal });
    return { id: ordered.id, state: await valuesOf(call, running, { ...inputs, imageId: image }) };
  } catch (error) {
    const { rdns: _notSet, ...set } = inputs;
    throw new InitFailed(ordered.id, { ...set, status: ordered.status, imageId: image }, error);
  }
}

async function update({ skerry, signal }: Call, id: string, changed: Values, state: Values): Promise<void> {
  const body = bodyOf<UpdateServer>(changed, PATCHED);
  if (Object.keys(body).length > 0) await skerry.servers.update(id, body, { signal });
  if (changed.rdns !== undefined) await skerry.servers.setRdns(id, changed.rdns as object, { signal });
  if (changed.firewallGroups === undefined) return;
  const wanted = new Set(changed.firewallGroups as readonly string[]);
  const current = new Set((state.firewallGroups ?? []) as readonly string[]);
  // Add first, so that the server is filtered at any time.
  for (const group of wanted) {
    if (!current.has(group)) await skerry.firewallGroups.update(group, { attach: [id] }, { signal });
  }
  for (const group of current) {
    if (wanted.has(group)) continue;
    await findOrNull(skerry.firewallGroups.update(group, { detach: [id] }, { signal }));
  }
}

/** A server that is being deleted no longer exists for the program. */
async function findServer({ skerry, signal }: Call, id: string): Promise<Server | null> {
  const found = await findOrNull(skerry.servers.get(id, { signal }));
  return found?.status === 'destroying' ? null : found;
}

async function valuesOf({ skerry, signal }: Call, found: Server, state: Values): Promise<Values> {
  const groups = await skerry.firewallGroups.list({}, { signal }).all();
  const { ipv4, ipv6, protection } = found;
  return {
    name: found.name,
    plan: found.plan,
    region: found.region,
    image: imageOf(found, state),
    sshKeys: found.ssh_keys,
    tags: found.tags,
    labels: found.labels,
    ...(state.userData === undefined ? {} : { userData: state.userData }),
    billingMonths: found.billing_months,
    autoRenew: found.auto_renew,
    protection: { delete: protection.delete, rebuild: protection.rebuild },
    firewallGroups: groups.filter(({ applied_to }) => applied_to.includes(found.id)).map(({ id }) => id),
    rdns: { ipv4: ipv4?.rdns ?? null, ipv6: ipv6?.rdns ?? null },
    ...(state.maxPriceUsd === undefined ? {} : { maxPriceUsd: state.maxPriceUsd }),
    status: found.status,
    ipv4: ipv4?.address ?? null,
    ipv6: ipv6?.address ?? null,
    imageId: found.image,
    paidUntil: found.paid_until,
    priceUsdCycle: found.price_usd_cycle,
  };
}
