import type { CreateServer, Server, UpdateServer } from '@skerry/sdk';
import { InitFailed } from '../rpc/failure.ts';
import { isMap, type Values } from '../rpc/values.ts';
import { backupsBody, checkBackups, readBackups, replaceBackups } from './backups.ts';
import { findImage, imageOf } from './images.ts';
import {
  bodyOf,
  type Call,
  type Change,
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
  plan: {
    shape: TEXT,
    about: 'ID of the plan. With `allowRestart`, another plan resizes the server.',
    required: true,
    change: 'replace',
  },
  region: { shape: TEXT, about: 'Code of the region.', required: true, change: 'replace' },
  image: {
    shape: TEXT,
    about:
      'Image: an ID, a name such as `debian-13`, or a family for its newest version. ' +
      'Or the ID of a snapshot of the region.',
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
  backups: {
    shape: typeRef('Backups'),
    about: 'Backups on a schedule. Members that you omit stay unchanged.',
    change: 'update',
    compare: 'members',
  },
  start: {
    shape: FLAG,
    about: 'Whether a new server is started. If not, its first start sets it up. Default: true.',
    change: 'order',
  },
  volumes: {
    shape: TEXTS,
    about: 'IDs of detached volumes of the region, attached to a new server.',
    change: 'order',
    compare: 'set',
  },
  allowRestart: {
    shape: FLAG,
    about: 'Whether another plan resizes the server instead of replacing it. It restarts if it is running.',
    change: 'order',
  },
  maxPriceUsd: {
    shape: { type: 'number' },
    about: 'An order, a resize, or turning on backups charges nothing if it costs more.',
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
/** Inputs that the service does not return. */
const KEPT = ['userData', 'start', 'volumes', 'allowRestart', 'maxPriceUsd'];
const PATCHED = ['name', 'tags', 'labels', 'autoRenew', 'protection'];

export const server: Resource = {
  type: 'skerry:index:Server',
  about:
    'A virtual or dedicated server. A new one charges its first billing cycle, and so does a replacement. ' +
    'A replacement has new addresses and an empty disk.',
  inputs: INPUTS,
  outputs: OUTPUTS,
  check: checkBackups,
  updatedInPlace: ({ allowRestart }) => (allowRestart === true ? ['plan'] : []),
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
  const { userData, maxPriceUsd, rdns, backups } = inputs;
  const image = await findImage(call, String(inputs.image));
  const body: CreateServer = {
    ...bodyOf<CreateServer>(inputs, [...ORDERED, 'protection', 'firewallGroups', 'start', 'volumes']),
    image,
    ...(typeof userData === 'string' ? { user_data_b64: Buffer.from(userData).toString('base64') } : {}),
    ...(isMap(backups) ? { backups: backupsBody(backups) } : {}),
    ...(typeof maxPriceUsd === 'number' ? { max_price_usd: maxPriceUsd } : {}),
  };
  const ordered = await skerry.servers.create(body, { signal });
  // From here on, the server is paid for: a failure must not lose its ID.
  try {
    const end = inputs.start === false ? 'stopped' : 'running';
    await skerry.waitFor(ordered, end, { signal, timeoutMs });
    if (rdns !== undefined) await skerry.servers.setRdns(ordered.id, rdns as object, { signal });
    const found = await skerry.servers.get(ordered.id, { signal });
    return { id: ordered.id, state: await valuesOf(call, found, { ...inputs, imageId: found.image }) };
  } catch (error) {
    const { rdns: _notSet, ...set } = inputs;
    throw new InitFailed(ordered.id, { ...set, status: ordered.status, imageId: ordered.image }, error);
  }
}

async function update(call: Call, id: string, { changed, inputs, state }: Change): Promise<void> {
  const { skerry, signal } = call;
  const body = bodyOf<UpdateServer>(changed, PATCHED);
  if (Object.keys(body).length > 0) await skerry.servers.update(id, body, { signal });
  if (changed.rdns !== undefined) await skerry.servers.setRdns(id, changed.rdns as object, { signal });
  if (changed.firewallGroups !== undefined) {
    const [wanted, current] = [changed.firewallGroups, state.firewallGroups ?? []];
    await replaceGroups(call, id, wanted as readonly string[], current as readonly string[]);
  }
  const maxPriceUsd = typeof inputs.maxPriceUsd === 'number' ? inputs.maxPriceUsd : undefined;
  if (typeof changed.plan === 'string') await resize(call, id, changed.plan, maxPriceUsd);
  // After the resize: their price is a part of that of the plan.
  if (isMap(changed.backups)) await replaceBackups(call, id, changed.backups, maxPriceUsd);
}

async function replaceGroups(
  { skerry, signal }: Call,
  id: string,
  wanted: readonly string[],
  current: readonly string[],
): Promise<void> {
  // Add first, so that the server is filtered at any time.
  for (const group of wanted) {
    if (!current.includes(group)) await skerry.firewallGroups.update(group, { attach: [id] }, { signal });
  }
  for (const group of current) {
    if (wanted.includes(group)) continue;
    await findOrNull(skerry.firewallGroups.update(group, { detach: [id] }, { signal }));
  }
}

/** Keeps the size of the disk, so that the server can get its previous plan again. */
async function resize(call: Call, id: string, plan: string, maxPriceUsd: number | undefined): Promise<void> {
  const { skerry, signal, timeoutMs } = call;
  const found = await skerry.servers.get(id, { signal });
  const limit = maxPriceUsd === undefined ? {} : { max_price_usd: maxPriceUsd };
  // An earlier update may have begun the resize, and not waited for its end.
  const { action } =
    found.plan === plan
      ? found
      : await skerry.servers.resize(id, { plan, restart: true, ...limit }, { signal });
  if (action?.command === 'server.resize') await skerry.waitForAction(action, { signal, timeoutMs });
}

/** A server that is being deleted no longer exists for the program. */
async function findServer({ skerry, signal }: Call, id: string): Promise<Server | null> {
  const found = await findOrNull(skerry.servers.get(id, { signal }));
  return found?.status === 'destroying' ? null : found;
}

async function valuesOf(call: Call, found: Server, state: Values): Promise<Values> {
  const { skerry, signal } = call;
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
    billingMonths: found.billing_months,
    autoRenew: found.auto_renew,
    protection: { delete: protection.delete, rebuild: protection.rebuild },
    firewallGroups: groups.filter(({ applied_to }) => applied_to.includes(found.id)).map(({ id }) => id),
    rdns: { ipv4: ipv4?.rdns ?? null, ipv6: ipv6?.rdns ?? null },
    backups: await readBackups(call, found.id, state),
    ...Object.fromEntries(KEPT.flatMap((name) => (state[name] === undefined ? [] : [[name, state[name]]]))),
    status: found.status,
    ipv4: ipv4?.address ?? null,
    ipv6: ipv6?.address ?? null,
    imageId: found.image,
    paidUntil: found.paid_until,
    priceUsdCycle: found.price_usd_cycle,
  };
}
