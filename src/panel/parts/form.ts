/**
 * Forms. Every form carries the visitor's CSRF token, its own name, and a submission key that identifies a
 * repeated submission. A rejected form is shown again with its values and an error next to each bad field.
 */
import { PANEL_FIELDS } from '../../spec/paths.ts';
import { Html, html } from './html.ts';

/** An error on one field, in words. */
export interface FieldProblem {
  /** The field's name in the form. */
  readonly field: string;
  readonly message: string;
}

/** The state that all forms of a page share. */
export interface FormContext {
  readonly csrf: string;
  /** Unique per rendering: two clicks on one form send the same key. */
  readonly submissionKey: string;
  /** The form that was rejected, or null. `key` distinguishes forms with the same name. */
  readonly refused: { readonly name: string; readonly key: string } | null;
  /** The values that were submitted. Never includes a password. */
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly FieldProblem[];
  /** The error shown at the top of the page. */
  readonly failure: {
    readonly message: string;
    /** A page that helps to fix the error. */
    readonly remedy: { readonly path: string; readonly name: string } | null;
  } | null;
}

interface FormOptions {
  /** Identifies the form within its page. */
  readonly name: string;
  /** Distinguishes forms with the same name, such as rows of a table. Sent as the field `key`. */
  readonly key?: string;
  /** The page that handles the form. Default: the current page. */
  readonly action?: string;
  readonly class?: string;
  readonly role?: 'search';
  /** For buttons outside the form that submit it. */
  readonly id?: string;
  /** Selector of the element that scripts update when a choice changes: `#total`. */
  readonly live?: string;
  /** Required for file uploads. */
  readonly multipart?: boolean;
}

/** Returns a POST form with its hidden fields. */
export function form(context: FormContext, options: FormOptions, content: Html): Html {
  const { name, key, action } = options;
  const attributes = [
    attribute('action', action),
    attribute('class', options.class),
    attribute('id', options.id),
    attribute('role', options.role),
    attribute('data-live', options.live),
    options.multipart && new Html(' enctype="multipart/form-data"'),
  ];
  const keyField =
    key !== undefined && html`<input type="hidden" name="${PANEL_FIELDS.key}" value="${key}">\n`;
  return html`<form method="post"${attributes}>
<input type="hidden" name="${PANEL_FIELDS.csrf}" value="${context.csrf}">
<input type="hidden" name="${PANEL_FIELDS.form}" value="${name}">
<input type="hidden" name="${PANEL_FIELDS.idempotencyKey}" value="${context.submissionKey}">
${keyField}${content}
</form>`;
}

/** The fields of one form, with the submitted values if the form was rejected. */
export class Fields {
  readonly #context: FormContext;
  readonly #isRefused: boolean;
  readonly #prefix: string;

  constructor(context: FormContext, name: string, key = '') {
    this.#context = context;
    this.#isRefused = context.refused?.name === name && context.refused.key === key;
    this.#prefix = key === '' ? name : `${name}-${key}`;
  }

  /** Returns the submitted value, or else the current one. */
  value(field: string, current = ''): string {
    return this.#isRefused ? (this.#context.values.get(field) ?? '') : current;
  }

  /** Whether a checkbox is ticked. */
  isChecked(field: string, current: boolean): boolean {
    return this.#isRefused ? this.#context.values.has(field) : current;
  }

  /** Returns the error on a field, or null. `ssh_keys` also shows errors on `ssh_keys.0`. */
  problem(field: string): string | null {
    if (!this.#isRefused) return null;
    const { problems } = this.#context;
    const found =
      problems.find((problem) => problem.field === field) ??
      problems.find((problem) => problem.field.startsWith(`${field}.`));
    return found?.message ?? null;
  }

  /** Returns the id of a field's element, unique within the page. */
  id(field: string): string {
    return `${this.#prefix}-${field}`.replace(/[^\w-]/g, '-');
  }

  /** Returns a labeled single-line input. `value` is the current value. */
  text(field: string, label: string, options: TextOptions = {}): Html {
    const { type = 'text', value = '', hint } = options;
    const typed = type === 'password' ? '' : this.value(field, value);
    const attributes = [
      this.#commonAttributes(field, options),
      attribute('autocomplete', options.autocomplete),
      attribute('inputmode', options.inputmode),
      attribute('placeholder', options.placeholder),
      attribute('size', options.size),
      attribute('min', options.min),
      attribute('max', options.max),
      attribute('maxlength', options.maxLength),
    ];
    return this.#labeled(
      field,
      label,
      html`<input id="${this.id(field)}" name="${field}" type="${type}" value="${typed}"${attributes}>`,
      hint,
    );
  }

  /** Returns a labeled multi-line input. */
  textarea(field: string, label: string, options: TextOptions & { readonly rows?: number } = {}): Html {
    const { value = '', rows = 5, hint } = options;
    const attributes = [this.#commonAttributes(field, options), attribute('maxlength', options.maxLength)];
    return this.#labeled(
      field,
      label,
      // HTML drops the first line break after the tag, so the value starts on its own line.
      html`<textarea id="${this.id(field)}" name="${field}" rows="${rows}" spellcheck="false"${attributes}>
${this.value(field, value)}</textarea>`,
      hint,
    );
  }

  /** Returns a labeled drop-down list. */
  select(field: string, label: string, options: SelectOptions): Html {
    const { value = '', hint, choices } = options;
    const chosen = this.value(field, value);
    const rows = choices.map(([word, name, off]) => {
      const attributes = [word === chosen && new Html(' selected'), off && new Html(' disabled')];
      return html`<option value="${word}"${attributes}>${name}</option>\n`;
    });
    return this.#labeled(
      field,
      label,
      html`<select id="${this.id(field)}" name="${field}"${this.#commonAttributes(field, options)}>
${rows}</select>`,
      hint,
    );
  }

  /** Returns a checkbox. A ticked one is sent as `on`. */
  checkbox(
    field: string,
    label: Html | string,
    options: { readonly value?: boolean; readonly hint?: string } = {},
  ): Html {
    const problem = this.problem(field);
    const checked = this.isChecked(field, options.value ?? false) && new Html(' checked');
    const attributes = [checked, this.describedBy(field, options.hint)];
    const input = html`<input type="checkbox" id="${this.id(field)}" name="${field}"${attributes}>`;
    return html`<div class="field tick${problem && ' bad'}"><label>${input} ${label}</label>
${this.notes(field, options.hint)}</div>`;
  }

  /** Returns one radio button. The caller wraps the group in a `fieldset` with a legend. */
  radio(
    field: string,
    value: string,
    label: Html | string,
    options: { readonly checked?: boolean; readonly disabled?: boolean } = {},
  ): Html {
    const chosen = this.#isRefused ? this.#context.values.get(field) === value : (options.checked ?? false);
    const attributes = [chosen && new Html(' checked'), options.disabled && new Html(' disabled')];
    const input = html`<input type="radio" name="${field}" value="${value}"${attributes}>`;
    return html`<label class="choice${options.disabled && ' off'}">${input} <span>${label}</span></label>\n`;
  }

  #labeled(field: string, label: string, control: Html, hint: string | undefined): Html {
    const bad = this.problem(field) !== null && ' bad';
    return html`<div class="field${bad}"><label for="${this.id(field)}">${label}</label>
${control}
${this.notes(field, hint)}</div>`;
  }

  /** Returns the error and the hint of a field. */
  notes(field: string, hint?: string): Html {
    const problem = this.problem(field);
    const id = this.id(field);
    return html`${problem && html`<p class="problem" id="${id}-problem">${problem}</p>`}${
      hint && html`<p class="hint" id="${id}-hint">${hint}</p>`
    }`;
  }

  #commonAttributes(field: string, options: { readonly required?: boolean; readonly hint?: string }): Html {
    return html`${options.required && new Html(' required')}${this.describedBy(field, options.hint)}`;
  }

  /** Returns the attributes that link a field to its error and hint. */
  describedBy(field: string, hint?: string): Html {
    const bad = this.problem(field) !== null;
    const ids = [bad && `${this.id(field)}-problem`, hint && `${this.id(field)}-hint`]
      .filter(Boolean)
      .join(' ');
    return html`${bad && new Html(' aria-invalid="true"')}${ids !== '' && html` aria-describedby="${ids}"`}`;
  }
}

interface TextOptions {
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

interface SelectOptions {
  readonly value?: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly choices: readonly (readonly [value: string, name: string, off?: boolean])[];
}

function attribute(name: string, value: string | number | undefined): Html | null {
  return value === undefined ? null : html` ${new Html(name)}="${value}"`;
}
