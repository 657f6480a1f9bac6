/** The end of what the operator wanted of a server: of its freeze, of its legal hold, or of both. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { ServerControls } from '../../store/server-controls.ts';
import type { Service } from '../context.ts';
import { changeControls } from './controls.ts';

/** What is lifted; with neither, the one that is there. */
export interface ReleaseScope {
  readonly freeze: boolean;
  readonly hold: boolean;
}

/**
 * Releases a server by its shown id; false when there is nothing to lift. One that was frozen is again what it was when it is
 * paid for; else its next cycle is charged, or it stays suspended until its customer pays. Refuses to guess between a
 * freeze and a hold.
 */
export async function releaseServer(
  service: Service,
  shownId: string,
  scope: ReleaseScope,
): Promise<boolean> {
  return await changeControls(service, shownId, 'server.release', (controls) => {
    const frozen = controls.frozen_at !== null;
    const held = controls.held_at !== null;
    const { freeze, hold } = scope.freeze || scope.hold ? scope : inferScope(frozen, held);
    if (!(freeze && frozen) && !(hold && held)) return null;
    return { ...controls, ...(freeze ? UNFROZEN : {}), ...(hold ? NO_LEGAL_HOLD : {}) };
  });
}

const UNFROZEN = { frozen_at: null, freeze_reason: null } as const satisfies Partial<ServerControls>;
const NO_LEGAL_HOLD = { held_at: null, hold_order: null } as const satisfies Partial<ServerControls>;

function inferScope(frozen: boolean, held: boolean): ReleaseScope {
  if (frozen && held)
    throw new OperatorError('it is frozen and under a legal hold: say --freeze, --hold or both');
  return { freeze: frozen, hold: held };
}
