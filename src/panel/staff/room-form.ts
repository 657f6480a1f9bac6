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

/** The changes that a form would make. */
export interface RoomPreview {
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  /** Sent with the form: it performs this change, and no other. */
  readonly code: string;
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
  readonly reason?: string | undefined;
  /** Undefined: the act has no preview. Null: it was not seen yet, so the form only shows it. */
  readonly preview?: RoomPreview | null;
  /** The names of texts that another button inserts. */
  readonly inserts?: readonly string[];
}

/** A folded form. A refused one stays open. */
export const PREVIEW_BUTTON = '_preview';
export const INSERT_BUTTON = '_insert';
export const INSERT_FIELD = '_text';

export function roomForm(forms: FormContext, act: RoomForm, isOpen = false): Html {
  const fields = new Fields(forms, act.name);
  const { name, title, button, text } = act;
  return actForm(
    forms,
    {
      name,
      title,
      isOpen,
      button: act.preview === null ? null : button,
      ...(act.isDangerous && { danger: true }),
    },
    html`${text && html`<p>${text}</p>`}
${act.fields.map((row) => formField(fields, row))}
${act.inserts && insertPart(fields, act.inserts)}
${act.preview !== undefined && previewPart(act.preview)}
${act.needsReason && act.preview !== null && reasonField(fields, act.reason)}`,
  );
}

/** The page comes again with the typed text and the chosen one. */
function insertPart(fields: Fields, names: readonly string[]): Html {
  const choices = names.map((name) => [name, name] as const);
  return html`${fields.select(INSERT_FIELD, 'Canned answer', { choices })}
<p><button class="plain" name="${INSERT_BUTTON}" value="1" formnovalidate>Insert</button></p>`;
}

/** The button comes first, so that the Enter key only shows the preview. */
function previewPart(preview: RoomPreview | null): Html {
  const word = preview === null ? 'Preview' : 'Preview again';
  const button = html`<button class="plain" name="${PREVIEW_BUTTON}" value="1"
formnovalidate>${word}</button>`;
  if (preview === null) return html`<p>${button}</p>`;
  const lines = preview.lines.map((line) => html`<li><code>${line}</code></li>\n`);
  const notes = preview.notes.map((note) => html`<li>${note}</li>\n`);
  const changes = lines.length > 0 ? html`<ul>${lines}</ul>` : html`<p>Nothing.</p>`;
  return html`<div role="status"><p><strong>This changes:</strong></p>
${changes}
<ul>${notes}</ul></div>
<p>${button}</p>
<input type="hidden" name="preview" value="${preview.code}">`;
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
