/** The money of enabling and disabling backups in the middle of a cycle. */
import { fail, insufficientBalance } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { setBillAt } from '../../../store/billing/cycles.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { findServerOperation } from '../../../store/servers/operations.ts';
import { findResizePlan, setServerPlan } from '../../../store/servers/resizes.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { requireWithinLimits } from '../../billing/quotes/limits.ts';
import type { CustomerActor } from '../../context.ts';
import { chargeChange, refundChange } from '../../servers/billing/charge.ts';
import { type PricedChange, priceBackups, priceColumns } from '../../servers/billing/price.ts';
import { spend } from '../../tokens/limits/spend.ts';

/** Prices enabling or disabling now, at the share of the catalog of today. */
export async function priceBackupsNow(
  tx: Sql,
  server: ServerRow,
  enabled: boolean,
  now: Date,
): Promise<PricedChange> {
  const plan = await findResizePlan(tx, server.region_id, server.plan_id);
  if (plan === undefined) throw new Error('a server without a plan');
  return await priceBackups(tx, server, { enabled, percent: plan.backup_percent }, now);
}

/**
 * Charges or refunds the rest of the cycle, and changes its price. The caller locked the server. Refuses with
 * `conflict_state` during a resize, which would put back the previous price, with `price_changed`, with
 * `limit_reached`, and with `insufficient_balance`. Returns the server with its new price.
 */
export async function payBackups(
  tx: Sql,
  actor: CustomerActor,
  server: ServerRow,
  wanted: { readonly enabled: boolean; readonly maxUsd: number | undefined },
  now: Date,
): Promise<ServerRow> {
  const price = await priceBackupsNow(tx, server, wanted.enabled, now);
  const { dueCents, description, paid } = price;
  const limits = wanted.maxUsd === undefined ? [] : [{ field: 'max_price_usd', usd: wanted.maxUsd } as const];
  requireWithinLimits(limits, dueCents > 0n ? dueCents : 0n);
  if (price.backupPercent === server.backup_percent) return server;
  if ((await findServerOperation(tx, server.id))?.kind === 'resize')
    fail('conflict_state', {}, 'The server is being resized. Try again when that is done.');
  const balanceCents = (await lockBalance(tx, server.customer_id)) ?? 0n;
  if (dueCents > 0n && balanceCents < dueCents) insufficientBalance(balanceCents, dueCents);
  if (dueCents > 0n) await spend(tx, actor, dueCents, now);
  const changed: ServerRow = {
    ...server,
    ...priceColumns(price),
    paid_from: paid?.from ?? null,
    paid_cents: paid?.cents ?? null,
    updated_at: now,
  };
  await setServerPlan(tx, changed);
  const entry = { kind: 'backups', id: newId(now), description } as const;
  if (dueCents > 0n) await chargeChange(tx, server, { ...entry, cents: dueCents }, now);
  if (dueCents < 0n) await refundChange(tx, server, { ...entry, cents: -dueCents }, now);
  // The balance may cover the lower price of the cycle that it waits for.
  if (server.status === 'suspended' && !wanted.enabled) await setBillAt(tx, server.id, now);
  return changed;
}
