/** Task `lost_server`: settles a server whose host is lost, in one transaction. */
import { formatId, newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { wasAudited } from '../../../store/audit.ts';
import { findLossOfServer, type HostLoss } from '../../../store/inventory/lost-hosts.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { findMove } from '../../../store/servers/moves.ts';
import {
  deleteOperation,
  findServerOperation,
  type OperationRow,
} from '../../../store/servers/operations.ts';
import { findInstallDetails } from '../../../store/servers/reinstalls.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import { endAction, failure } from '../../actions/end.ts';
import { replaceOperation } from '../../actions/operations.ts';
import type { Service } from '../../context.ts';
import { releaseImage } from '../../images/remove.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { refundUnusedTime } from '../billing/charge.ts';
import { EMPTY_DRIVE, setIso } from '../iso/drive.ts';
import { isIsoKind } from '../iso/end.ts';
import { recordMoveEnd } from '../moves/steps.ts';
import { startRemoval } from '../operations/destroy.ts';
import { previousImageId, resizePayload, sealPayload } from '../operations/step-inputs.ts';
import { moneyBack, restorePreviousPlan } from '../resize/end.ts';
import { auditServer, moveServer, recordServerEvent } from '../transition.ts';

/** Until a legal hold is checked again. */
const HELD_WAIT_MS = 10 * MINUTE_MS;
/** Until the suspension of a server that is not paid is checked again. */
const SUSPENDED_WAIT_MS = 10 * MINUTE_MS;

export async function settleLostServer(service: Service, serverId: string): Promise<TaskResult> {
  const result = await service.db.transaction(async (tx): Promise<TaskResult> => {
    const server = await lockServer(tx, serverId);
    const loss = server && (await findLossOfServer(tx, serverId));
    // A removal under way ends without the host.
    if (!loss || server.status === 'destroying') return 'done';
    const operation = await findServerOperation(tx, serverId);
    if (server.held_at !== null) {
      if (operation?.kind === 'resize') return await endLostResize(tx, service, server, operation);
      if (operation) await endHeldOperation(tx, server, operation, service.clock.now());
      return { againMs: HELD_WAIT_MS };
    }
    // It has its previous plan, and is settled as such.
    if (operation?.kind === 'resize') return await endLostResize(tx, service, server, operation);
    const isPlacing = operation?.step === 'place';
    if (!isPlacing) await announceLoss(tx, server, loss, service.clock.now());
    // A shared disk is not lost: its server starts elsewhere in either case.
    if (loss.lost_servers === 'refund' && !server.shared_disk)
      await refundAndRemove(tx, service, server, loss);
    else if (isUnpaid(server, service.clock.now())) return await awaitPayment(tx, service, server, loss);
    else if (!isPlacing) await startRebuild(tx, service, server, loss);
    return 'done';
  });
  if (result === 'done') service.log.info({ server: formatId('server', serverId) }, 'lost server settled');
  service.wake();
  return result;
}

/** A resize under way has failed with its host. The task runs again without it. */
async function endLostResize(
  tx: Sql,
  service: Service,
  server: ServerRow,
  operation: Pick<OperationRow, 'id' | 'kind' | 'action_id' | 'payload_sealed'>,
): Promise<TaskResult> {
  const now = service.clock.now();
  const payload = resizePayload(service, operation);
  const { cents } = moneyBack(server, payload);
  await endAction(tx, operation.action_id, failure('host_failed', cents), now);
  await restorePreviousPlan(tx, server, payload, { diskGb: payload.previous.diskGb, now });
  const move = await findMove(tx, server.id);
  const isUnderWay = move?.state === 'copying' || move?.state === 'switched';
  await auditServer(tx, server, 'server.resize', now, 'error');
  if (move && isUnderWay) {
    const state = move.state === 'switched' ? 'moved' : 'kept';
    await recordMoveEnd(tx, move, { state, fault: 'the host is lost', now });
  }
  await deleteOperation(tx, operation.id);
  return { againMs: 0 };
}

/**
 * Ends an operation of a server that stays on the host, which would wait for it. An install under way stays
 * until a legal hold is lifted: the server has no other state to return to. So does a move whose target is
 * lost.
 */
async function endHeldOperation(
  tx: Sql,
  server: ServerRow,
  { id, kind, action_id: actionId }: Pick<OperationRow, 'id' | 'kind' | 'action_id'>,
  now: Date,
): Promise<void> {
  if (kind === 'provision' || kind === 'rebuild' || kind === 'restore' || kind === 'destroy') return;
  const move = kind === 'move' ? await findMove(tx, server.id) : undefined;
  // The source has the only copy. Ending the move would delete it.
  if (move?.state === 'switched' && move.to_lost) return;
  await deleteOperation(tx, id);
  await endAction(tx, actionId, failure('host_failed', kind === 'start' ? 'kept' : 0n), now);
  if (kind === 'move') {
    const state = move?.state === 'switched' ? 'moved' : 'kept';
    if (move) await recordMoveEnd(tx, move, { state, fault: 'the host is lost', now });
  }
  if (kind === 'start' && server.status === 'suspended') await moveServer(tx, server, 'resume_stopped', now);
  if (kind !== 'suspend') await auditServer(tx, server, `server.${kind}`, now, 'error');
  if (isIsoKind(kind)) await loseIso(tx, server, now);
}

/** It stays on the lost host. */
async function loseIso(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  await setIso(tx, server, EMPTY_DRIVE, now);
  if (server.iso_image_id !== null) await recordServerEvent(tx, server, 'server.iso_ejected', now);
}

function isUnpaid(server: ServerRow, now: Date): boolean {
  return server.status === 'suspended' && server.paid_until <= now;
}

/**
 * A suspended server that is not paid stays suspended, in the same grace period. It is installed again when
 * it is paid: the charge makes this task due.
 */
async function awaitPayment(
  tx: Sql,
  service: Service,
  server: ServerRow,
  loss: HostLoss,
): Promise<TaskResult> {
  const operation = await findServerOperation(tx, server.id);
  if (operation) await endHeldOperation(tx, server, operation, service.clock.now());
  await mailLoss(tx, service, server, { loss, refundedCents: null });
  return { againMs: SUSPENDED_WAIT_MS };
}

/** Once, although the task of a suspended server runs many times. */
async function announceLoss(tx: Sql, server: ServerRow, loss: HostLoss, now: Date): Promise<void> {
  const resource = formatId('server', server.id);
  const { customer_id: customerId } = server;
  if (await wasAudited(tx, { customerId, resource, action: 'server.lose', since: loss.lost_at })) return;
  await auditServer(tx, server, 'server.lose', now);
  await recordServerEvent(tx, server, 'server.lost', now);
}

async function refundAndRemove(tx: Sql, service: Service, server: ServerRow, loss: HostLoss): Promise<void> {
  const now = service.clock.now();
  await lockBalance(tx, server.customer_id);
  // The removal refunds a server that never ran.
  const refundedCents =
    server.first_run_at === null
      ? server.price_cents_cycle
      : await refundUnusedTime(tx, server, { since: loss.lost_at, reason: 'its machine was lost', now });
  await startRemoval(tx, server, { now, cause: 'host_failed', refundedCents });
  await mailLoss(tx, service, server, { loss, refundedCents });
}

/** Replaces any operation by an install on another host. A server that never ran continues its first one. */
async function startRebuild(tx: Sql, service: Service, server: ServerRow, loss: HostLoss): Promise<void> {
  const now = service.clock.now();
  const id = newId(now);
  const next = { id, step: 'place', now } as const;
  if (server.first_run_at === null)
    return await replaceOperation(tx, server, { ...next, kind: 'provision' }, 'continued');
  await releasePreviousImage(tx, service, server.id, now);
  await loseIso(tx, server, now);
  await moveServer(tx, server, 'host_lost', now);
  const details = await findInstallDetails(tx, server.id);
  const payload_sealed = sealPayload(service, id, {
    status: 'running',
    imageId: server.image_id,
    sshKeys: server.ssh_keys,
    sshPublicKeys: details?.ssh_public_keys ?? [],
  });
  await replaceOperation(tx, server, { ...next, kind: 'rebuild', payload_sealed }, failure('host_failed'));
  await mailLoss(tx, service, server, { loss, refundedCents: null });
}

/** The image that a rebuild or restore under way could have rolled back to. */
async function releasePreviousImage(tx: Sql, service: Service, serverId: string, now: Date): Promise<void> {
  const current = await findServerOperation(tx, serverId);
  if (current?.payload_sealed == null || current.kind === 'rescue') return;
  const sealed = { id: current.id, sealed: current.payload_sealed };
  await releaseImage(tx, previousImageId(service, sealed), now);
}

async function mailLoss(
  tx: Sql,
  { keys, clock }: Service,
  server: ServerRow,
  { loss, refundedCents }: { readonly loss: HostLoss; readonly refundedCents: bigint | null },
): Promise<void> {
  const isSuspended = refundedCents === null && isUnpaid(server, clock.now());
  const keepsAddresses = refundedCents === null && loss.fenced_at !== null;
  const keepsDisk = server.shared_disk && server.first_run_at !== null;
  const data = {
    server: server.name,
    lostAt: loss.lost_at,
    refundedCents,
    keepsAddresses,
    keepsDisk,
    isSuspended,
  };
  const next = refundedCents === null ? 'rebuild' : 'refund';
  const cause = `lost:${server.id}:${loss.host_id}:${isSuspended ? 'suspended' : next}`;
  const mail = { customerId: server.customer_id, kind: 'server_lost', cause, data } as const;
  await enqueueMail(tx, mail, clock.now(), keys);
}
