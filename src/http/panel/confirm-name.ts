/** A name that is typed to show that this server is meant, and no other. */
import { getServer } from '../../domain/servers/find.ts';
import type { ErrorItem } from '../../kernel/fail.ts';
import type { Call } from '../endpoint.ts';
import { field } from '../form.ts';

/** What is wrong where another was typed than the server has now: the page may be old, and its name another's by now. */
export async function checkTypedName(
  { edge, form, customer }: Call,
  serverId: string,
): Promise<readonly ErrorItem[]> {
  const typed = field(form, 'name_typed').trim();
  if (typed === '') return [{ field: 'name_typed', issue: 'required' }];
  const { name } = await getServer(edge.service, customer(), serverId);
  return typed === name ? [] : [{ field: 'name_typed', issue: 'invalid_value' }];
}
