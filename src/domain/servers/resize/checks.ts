/** The checks of a resize, apart from its price, its room, and the balance. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { readCode } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { ResizeBody } from '../../../spec/schemas/server-actions.ts';
import { findResizePlan, type Growth, type ResizePlanRow } from '../../../store/servers/resizes.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import type { Service } from '../../context.ts';
import { requireDriver, requireInstallFacts } from '../hardware.ts';

const FIELD = { field: 'plan' } as const;

export async function findWantedPlan(
  tx: Sql,
  server: ServerRow,
  { plan }: ResizeBody,
): Promise<ResizePlanRow | undefined> {
  return await findResizePlan(tx, server.region_id, readCode(plan) ?? '');
}

/**
 * Refuses with `wrong_state` a running server that may not restart, and a plan that the server cannot have:
 * with `unknown_reference`, `unavailable`, `mismatch`, or, without a change, with `invalid_value`.
 */
export async function requireResizable(
  tx: Sql,
  service: Service,
  server: ServerRow,
  { body, plan }: { readonly body: ResizeBody; readonly plan: ResizePlanRow | undefined },
): Promise<ResizePlanRow> {
  if (server.status === 'running' && body.restart !== true) {
    const message = 'A running server restarts for a resize. Stop it first, or set `restart` to true.';
    fail('wrong_state', { field: 'restart' }, message);
  }
  requireDriver(service, server);
  const { category } = await requireInstallFacts(tx, server);
  if (category === 'dedicated') fail('unavailable', { field: '' }, 'A dedicated machine cannot be resized.');
  if (plan === undefined) unknownReference('plan');
  if (plan.category !== category)
    fail('mismatch', FIELD, 'This plan is for another kind of hardware than that of the server.');
  if (!plan.active) fail('unavailable', FIELD, 'This plan is no longer sold. Choose another one.');
  if (!plan.offered) fail('mismatch', FIELD, 'This plan is not sold in the region of the server.');
  if (server.disk_gb > plan.disk_gb) {
    fail('mismatch', FIELD, 'The disk of the server is larger than that of this plan, and cannot shrink.');
  }
  if (plan.id === server.plan_id && wantedDiskGb(server, body, plan) === server.disk_gb)
    fail('invalid_value', FIELD, 'The server has this plan already.');
  return plan;
}

export function wantedDiskGb(server: ServerRow, body: ResizeBody, plan: ResizePlanRow): number {
  return body.resize_disk === true ? plan.disk_gb : server.disk_gb;
}

/** Returns what the server needs on its host besides what it has. Until it is resized, it keeps the rest. */
export function growthOf(server: ServerRow, body: ResizeBody, plan: ResizePlanRow): Growth {
  return {
    ramMb: Math.max(0, plan.ram_mb - server.ram_mb),
    diskGb: server.shared_disk ? 0 : wantedDiskGb(server, body, plan) - server.disk_gb,
    hostTags: plan.host_tags,
  };
}

export function outOfStock(): never {
  fail('out_of_stock', {}, 'No host in this region has room for this plan now. Try again later.');
}
