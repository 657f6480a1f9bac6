/** Parses the panel's own HTML, which is regular enough for regular expressions. */

type Attributes = Readonly<Record<string, string>>;

function attributesOf(tag: string): Attributes {
  return Object.fromEntries(
    [...tag.matchAll(/\s([\w-]+)(?:="([^"]*)")?/g)].map((at) => [at[1], at[2] ?? '']),
  );
}

/** Returns the form with this name, and with this `key` if given. */
export function findForm(page: string, name: string, key: string | undefined) {
  for (const [, tag = '', content = ''] of page.matchAll(/<form((?:\s[^>]*)?)>(.*?)<\/form>/gs)) {
    const hidden = (field: string) => controlsOf(content).find((control) => control.name === field)?.value;
    if (hidden('_form') === name && (key === undefined || hidden('key') === key))
      return { attributes: attributesOf(tag), content };
  }
  throw new Error(`form ${name}${key === undefined ? '' : ` with key ${key}`} not found on the page`);
}

/** Returns a form's controls in order. A null `value` is an unticked checkbox or an empty file input. */
export function controlsOf(
  form: string,
): readonly { readonly name: string; readonly value: string | null }[] {
  const tags = form.matchAll(/<(input|textarea|select)(\s[^>]*)>(?:\n?(.*?)<\/\1>)?/gs);
  return [...tags].flatMap(([, kind, tag = '', content = '']) => {
    const at = attributesOf(tag);
    if (at.name === undefined || at.disabled !== undefined) return [];
    return [{ name: decodeEntities(at.name), value: currentValue(kind ?? '', at, content) }];
  });
}

function currentValue(kind: string, at: Attributes, content: string): string | null {
  if (kind === 'textarea') return decodeEntities(content);
  if (kind === 'select') {
    const options = [...content.matchAll(/<option([^>]*)>([^<]*)/g)].map(([, tag = '', text = '']) => {
      const option = attributesOf(tag);
      return { ...option, value: option.value ?? text.trim() };
    });
    const chosen = options.find((option) => 'selected' in option);
    return decodeEntities((chosen ?? options.find((option) => !('disabled' in option)))?.value ?? '');
  }
  if (at.type === 'file') return null;
  if (at.type === 'checkbox' || at.type === 'radio')
    return at.checked === undefined ? null : decodeEntities(at.value ?? 'on');
  return decodeEntities(at.value ?? '');
}

export function decodeEntities(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

/** Returns the visible text: no tags, single spaces. */
export function textOf(page: string): string {
  return decodeEntities(page.replace(/<head>.*?<\/head>|<[^>]*>/gs, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns the error message of a field, in the named form if given; null if the field has no error. */
export function problemOf(page: string, field: string, form = ''): string | null {
  const id = `${form === '' ? '' : `${form}-`}${field}-problem`.replace(/[^\w-]/g, '-');
  for (const [, found = '', text = ''] of page.matchAll(/<p class="problem" id="([^"]*)">(.*?)<\/p>/gs)) {
    if (found === id || (form === '' && found.endsWith(`-${id}`))) return textOf(text);
  }
  return null;
}

export interface PageForm {
  readonly name: string;
  /** Distinguishes forms with the same name; null if there is only one. */
  readonly key: string | null;
  /** Names of the text fields. */
  readonly textFields: readonly string[];
}

const TEXT_INPUT_TYPES = /^(?:text|email|password|number|url|search|date|datetime-local|tel)$/;

/** Returns the page's POST forms in order. */
export function formsOf(page: string): readonly PageForm[] {
  return [...page.matchAll(/<form(?:\s[^>]*)?>(.*?)<\/form>/gs)].flatMap(([, content = '']) => {
    const controls = controlsOf(content);
    const hidden = (field: string) => controls.find((control) => control.name === field)?.value ?? null;
    const name = hidden('_form');
    if (name === null) return [];
    const textFields = [...content.matchAll(/<(input|textarea)(\s[^>]*)>/g)].flatMap(([, kind, tag = '']) => {
      const at = attributesOf(tag);
      const typed = kind === 'textarea' || TEXT_INPUT_TYPES.test(at.type ?? 'text');
      return typed && at.name !== undefined && at.disabled === undefined ? [decodeEntities(at.name)] : [];
    });
    return [{ name, key: hidden('key'), textFields: [...new Set(textFields)] }];
  });
}

/** Returns the delay and target of the reload of a page without scripts, or null. */
export function refreshOf(page: string): string | null {
  const tag = /<noscript><meta http-equiv="refresh" content="([^"]*)"><\/noscript>/.exec(page);
  return tag?.[1] === undefined ? null : decodeEntities(tag[1]);
}
