/** Ends a resize: the server keeps its new plan, or goes back to the previous one. */
import type { Sql } from '../../../kernel/sql.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../../spec/states.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { setReservedSize, setServerPlan } from '../../../store/servers/resizes.ts';
import { type ServerRow, setServerStatus } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { recheckAttachedVolumes } from '../../volumes/attach.ts';
import { refundChange } from '../billing/charge.ts';
import { endOperation } from '../operations/step.ts';
import { type ResizePayload, resizePayload } from '../operations/step-inputs.ts';
import { applyFreeze } from '../operator/apply-freeze.ts';
import { auditServer, recordServerEvent } from '../transition.ts';

/** The machine has its new size, and runs if it ran before. */
export async function completeResize(service: Service, operation: OperationRow): Promise<void> {
  const payload = resizePayload(service, operation);
  await endOperation(service, operation, async (tx, server, now) => {
    await keepNewPlan(tx, server, payload, now);
    await applyFreeze(tx, service, server.id, now);
  });
  service.wake();
}

/** Money comes back only now: before, the resize could fail and take it again. */
export async function keepNewPlan(
  tx: Sql,
  server: ServerRow,
  { id, size, dueCents, description, wasRunning }: ResizePayload,
  now: Date,
): Promise<void> {
  await lockBalance(tx, server.customer_id);
  // A shared disk was not reserved, so that its size is recorded only now.
  const diskGb = Math.max(server.disk_gb, size.diskGb);
  await setReservedSize(tx, { id: server.id, ramMb: size.ramMb, diskGb });
  await auditServer(tx, server, 'server.resize', now);
  const cents = -BigInt(dueCents);
  if (cents > 0n) await refundChange(tx, server, { kind: 'resize', id, cents, description }, now);
  const { status } = server;
  if (status === 'running' || status === 'stopped') await setServerStatus(tx, { id: server.id, status, now });
  // Its plan may have another transfer.
  await enqueueTask(tx, { kind: 'traffic', subject: server.id, now });
  if (!wasRunning || status !== 'running') return;
  await recheckAttachedVolumes(tx, [server.id], now);
  await recordServerEvent(tx, server, findTransition(SERVER_TRANSITIONS, status, 'reboot').event, now);
}

/**
 * Puts back the previous plan, its size, and the money, in the caller's transaction. A disk that has grown
 * stays. The caller holds the server's lock.
 */
export async function restorePreviousPlan(
  tx: Sql,
  server: ServerRow,
  payload: ResizePayload,
  { diskGb, now }: { readonly diskGb: number; readonly now: Date },
): Promise<void> {
  const { previous } = payload;
  await lockBalance(tx, server.customer_id);
  await setReservedSize(tx, {
    id: server.id,
    ramMb: previous.ramMb,
    diskGb: Math.max(previous.diskGb, diskGb),
  });
  const { paid, cents } = moneyBack(server, payload);
  await setServerPlan(tx, {
    id: server.id,
    plan_id: previous.planId,
    price_cents_month: BigInt(previous.monthCents),
    price_cents_cycle: BigInt(previous.cycleCents),
    backup_cents_cycle: BigInt(previous.backupCents ?? 0),
    backup_percent: previous.backupPercent ?? server.backup_percent,
    paid_from: paid?.from ?? null,
    paid_cents: paid?.cents ?? null,
    priced_at: previous.pricedAt === null ? null : new Date(previous.pricedAt),
    updated_at: now,
  });
  await recordServerEvent(tx, server, 'server.resized', now);
  const { id, description } = payload;
  if (cents > 0n) await refundChange(tx, server, { kind: 'undo', id, cents, description }, now);
}

interface MoneyBack {
  readonly paid: { readonly from: Date; readonly cents: bigint } | null;
  readonly cents: bigint;
}

/** A cycle that was renewed in the meantime was charged at the new price. */
export function moneyBack(server: ServerRow, { previous, dueCents }: ResizePayload): MoneyBack {
  const dueBack = BigInt(dueCents) > 0n ? BigInt(dueCents) : 0n;
  const renewedAt = new Date(previous.paidUntil);
  if (server.paid_until.getTime() === renewedAt.getTime()) {
    const { paid } = previous;
    return { cents: dueBack, paid: paid && { from: new Date(paid.from), cents: BigInt(paid.cents) } };
  }
  const moreCents = server.price_cents_cycle - BigInt(previous.cycleCents);
  if (moreCents >= 0n) return { cents: dueBack + moreCents, paid: null };
  return { cents: dueBack, paid: { from: renewedAt, cents: server.price_cents_cycle } };
}
