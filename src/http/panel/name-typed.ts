/** A name that is typed to show that this thing is meant, and no other. */
import type { ErrorItem } from '../../kernel/fail.ts';
import { type Form, field } from '../form.ts';

/** What is wrong where another was typed. The form says which name it asked for: this guards against a slip, not its sender. */
export function nameTyped(form: Form, asked = 'name'): readonly ErrorItem[] {
  const typed = field(form, 'name_typed').trim();
  if (typed === '') return [{ field: 'name_typed', issue: 'required' }];
  return typed === field(form, asked) ? [] : [{ field: 'name_typed', issue: 'invalid_value' }];
}
