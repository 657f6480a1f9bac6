/** POST /servers: resolves and checks what the body names, then deploys it like any other order. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { formatId, parseId, readCode } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { PartialOrder } from '../../../spec/schemas/quote.ts';
import type { Server, ServerBody } from '../../../spec/schemas/server.ts';
import { deleteOrderDraft } from '../../../store/customers/order-drafts.ts';
import { type ResolvedOrder, resolveOrder } from '../../../store/servers/orders.ts';
import { findSshKeyByFingerprint, type SshKeyRow } from '../../../store/ssh-keys.ts';
import { type PriceLimit, readPriceLimits, type ShownPrice } from '../../billing/quotes/limits.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { applyToNewServer } from '../../firewall/applied-to.ts';
import { findUsableImage, requireBaseImage } from '../../images/installable.ts';
import { imageRemovalCutoff, readImageId } from '../../images/read.ts';
import { storeSshKey } from '../../ssh-keys/change.ts';
import { requireInsideNew, requireOperation } from '../../tokens/limits/active.ts';
import { driverCapabilities } from '../hardware.ts';
import { serverObject } from '../object.ts';
import { type Deployed, deploy } from './deploy.ts';
import { readOrderedSnapshot, requireStillThere } from './from-snapshot.ts';
import { hashRootPassword, readUserData, requireRootPassword, requireTagCount } from './inputs.ts';
import type { DeployOrder } from './prepare.ts';
import { beginBackups, readOrderedBackups } from './with-backups.ts';
import { attachToNewServer, type OrderedVolumes, readOrderedVolumes } from './with-volumes.ts';

/** An order, and the draft that it ends. */
type OrderBody<Body = ServerBody> = Body & ShownPrice & { readonly draft?: string };

/**
 * Creates a server for the customer. Refuses with 400 on `user_data_b64`; with `unknown_reference` for what
 * the customer cannot see, with `unavailable` for what they cannot order, with `limit_reached`,
 * `insufficient_balance`, and with `price_changed` above a limit in the body.
 */
export async function createServer(service: Service, actor: CustomerActor, body: OrderBody): Promise<Server> {
  const userData = readUserData(body.user_data_b64);
  const order = await readOrder(service, actor, body, userData);
  return await placeOrder(service, actor, order, body.firewall_groups);
}

/**
 * Creates a server with the keys in the body and a key from `prepareSshKey`, which is stored in the same
 * commit. A key that the customer already has is used instead of a copy.
 */
export async function createServerWithNewKey(
  service: Service,
  actor: CustomerActor,
  body: OrderBody,
  newKey: SshKeyRow,
): Promise<Server> {
  const stored = await findSshKeyByFingerprint(service.db, actor.customerId, newKey.fingerprint);
  const ids = stored ? [...body.ssh_keys, formatId('sshKey', stored.id)] : body.ssh_keys;
  const order = await readOrder(service, actor, { ...body, ssh_keys: ids }, readUserData(body.user_data_b64));
  if (stored) return await placeOrder(service, actor, order, body.firewall_groups);
  const sshKeys = [...order.sshKeys, { id: newKey.id, publicKey: newKey.public_key }];
  return await placeOrder(service, actor, { ...order, sshKeys }, body.firewall_groups, newKey);
}

/** Creates a server with a root password instead of keys. Also refuses with `bad_password`. */
export async function createServerWithPassword(
  service: Service,
  actor: CustomerActor,
  body: OrderBody<Omit<ServerBody, 'ssh_keys'>>,
  rootPassword: string,
): Promise<Server> {
  const userData = readUserData(body.user_data_b64);
  requireRootPassword(rootPassword);
  const order = await readOrder(service, actor, { ...body, ssh_keys: [] }, userData);
  if (order.imageType === 'custom') {
    fail('unavailable', { field: 'image' }, 'A custom image takes no root password. Use SSH keys instead.');
  }
  const rootPasswordHash = await hashRootPassword(service, actor, order, rootPassword);
  return await placeOrder(service, actor, { ...order, rootPasswordHash }, body.firewall_groups);
}

async function placeOrder(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
  groups: readonly string[] = [],
  newKey: SshKeyRow | null = null,
): Promise<Server> {
  const { snapshotId = null, volumes, backups, draftId } = order;
  const hasVolumes = volumes !== undefined && volumes.ids.length > 0;
  const custom = order.imageType === 'custom' && snapshotId === null;
  async function finish(tx: Sql, deployed: Deployed): Promise<void> {
    // The image may have been deleted since it was read; this check locks it until the commit.
    if (custom && !(await isUsable(tx, actor, order.imageId))) unknownReference('image');
    if (snapshotId !== null) await requireStillThere(tx, actor.customerId, snapshotId);
    const { id, created_at: now } = deployed.server;
    if (newKey) await storeSshKey(tx, service, actor, newKey);
    if (hasVolumes) await attachToNewServer(tx, service, actor, { id, now }, volumes);
    if (backups) await beginBackups(tx, actor, { id, now }, backups);
    if (groups.length > 0) await applyGroups(service, actor, tx, { order, deployed, groups });
    if (draftId !== undefined) await deleteOrderDraft(tx, actor.customerId, draftId);
  }
  const needsTransaction =
    custom ||
    newKey !== null ||
    snapshotId !== null ||
    hasVolumes ||
    backups !== undefined ||
    groups.length > 0 ||
    draftId !== undefined;
  const { server } = await deploy(service, actor, order, {
    finish: needsTransaction ? finish : undefined,
    respond: serverObject,
  });
  return serverObject(server);
}

async function applyGroups(
  service: Service,
  actor: CustomerActor,
  tx: Sql,
  created: { readonly order: DeployOrder; readonly deployed: Deployed; readonly groups: readonly string[] },
): Promise<void> {
  const { id, created_at: now } = created.deployed.server;
  const { category } = created.order.plan;
  await applyToNewServer(tx, service, actor, { id, category, now }, created.groups);
}

async function isUsable(tx: Sql, { customerId }: CustomerActor, imageId: string): Promise<boolean> {
  return (await findUsableImage(tx, customerId, formatId('customImage', imageId))) !== undefined;
}

/** Resolves what the body names and checks it for this customer. */
export async function readOrder(
  service: Service,
  actor: CustomerActor,
  body: OrderBody,
  userData: Buffer | null,
): Promise<DeployOrder> {
  const checked = await checkOrder(service, actor, body, userData);
  const { plan, facts, snapshotId, volumes, backups, sshKeys, priceLimits } = checked;
  const image = checked.image ?? unknownReference('image');
  return {
    name: body.name,
    plan,
    regionId: facts.region_id ?? unknownReference('region'),
    imageId: image.id,
    imageType: image.type,
    snapshotId,
    volumes,
    backups,
    sshKeys,
    tags: body.tags ?? [],
    labels: body.labels ?? {},
    protection: body.protection,
    billingMonths: body.billing_months ?? 1,
    autoRenew: body.auto_renew ?? true,
    start: body.start,
    rootPasswordHash: null,
    userData,
    eurPerUsd: null,
    priceLimits,
    draftId: body.draft === undefined ? undefined : parseId('orderDraft', body.draft),
  };
}

interface CheckedOrder extends Pick<DeployOrder, 'plan' | 'sshKeys' | 'backups'> {
  readonly priceLimits: readonly PriceLimit[];
  readonly facts: ResolvedOrder;
  /** That of the source, for an order from a snapshot. */
  readonly image: ReturnType<typeof readImageId>;
  readonly snapshotId: string | null;
  readonly volumes: OrderedVolumes;
}

/** Resolves and checks the parts that the order has. Refuses as `createServer` would for them. */
export async function checkOrder(
  service: Service,
  actor: CustomerActor,
  body: PartialOrder & ShownPrice,
  userData: Buffer | null,
): Promise<CheckedOrder> {
  const shownKeys = [...new Set(body.ssh_keys)];
  const keys = shownKeys.map((shown) => parseId('sshKey', shown));
  const image = body.image === undefined ? undefined : readImageId(body.image);
  const facts = await resolveOrder(service.reads, {
    customerId: actor.customerId,
    plan: readCode(body.plan) ?? null,
    region: readCode(body.region ?? '') ?? null,
    image: image ?? null,
    sshKeys: keys.filter((id) => id !== undefined),
    deprecationCutoff: imageRemovalCutoff(service.clock.now()),
  });
  const { plan_id: planId, region_id: region } = facts;
  if (planId === null) return unknownReference('plan');
  if (body.region !== undefined && facts.region_id === null) return unknownReference('region');
  const snapshot = await readOrderedSnapshot(service, actor, body.image, facts);
  if (body.image !== undefined && facts.image_id === null && !snapshot) return unknownReference('image');
  const sshKeys = keys.map(
    (id) => findOrderKey(facts, id) ?? unknownReference(`ssh_keys.${firstUnknown(body, facts)}`),
  );
  // An order does not go around limits on these.
  if (body.volumes?.length) requireOperation(actor.limits, 'volumes.attach');
  if (snapshot) requireOperation(actor.limits, 'servers.restore');
  requireInsideNew(actor.limits, { labels: body.labels ?? {}, ...(region === null ? {} : { region }) });
  requireCompatible(service, facts, image?.type);
  if (body.image !== undefined) requireCloudInit(snapshot ?? facts, userData);
  requireTagCount(service, body.tags ?? []);
  const volumes = await readOrderedVolumes(service, actor, body.volumes ?? [], facts);
  const backups = readOrderedBackups(service, actor, body.backups, facts.category);
  const priceLimits = readPriceLimits(service, actor, { operation: 'server.create', resource: null }, body);
  const source = snapshot && { id: snapshot.image_id, type: snapshot.image_type };
  const plan = { ...facts, id: planId };
  return {
    plan,
    facts,
    image: source ?? image,
    snapshotId: snapshot?.id ?? null,
    volumes,
    backups,
    sshKeys,
    priceLimits,
  };
}

function findOrderKey(
  facts: ResolvedOrder,
  id: string | undefined,
): { id: string; publicKey: string } | undefined {
  const index = id === undefined ? -1 : facts.key_ids.indexOf(id);
  const publicKey = facts.public_keys[index];
  return id === undefined || publicKey === undefined ? undefined : { id, publicKey };
}

function firstUnknown({ ssh_keys: shownKeys = [] }: PartialOrder, facts: ResolvedOrder): number {
  return shownKeys.findIndex((shown) => findOrderKey(facts, parseId('sshKey', shown)) === undefined);
}

/** Refuses a plan, region, and image that do not go together, as far as the order has them. */
function requireCompatible(
  service: Service,
  facts: ResolvedOrder,
  imageType: 'official' | 'custom' | undefined,
): void {
  if (facts.region_id !== null && !facts.offered) {
    fail(
      'unavailable',
      { field: 'plan' },
      'This plan is not sold in this region. Choose another region or another plan.',
    );
  }
  if (facts.deprecated) {
    fail(
      'unavailable',
      { field: 'image' },
      'This image is deprecated and cannot be used for new servers. Choose a newer one.',
    );
  }
  if (imageType === 'official') requireBaseImage(service, facts, facts);
  if (imageType === 'custom' && !driverCapabilities(service.compute, facts.category).customImages) {
    fail('unavailable', { field: 'image' }, 'This plan cannot boot custom images. Choose an official image.');
  }
}

function requireCloudInit(
  { cloud_init: hasCloudInit }: { cloud_init: boolean },
  userData: Buffer | null,
): void {
  if (userData !== null && !hasCloudInit) {
    fail(
      'invalid_value',
      { field: 'user_data_b64' },
      'This image has no cloud-init, so it cannot read user data. Leave it out or choose another image.',
    );
  }
}
