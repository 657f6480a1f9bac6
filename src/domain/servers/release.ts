/** The end of what the operator wanted of a server: of its freeze, of its legal hold, or of both. */
import { Refusal } from '../../kernel/refusal.ts';
import type { ServerLevers } from '../../store/server-levers.ts';
import type { Service } from '../context.ts';
import { pull } from './levers.ts';

/** What is lifted; with neither, the one that is there. */
export interface Release {
  readonly freeze: boolean;
  readonly hold: boolean;
}

/**
 * Releases a server by its shown id; false when there is nothing to lift. One that was frozen is again what it was when it is
 * paid for; else its next cycle is charged, or it stays suspended until its customer pays. Refuses to guess between a
 * freeze and a hold.
 */
export async function releaseServer(service: Service, shownId: string, release: Release): Promise<boolean> {
  return await pull(service, shownId, 'server.release', (levers) => {
    const frozen = levers.frozen_at !== null;
    const held = levers.held_at !== null;
    const { freeze, hold } = release.freeze || release.hold ? release : theOneThere(frozen, held);
    if (!(freeze && frozen) && !(hold && held)) return null;
    return { ...levers, ...(freeze ? THAWED : {}), ...(hold ? LET_GO : {}) };
  });
}

const THAWED = { frozen_at: null, freeze_reason: null } as const satisfies Partial<ServerLevers>;
const LET_GO = { held_at: null, hold_order: null } as const satisfies Partial<ServerLevers>;

function theOneThere(frozen: boolean, held: boolean): Release {
  if (frozen && held) throw new Refusal('it is frozen and under a legal hold: say --freeze, --hold or both');
  return { freeze: frozen, hold: held };
}
