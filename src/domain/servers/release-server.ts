/** Lifts the operator's freeze of a server, its legal hold, or both. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { ServerControls } from '../../store/servers/operator.ts';
import type { Service } from '../context.ts';
import { changeControls } from './controls.ts';

/** The controls to lift; if neither is set, the one in force. */
export interface ReleaseScope {
  readonly freeze: boolean;
  readonly hold: boolean;
}

/**
 * Releases a server by its public id; false if there is nothing to lift. A frozen server that is paid for
 * returns to its previous state. Otherwise its next cycle is charged, or it stays suspended until its
 * customer pays. Refuses to guess between a freeze and a legal hold.
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
    throw new OperatorError('the server is frozen and under a legal hold: pass --freeze, --hold or both');
  return { freeze: frozen, hold: held };
}
