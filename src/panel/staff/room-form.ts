/** Forms from a description: the inputs of an act, and its button. */
import { Fields, type FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { actForm, reasonField } from './parts.ts';

/** One input of a form. */
export interface RoomField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'long' | 'number' | 'choice' | 'tick';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly hint: string | undefined;
  readonly maxLength: number | undefined;
  /** The current value. */
  readonly value: string;
}

/** A form that performs an act. */
export interface RoomForm {
  readonly name: string;
  readonly title: string;
  readonly button: string;
  readonly isDangerous: boolean;
  readonly text: string | undefined;
  readonly fields: readonly RoomField[];
  readonly needsReason: boolean;
  /** The reason to begin with. */
  readonly reason: string | undefined;
}

/** A folded form. A refused one stays open. */
export function roomForm(forms: FormContext, act: RoomForm, isOpen = false): Html {
  const fields = new Fields(forms, act.name);
  const { name, title, button, text } = act;
  return actForm(
    forms,
    { name, title, button, isOpen, ...(act.isDangerous && { danger: true }) },
    html`${text && html`<p>${text}</p>`}
${act.fields.map((row) => formField(fields, row))}
${act.needsReason && reasonField(fields, act.reason)}`,
  );
}

function formField(fields: Fields, row: RoomField): Html {
  const { name, label, value, hint, isRequired: required, maxLength } = row;
  const common = { value, required, ...(hint !== undefined && { hint }) };
  const bounded = { ...common, ...(maxLength !== undefined && { maxLength }) };
  if (row.kind === 'choice') {
    const choices = row.choices.map((word) => [word, word === '' ? '(empty)' : word] as const);
    return fields.select(name, label, { ...common, choices });
  }
  if (row.kind === 'tick') {
    return fields.checkbox(name, label, { value: value === 'true', ...(hint !== undefined && { hint }) });
  }
  if (row.kind === 'long') return fields.textarea(name, label, { ...bounded, rows: 8 });
  return fields.text(name, label, {
    ...bounded,
    ...(row.kind === 'number' && { inputmode: 'numeric', size: 12 }),
  });
}
