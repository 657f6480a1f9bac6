/** Operator controls of individual servers: freezes and legal holds. */
import type { Sql } from '../kernel/sql.ts';

export interface ServerControls {
  /** When it was frozen, and why; both null when it is not frozen. */
  readonly frozen_at: Date | null;
  readonly freeze_reason: string | null;
  /** When the legal hold began, and its order; both null without a hold. */
  readonly held_at: Date | null;
  readonly hold_order: string | null;
}

export async function findServerControls(tx: Sql, id: string): Promise<ServerControls | undefined> {
  return await tx.row<ServerControls>(
    'select frozen_at, freeze_reason, held_at, hold_order from servers where id = $1',
    [id],
  );
}

/** The caller holds the server's lock. */
export async function setServerControls(tx: Sql, id: string, controls: ServerControls): Promise<void> {
  await tx.run(
    'update servers set frozen_at = $2, freeze_reason = $3, held_at = $4, hold_order = $5 where id = $1',
    [id, controls.frozen_at, controls.freeze_reason, controls.held_at, controls.hold_order],
  );
}
