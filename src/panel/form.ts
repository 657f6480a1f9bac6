/**
 * Forms. Every form carries the visitor's CSRF value, its own name and a key by which a second click is recognised. A
 * form that was refused comes back as it was filled in, with what is wrong beside each field.
 */
import { PANEL_FIELDS } from '../spec/paths.ts';
import { Html, html } from './html.ts';

/** What was wrong with one field, in words. */
export interface FieldProblem {
  /** As the form names it. */
  readonly field: string;
  readonly message: string;
}

/** What every form of a page knows. */
export interface FormContext {
  readonly csrf: string;
  /** Of this rendering: two clicks on one form have the same, two renderings have not. */
  readonly submissionKey: string;
  /** The form that was sent and refused; null: none. Forms of one name are told apart by their `key`. */
  readonly refused: { readonly name: string; readonly key: string } | null;
  /** What was typed into it. Never a password. */
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly FieldProblem[];
  /** What is said above the page. */
  readonly failure: {
    readonly message: string;
    /** A page that helps. */
    readonly remedy: { readonly path: string; readonly name: string } | null;
  } | null;
}

export interface FormOptions {
  /** The page's form that it is. */
  readonly name: string;
  /** Tells rows of one table apart: an id. Sent along as the field `key`. */
  readonly key?: string;
  /** The page that takes it; the one it is on when left out. */
  readonly action?: string;
  readonly class?: string;
  /** The part of the page that follows its choices where there are scripts: `#total`. */
  readonly live?: string;
  /** Of a file. */
  readonly multipart?: boolean;
}

/** A form that is sent by POST, with what it holds. */
export function form(context: FormContext, options: FormOptions, content: Html): Html {
  const { name, key, action } = options;
  return html`<form method="post"${attribute('action', action)}${attribute('class', options.class)}${attribute('data-live', options.live)}${options.multipart && new Html(' enctype="multipart/form-data"')}>
<input type="hidden" name="${PANEL_FIELDS.csrf}" value="${context.csrf}">
<input type="hidden" name="${PANEL_FIELDS.form}" value="${name}">
<input type="hidden" name="${PANEL_FIELDS.idempotencyKey}" value="${context.submissionKey}">
${key !== undefined && html`<input type="hidden" name="${PANEL_FIELDS.key}" value="${key}">\n`}${content}
</form>`;
}

/** One form's fields, with what was typed into it before it was refused. */
export class Fields {
  readonly #context: FormContext;
  readonly #isRefused: boolean;
  readonly #prefix: string;

  constructor(context: FormContext, name: string, key = '') {
    this.#context = context;
    this.#isRefused = context.refused?.name === name && context.refused.key === key;
    this.#prefix = key === '' ? name : `${name}-${key}`;
  }

  /** What was typed, or else what stands there already. */
  value(field: string, current = ''): string {
    return this.#isRefused ? (this.#context.values.get(field) ?? '') : current;
  }

  /** Whether a box is ticked. */
  isChecked(field: string, present: boolean): boolean {
    return this.#isRefused ? this.#context.values.has(field) : present;
  }

  /** What is wrong with a field, or null. `ssh_keys` hears of `ssh_keys.0`, too. */
  problem(field: string): string | null {
    if (!this.#isRefused) return null;
    const of = (name: string) => this.#context.problems.find((problem) => problem.field === name);
    const found =
      of(field) ?? this.#context.problems.find((problem) => problem.field.startsWith(`${field}.`));
    return found?.message ?? null;
  }

  /** The id of a field's element; unlike any other of the page. */
  id(field: string): string {
    return `${this.#prefix}-${field}`.replace(/[^\w-]/g, '-');
  }

  /** A labelled line to type into. `value` is what stands there already. */
  text(field: string, label: string, options: TextOptions = {}): Html {
    const { type = 'text', value = '', hint } = options;
    const typed = type === 'password' ? '' : this.value(field, value);
    return this.#labeled(
      field,
      label,
      html`<input id="${this.id(field)}" name="${field}" type="${type}" value="${typed}"${this.#commonAttributes(field, options)}${attribute('autocomplete', options.autocomplete)}${attribute('inputmode', options.inputmode)}${attribute('placeholder', options.placeholder)}${attribute('size', options.size)}${attribute('min', options.min)}${attribute('max', options.max)}${attribute('maxlength', options.maxLength)}>`,
      hint,
    );
  }

  /** A labelled box of several lines. */
  textarea(field: string, label: string, options: TextOptions & { readonly rows?: number } = {}): Html {
    const { value = '', rows = 5, hint } = options;
    return this.#labeled(
      field,
      label,
      // The first line break after the tag is not part of the text.
      html`<textarea id="${this.id(field)}" name="${field}" rows="${rows}" spellcheck="false"${this.#commonAttributes(field, options)}${attribute('maxlength', options.maxLength)}>
${this.value(field, value)}</textarea>`,
      hint,
    );
  }

  /** A labelled list to choose one of. */
  select(field: string, label: string, options: SelectOptions): Html {
    const { value = '', hint, choices } = options;
    const chosen = this.value(field, value);
    const rows = choices.map(
      ([word, name, off]) =>
        html`<option value="${word}"${word === chosen && new Html(' selected')}${off && new Html(' disabled')}>${name}</option>\n`,
    );
    return this.#labeled(
      field,
      label,
      html`<select id="${this.id(field)}" name="${field}"${this.#commonAttributes(field, options)}>
${rows}</select>`,
      hint,
    );
  }

  /** A box to tick: sent as `on`. */
  checkbox(
    field: string,
    label: Html | string,
    options: { readonly value?: boolean; readonly hint?: string } = {},
  ): Html {
    const problem = this.problem(field);
    return html`<div class="field tick${problem && ' bad'}"><label><input type="checkbox" id="${this.id(field)}" name="${field}"${this.isChecked(field, options.value ?? false) && new Html(' checked')}${this.#describedBy(field, options.hint)}> ${label}</label>
${this.#notes(field, options.hint)}</div>`;
  }

  /** One of several, each with its words; `fieldset` with a legend around it is the caller's. */
  radio(
    field: string,
    value: string,
    label: Html | string,
    options: { readonly checked?: boolean; readonly disabled?: boolean } = {},
  ): Html {
    const chosen = this.#isRefused ? this.#context.values.get(field) === value : (options.checked ?? false);
    return html`<label class="choice${options.disabled && ' off'}"><input type="radio" name="${field}" value="${value}"${chosen && new Html(' checked')}${options.disabled && new Html(' disabled')}> <span>${label}</span></label>\n`;
  }

  /** What is wrong with a field that is drawn by hand. */
  notes(field: string, hint?: string): Html {
    return this.#notes(field, hint);
  }

  /** Attributes that tell of hint and problem, for a field that is drawn by hand. */
  describedBy(field: string, hint?: string): Html {
    return this.#describedBy(field, hint);
  }

  #labeled(field: string, label: string, control: Html, hint: string | undefined): Html {
    return html`<div class="field${this.problem(field) !== null && ' bad'}"><label for="${this.id(field)}">${label}</label>
${control}
${this.#notes(field, hint)}</div>`;
  }

  #notes(field: string, hint: string | undefined): Html {
    const problem = this.problem(field);
    return html`${problem && html`<p class="problem" id="${this.id(field)}-problem">${problem}</p>`}${hint && html`<p class="hint" id="${this.id(field)}-hint">${hint}</p>`}`;
  }

  #commonAttributes(field: string, options: { readonly required?: boolean; readonly hint?: string }): Html {
    return html`${options.required && new Html(' required')}${this.#describedBy(field, options.hint)}`;
  }

  #describedBy(field: string, hint: string | undefined): Html {
    const bad = this.problem(field) !== null;
    const ids = [bad && `${this.id(field)}-problem`, hint && `${this.id(field)}-hint`]
      .filter(Boolean)
      .join(' ');
    return html`${bad && new Html(' aria-invalid="true"')}${ids !== '' && html` aria-describedby="${ids}"`}`;
  }
}

export interface TextOptions {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'search' | 'datetime-local' | 'date';
  readonly value?: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly inputmode?: string;
  readonly placeholder?: string;
  readonly size?: number;
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
}

export interface SelectOptions {
  readonly value?: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly choices: readonly (readonly [value: string, name: string, off?: boolean])[];
}

function attribute(name: string, value: string | number | undefined): Html | null {
  return value === undefined ? null : html` ${new Html(name)}="${value}"`;
}
