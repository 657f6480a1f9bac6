/** Prepares a deploy: the order, the server that it makes, and the record of the statement. */
import { formatId, newId, newPublicNumber } from '../../../kernel/ids.ts';
import type { CycleMonths } from '../../../spec/limits.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { NO_ACTION, type ShownAction } from '../../../store/actions.ts';
import type { DeployRow } from '../../../store/servers/deploy.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { newAction } from '../../actions/begin.ts';
import type { PriceLimit } from '../../billing/quotes/limits.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { ledgerEntryObject } from '../../ledger/object.ts';
import { HOUSE } from '../../ledger/transfer.ts';
import type { WantedBackups } from '../../snapshots/backups/wanted.ts';
import { cycleEntryText, type PricedCycle, priceColumns, priceOrder } from '../billing/price.ts';
import { serverObject } from '../object.ts';
import type { OrderedVolumes } from './with-volumes.ts';

/** A validated order: plan, region, and image exist and fit each other. */
export interface DeployOrder {
  readonly name: string;
  readonly plan: {
    readonly id: string;
    readonly category: 'vps' | 'dedicated';
    readonly ram_mb: number;
    readonly disk_gb: number;
    readonly host_tags: readonly string[];
    readonly price_cents_month: bigint;
    readonly backup_percent: number;
  };
  readonly regionId: string;
  readonly imageId: string;
  readonly imageType: 'official' | 'custom';
  /** Null: from the image. */
  readonly snapshotId?: string | null;
  readonly volumes?: OrderedVolumes;
  readonly backups?: WantedBackups | undefined;
  readonly sshKeys: readonly { readonly id: string; readonly publicKey: string }[];
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly protection?: { readonly delete?: boolean; readonly rebuild?: boolean } | undefined;
  readonly billingMonths: CycleMonths;
  readonly autoRenew: boolean;
  /** False: it is created stopped. */
  readonly start?: boolean | undefined;
  /** crypt(3) hash; null: only keys sign in. */
  readonly rootPasswordHash: string | null;
  readonly userData: Uint8Array | null;
  readonly eurPerUsd: string | null;
  /** Id of the machine that was set up by hand for this order; absent when a driver installs the server. */
  readonly machineId?: string;
  /** The draft that the order ends. */
  readonly draftId?: string | undefined;
  /** The prices that are accepted. */
  readonly priceLimits?: readonly PriceLimit[];
}

export function hasBackups({ backups }: Pick<DeployOrder, 'backups'>): boolean {
  return backups?.enabled ?? false;
}

export function volumeNeeds({
  volumes,
}: Pick<DeployOrder, 'volumes'>): Pick<DeployRow, 'volume_ids' | 'only_backend'> {
  return { volume_ids: volumes?.ids ?? [], only_backend: volumes?.backend ?? null };
}

/** Prepares the server, as it is until it has addresses, and the record that deploys it. */
export function prepareDeploy(
  service: Service,
  actor: CustomerActor,
  order: DeployOrder,
): { server: ServerRow; row: DeployRow } {
  const now = service.clock.now();
  const price = priceOrder({ ...order, hasBackups: hasBackups(order) }, now);
  const id = newId(now);
  const action = prepareAction(id, actor, order, now);
  const server = { ...prepareServer(id, actor, { order, price }, now), ...action.shown };
  const row: DeployRow = {
    ...server,
    ssh_public_keys: order.sshKeys.map((key) => key.publicKey),
    eur_per_usd: order.eurPerUsd,
    anchor_day: price.anchorDay,
    ...sealInputs(service, server.id, order),
    category: order.plan.category,
    host_tags: order.plan.host_tags,
    machine_id: order.machineId ?? null,
    snapshot_id: order.snapshotId ?? null,
    ...volumeNeeds(order),
    now,
    servers_max: service.settings.quotas.servers,
    limit_chain: actor.limits?.chain ?? null,
    ...action.written,
    ...prepareCharge(server, cycleEntryText(price.description, price)),
    ...prepareRecords(server, actor),
  };
  return { server, row };
}

/** The server as it is until it has addresses, without its action. */
function prepareServer(
  id: string,
  { customerId }: CustomerActor,
  { order, price }: { readonly order: DeployOrder; readonly price: PricedCycle },
  now: Date,
): Omit<ServerRow, keyof ShownAction> {
  return {
    id,
    public_no: newPublicNumber(),
    customer_id: customerId,
    name: order.name,
    status: 'provisioning',
    suspended_reason: null,
    plan_id: order.plan.id,
    region_id: order.regionId,
    image_id: order.imageId,
    image_type: order.imageType,
    iso_image_id: null,
    boot: 'disk',
    host_id: null,
    machine_id: null,
    ram_mb: order.plan.ram_mb,
    disk_gb: order.plan.disk_gb,
    // Decided by the statement.
    shared_disk: false,
    ssh_keys: order.sshKeys.map((key) => key.id),
    tags: [...order.tags],
    labels: { ...order.labels },
    protect_delete: order.protection?.delete ?? false,
    protect_rebuild: order.protection?.rebuild ?? false,
    never_started: order.start === false,
    rdns: {},
    billing_months: order.billingMonths,
    auto_renew: order.autoRenew,
    ...priceColumns(price),
    paid_until: price.paidUntil,
    paid_from: null,
    paid_cents: null,
    priced_at: null,
    suspended_at: null,
    resume_to: null,
    held_at: null,
    frozen_at: null,
    throttled: false,
    first_run_at: null,
    created_at: now,
    updated_at: now,
    ipv4: null,
    ipv4_gateway: null,
    ipv6_prefix: null,
  };
}

/** The action of the order. A machine that was set up by hand needs no work, and shows none. */
function prepareAction(serverId: string, actor: CustomerActor, { machineId }: DeployOrder, now: Date) {
  const ids = { customerId: actor.customerId, resourceId: serverId, serverId };
  const row = newAction({ ...ids, command: 'server.create', operationStep: 'ensure', actor, now });
  const { id, command, progress, steps, step_times } = row;
  const shown: ShownAction =
    machineId === undefined
      ? { action_id: id, action_command: command, action_progress: progress }
      : { ...NO_ACTION, action_progress: 0 };
  return { shown, written: { operation_id: id, action_steps: steps, action_step_times: step_times } };
}

function sealInputs(
  { keys }: Service,
  id: string,
  { rootPasswordHash, userData }: DeployOrder,
): Pick<DeployRow, 'root_password_sealed' | 'user_data_sealed'> {
  return {
    root_password_sealed: rootPasswordHash && keys.seal(SEALED.rootPassword, id, rootPasswordHash),
    user_data_sealed: userData && keys.seal(SEALED.userData, id, userData),
  };
}

function prepareCharge(
  server: ServerRow,
  description: string,
): Pick<DeployRow, 'revenue_account' | 'transfer_id' | 'description' | 'charged_event_id' | 'charged_event'> {
  const transferId = newId(server.created_at);
  const entry = ledgerEntryObject({
    id: transferId,
    type: 'charge',
    amountCents: -server.price_cents_cycle,
    balanceAfterCents: 0n,
    resource: { kind: 'server', id: server.id },
    description,
    createdAt: server.created_at,
  });
  return {
    revenue_account: HOUSE.revenue,
    transfer_id: transferId,
    description,
    // One millisecond later than the other event's, so that the two ids are ordered.
    charged_event_id: newId(new Date(server.created_at.getTime() + 1)),
    charged_event: { ledger_entry: entry },
  };
}

function prepareRecords(server: ServerRow, actor: CustomerActor) {
  return {
    audit_id: newId(server.created_at),
    resource: formatId('server', server.id),
    actor_token: actor.tokenId,
    actor_session: actor.sessionId,
    request_id: actor.requestId,
    ip_country: actor.ipCountry,
    created_event_id: newId(server.created_at),
    created_event: { server: serverObject(server) },
  };
}
