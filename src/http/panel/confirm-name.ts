/** Confirms an action on a server by its typed name. */
import { getServer } from '../../domain/servers/read.ts';
import type { ErrorItem } from '../../kernel/fail.ts';
import type { Call } from '../admission/forms.ts';
import { field } from '../form.ts';

/**
 * Compares the typed name with the current one: the page may be old, and another server may have its name
 * now.
 */
export async function checkTypedName(
  { edge, form, customer }: Call,
  serverId: string,
): Promise<readonly ErrorItem[]> {
  const typed = field(form, 'name_typed').trim();
  if (typed === '') return [{ field: 'name_typed', issue: 'required' }];
  const { name } = await getServer(edge.service, customer(), serverId);
  return typed === name ? [] : [{ field: 'name_typed', issue: 'invalid_value' }];
}
