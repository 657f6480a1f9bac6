/** The form that attaches a file to a resource. */
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatMib } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import type { ConsoleSection, ConsoleView } from './layout.ts';

export function attachFileView({
  noun,
  section,
  breadcrumbs,
  operation,
  types,
  typeNames,
  example,
  maxBytes,
  nameMaxChars,
  forms,
}: {
  /** A word for the file. */
  readonly noun: string;
  readonly section: ConsoleSection;
  readonly breadcrumbs: NonNullable<ConsoleView['breadcrumbs']>;
  /** The operation of the form. */
  readonly operation: string;
  readonly types: readonly string[];
  /** In words. */
  readonly typeNames: string;
  /** A name of a file. */
  readonly example: string;
  readonly maxBytes: number;
  readonly nameMaxChars: number;
  readonly forms: FormContext;
}): ConsoleView {
  const fields = new Fields(forms, operation);
  const id = fields.id('file');
  const bad = fields.problem('file') !== null && ' bad';
  const hint = `${typeNames}, of at most ${formatMib(maxBytes)}.`;
  return {
    title: `Attach a ${noun}`,
    section,
    breadcrumbs,
    body: form(
      forms,
      { name: operation, multipart: true },
      html`${fields.text('name', 'Name', {
        maxLength: nameMaxChars,
        hint: `Such as ${example}. Optional.`,
      })}
<div class="field${bad}"><label for="${id}">File</label>
<input type="file" id="${id}" name="file" required
accept="${types.join(',')}"${fields.describedBy('file', hint)}>
${fields.notes('file', hint)}</div>
<button>Attach ${noun}</button>`,
    ),
  };
}
