/**
 * ETags of lists that are replaced as a whole, so that a client cannot overwrite a change that it has not
 * seen.
 */
import { fail } from '../../kernel/fail.ts';
import { digest } from '../../kernel/secrets.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';

type GroupContents = Pick<FirewallGroup, 'applied_to' | 'rules'>;

/** Identifies the current list of servers. */
export function serversEtag({ applied_to }: GroupContents): string {
  return etagOf(applied_to);
}

/** Identifies the current rules. A changed rule has a new id. */
export function rulesEtag({ rules }: GroupContents): string {
  return etagOf(rules.map(({ id }) => id));
}

function etagOf(ids: readonly string[]): string {
  return digest(ids.join('\n')).toString('base64url');
}

/** Fails with `conflict_state` if the list has changed. The caller holds the group's lock. */
export function requireUnchanged(expectedEtag: string | undefined, currentEtag: string): void {
  if (expectedEtag === undefined || expectedEtag === currentEtag) return;
  fail(
    'conflict_state',
    { field: 'seen' },
    'The group has changed since you opened it. Review it and try again.',
  );
}
