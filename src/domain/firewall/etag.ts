/** Lists that are replaced as a whole: whoever saw one before somebody else changed it must not undo that unknowingly. */
import { fail } from '../../kernel/fail.ts';
import { digest } from '../../kernel/secrets.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';

type GroupContents = Pick<FirewallGroup, 'applied_to' | 'rules'>;

/** Stands for the servers of a group as they are. */
export function serversEtag({ applied_to }: GroupContents): string {
  return etagOf(applied_to);
}

/** Stands for the rules of a group as they are: none is changed without having another id. */
export function rulesEtag({ rules }: GroupContents): string {
  return etagOf(rules.map(({ id }) => id));
}

function etagOf(ids: readonly string[]): string {
  return digest(ids.join('\n')).toString('base64url');
}

/** Refuses with `conflict_state` where another list was seen than is there; the caller holds the group's lock. */
export function requireUnchanged(expectedEtag: string | undefined, currentEtag: string): void {
  if (expectedEtag === undefined || expectedEtag === currentEtag) return;
  fail('conflict_state', { field: 'seen' }, 'The group was changed meanwhile: look it over again.');
}
